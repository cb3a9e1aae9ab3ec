"""Brings AWS's names and the provider's to one spelling: snake case, and without underscores and plurals."""

import functools
import re

_ACRONYM = re.compile(r"([A-Z]+)([A-Z][a-z])")
_WORD = re.compile(r"([a-z0-9])([A-Z])")
_SHORTEST_PLURAL = 4


@functools.lru_cache(maxsize=8192)
def snake(name: str) -> str:
    """`HealthCheckGracePeriod` → `health_check_grace_period`; `MultiAZ` → `multi_az`."""
    return _WORD.sub(r"\1_\2", _ACRONYM.sub(r"\1_\2", name)).lower().replace("-", "_")


@functools.lru_cache(maxsize=8192)
def folded(name: str) -> str:
    """The snake-case name without underscores and plurals: `ok_actions` and `o_k_action` both give `okaction`."""
    return "".join(_singular(word) for word in name.split("_"))


def _singular(word: str) -> str:
    is_plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word
