"""Keeps a worker on a processor core of its own.

A mutation passes between the event loop and the threads of the ledger four times. Linux may wake the next thread on another core, where nothing of the
mutation is in the caches yet, and which the other worker uses. The interpreter's lock lets one thread of a worker run at a time anyway. So two workers on
a core each carry out a fifth to a quarter more mutations than where they take any core, and one alone gains nothing (`tests/bench/README.md`).
"""

import os
from pathlib import Path

from gateway.core.errors import SettingsInvalid


def require_own_core() -> None:
    """Raises `errors.SettingsInvalid` if this machine cannot keep a process on a core."""
    if not hasattr(os, "sched_setaffinity"):
        raise SettingsInvalid("`own_core` in [server] needs Linux. Leave it out here.")


def stay_on_own_core(worker: int) -> None:
    """Keep every thread of this process, and each that starts later, on one of the cores that it may use: the worker's number, counted in turns."""
    cores = sorted(os.sched_getaffinity(0))
    core = cores[worker % len(cores)]
    for thread in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(thread.name), {core})
        except ProcessLookupError:  # it has ended
            continue
