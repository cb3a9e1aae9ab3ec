"""How much of what was created outside of the code is written into it."""

from enum import StrEnum


class Adopt(StrEnum):
    """Which created resources are written into code."""

    ALL = "all"
    """Whatever can be imported."""
    LINKED = "linked"
    """What belongs to a resource of the stack."""
    NONE = "none"
    """Nothing: they are listed."""
