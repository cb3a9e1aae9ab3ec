"""Brings AWS's names and the provider's to one spelling: snake case, and without underscores and plurals."""

import functools
import re

# Both match a place between two letters, so that each letter is looked at once: `[A-Z]+` would start over at every capital.
_AFTER_ACRONYM = re.compile(r"(?<=[A-Z])(?=[A-Z][a-z])")
_BEFORE_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHORTEST_PLURAL = 4


@functools.lru_cache(maxsize=8192)
def snake(name: str) -> str:
    """`HealthCheckGracePeriod` → `health_check_grace_period`; `MultiAZ` → `multi_az`."""
    return _BEFORE_WORD.sub("_", _AFTER_ACRONYM.sub("_", name)).lower().replace("-", "_")


@functools.lru_cache(maxsize=8192)
def folded(name: str) -> str:
    """The snake-case name without underscores and plurals: `ok_actions` and `o_k_action` both give `okaction`."""
    return "".join(_singular(word) for word in name.split("_"))


def _singular(word: str) -> str:
    is_plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word
