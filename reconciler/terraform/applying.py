"""Whether terraform is applying a stack now, as far as the lock of its state file says."""

import time
from pathlib import Path
from typing import Final

_STALE_LOCK: Final = 900.0


def terraform_is_applying(state: Path | None) -> bool:
    """Whether a terraform process holds the lock on the state file, so that code, state and live values still change.

    The local backend keeps its lock in `.NAME.lock.info` beside the state; a lock older than 15 minutes was left by a killed process.
    """
    if state is None:
        return False
    try:
        age = time.time() - (state.parent / f".{state.name}.lock.info").stat().st_mtime
    except OSError:
        return False
    return age < _STALE_LOCK
