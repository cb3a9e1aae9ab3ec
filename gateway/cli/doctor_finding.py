"""What `sentinel doctor` finds: a way round the gate that is open, or a setting that is wrong, with the way to close it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """One way round the gate, or one mistake."""

    code: str
    """Names the kind, for programs."""
    what: str
    """What is open, as a sentence."""
    close: str
    """How to close it, as a sentence."""
    where: tuple[str, ...] = ()
    """The principals, keys or endpoints that it is about; empty if it is about the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotLookedAt:
    """What could not be looked at, so that nothing is said of it."""

    what: str
    why: str
