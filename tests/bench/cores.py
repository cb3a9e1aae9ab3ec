"""Gives processes a fixed part of a core by Linux' control groups, so that they are what limits a rate on a machine with few cores.

Version 1 and version 2 (https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files); both need root.
"""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_ROOT: Final = Path("/sys/fs/cgroup")
_PERIOD_US: Final = 5_000
"""The quota of a fifth of a core is then the shortest that there is."""
_PREFERRED: Final = {"cpu.shares": "50000", "cpu.weight": "5000"}
"""What a group may use it gets, also where others use the machine."""


def can_limit() -> bool:
    """Whether this user may make groups here."""
    return os.access(_parent(), os.W_OK)


@contextmanager
def limited(pids: Sequence[int], cores: float) -> Iterator[None]:
    """Let each of these processes use so much of a core, and no more, until the block ends."""
    made = [_group(pid, cores) for pid in pids]
    try:
        yield
    finally:
        for group in made:
            for pid in (group / "cgroup.procs").read_text().split():
                with contextlib.suppress(OSError):  # it has ended
                    (_parent() / "cgroup.procs").write_text(pid)
            _remove(group)


def _group(pid: int, cores: float) -> Path:
    group = _parent() / f"sentinel-bench-{pid}"
    group.mkdir()
    quota = int(cores * _PERIOD_US)
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota} {_PERIOD_US}")
    else:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(quota))
    for name, weight in _PREFERRED.items():
        if (group / name).exists():
            (group / name).write_text(weight)
    (group / "cgroup.procs").write_text(str(pid))
    return group


def _parent() -> Path:
    """The group under which groups are made: that of all, in the hierarchy that divides the processor."""
    return _ROOT if (_ROOT / "cgroup.controllers").exists() else _ROOT / "cpu"


def _remove(group: Path) -> None:
    """Remove a group, which the kernel allows a moment after its last process has left."""
    for _ in range(100):
        try:
            group.rmdir()
        except OSError:
            time.sleep(0.01)
        else:
            return
