"""What a person reads about one rule: its title and where it is written."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuleText:
    """Title and place of a rule."""

    title: str
    source: str = ""
    """`file:line`; of a policy's rule relative to the policies' directory. Empty for a rule built into Sentinel."""
