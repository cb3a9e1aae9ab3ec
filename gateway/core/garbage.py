"""How seldom a process looks for garbage that refers to itself: what it has loaded is none, and little of what it makes is."""

import gc
from typing import Final

_NEW_OBJECTS: Final = 20_000
"""That are looked at together; Python's own 700 cost a fourteenth of a replay."""
_ROUNDS: Final = 20


def collect_seldom() -> None:
    """Leave what is there out of later collections, and make these seldom; for processes that are theirs alone."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, _ROUNDS, _ROUNDS)
