"""Keeps a gateway on one processor core.

A mutation passes between the event loop and the threads of the ledger four times. Linux may wake the next thread on another core, where nothing of the
mutation is in the caches yet, and on a virtual machine to wake a core is dear in itself. The interpreter's lock lets one thread run at a time anyway, so
two workers on a core each carry out a fifth more mutations than where they take any core (`tests/bench/README.md`).
"""

import os
from pathlib import Path
from typing import Final

from gateway.core.errors import SettingsInvalid

_LAST_CORE: Final = 36
"""The place, after the name, of the core that a thread ran on last (proc_pid_stat(5): field 39, and the name is the second)."""


def require_own_core() -> None:
    """Raises `errors.SettingsInvalid` if this machine cannot keep a process on a core."""
    if not hasattr(os, "sched_setaffinity"):
        raise SettingsInvalid("`own_core` in [server] needs Linux. Leave it out here.")


def stay_on_one_core(worker: int | None = None) -> None:
    """Keep every thread of this process, and each that starts later, on one of the cores that it may use.

    The `worker`-th of several takes the core with its number, counted in turns; one alone stays where it runs.
    """
    cores = sorted(os.sched_getaffinity(0))
    core = _current(cores) if worker is None else cores[worker % len(cores)]
    for thread in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(thread.name), {core})
        except ProcessLookupError:  # it has ended
            continue


def _current(cores: list[int]) -> int:
    last = int(Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()[_LAST_CORE])
    return last if last in cores else cores[0]
