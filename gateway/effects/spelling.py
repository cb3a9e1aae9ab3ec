"""Brings AWS's names and the provider's to one spelling: snake case, and without underscores and plurals."""

import functools
import re

_ACRONYM_END = re.compile(r"(?<=[A-Z])(?=[A-Z][a-z])")
_WORD_END = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Places, not spans: a pattern with a repeat takes quadratic time over a long run of capitals, and keys of maps come from callers.
_SHORTEST_PLURAL = 4


@functools.lru_cache(maxsize=8192)
def snake(name: str) -> str:
    """`HealthCheckGracePeriod` → `health_check_grace_period`; `MultiAZ` → `multi_az`."""
    return _WORD_END.sub("_", _ACRONYM_END.sub("_", name)).lower().replace("-", "_")


@functools.lru_cache(maxsize=8192)
def folded(name: str) -> str:
    """The snake-case name without underscores and plurals: `ok_actions` and `o_k_action` both give `okaction`."""
    return "".join(_singular(word) for word in name.split("_"))


def _singular(word: str) -> str:
    is_plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word
