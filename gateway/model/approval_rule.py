"""Who may approve a held mutation, how many people must, and for how long their approval may last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from gateway.model.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRule:
    """What the policies demand of an approval."""

    roles: tuple[tuple[str, ...], ...] = (("approver",),)
    """An approver has one role of each list."""
    people: int = 1
    """How many different people must approve."""
    longest: timedelta = timedelta(days=1)
    """The longest that an approval may wait for the call."""
    rejected: timedelta = timedelta(hours=1)
    """How long a rejection answers the same call in the same circumstances."""
    reason: str = "One person must approve."
    """Why so many must, as a sentence."""

    def admits(self, roles: Sequence[str]) -> bool:
        """Whether a person with these roles may approve."""
        return all(not set(wanted).isdisjoint(roles) for wanted in self.roles)

    @property
    def roles_text(self) -> str:
        """The roles in words: `approver`, or `a or b, and c`."""
        return ", and ".join(" or ".join(f"`{role}`" for role in wanted) for wanted in self.roles)


USUAL = ApprovalRule()
"""What holds where the policies do not say who may approve."""


def approval_rule_to_json(rule: ApprovalRule | None) -> dict[str, Json] | None:
    """The JSON form in records; None of None."""
    if rule is None:
        return None
    return {
        "roles": [list(wanted) for wanted in rule.roles],
        "people": rule.people,
        "longest_seconds": int(rule.longest.total_seconds()),
        "rejected_seconds": int(rule.rejected.total_seconds()),
        "reason": rule.reason,
    }


def approval_rule_from_json(form: Mapping[str, Any] | None) -> ApprovalRule:
    """The rule of its JSON form; the usual one of null, as in records of older versions."""
    if form is None:
        return USUAL
    return ApprovalRule(
        roles=tuple(tuple(wanted) for wanted in form["roles"]),
        people=form["people"],
        longest=timedelta(seconds=form["longest_seconds"]),
        rejected=timedelta(seconds=form["rejected_seconds"]),
        reason=form["reason"],
    )
