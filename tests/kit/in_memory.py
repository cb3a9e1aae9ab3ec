"""A place for files in memory: syncing them takes no time, and a program that is killed leaves them there as it does on a disk."""

import os
import shutil
from pathlib import Path


def in_memory(room: int) -> str | None:
    """A directory whose files are in memory, if the machine has one with so many bytes free that runs programs."""
    place = Path("/dev/shm")  # noqa: S108  only the directories that are made in it are used
    fits = place.is_dir() and shutil.disk_usage(place).free > room
    return str(place) if fits and not os.statvfs(place).f_flag & os.ST_NOEXEC else None
