"""Held mutations and consent to them: the hold, who may approve it, and what an approval is bound to."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from gateway.core.model.caller import RECONCILER, ActorKind, Caller
from gateway.core.model.json import Json


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
    """The rule of its JSON form; the usual one of null."""
    if form is None:
        return USUAL
    return ApprovalRule(
        roles=tuple(tuple(wanted) for wanted in form["roles"]),
        people=form["people"],
        longest=timedelta(seconds=form["longest_seconds"]),
        rejected=timedelta(seconds=form["rejected_seconds"]),
        reason=form["reason"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The circumstances of one held call. Actor and call are not here: an approval is found by them."""

    caller: str
    """Digest of the caller's kind, roles, and the actor it acts for."""
    motive: str
    """Digest of the motive."""
    effects: str
    """Digest of the effects as foreseen: what changes, from which value to which."""
    code: str
    """Digest of the Terraform code and contracts. What the state says of the affected resources is in `effects`."""
    bundle: str
    """Digest of the policy bundle."""
    reasons: tuple[str, ...]
    """Why the call was held: rule, address, attribute and holder of each finding, sorted."""
    contests: tuple[str, ...]
    """Ids of the claims that end if the call is approved, sorted."""
    approvers: str
    """Digest of who may approve it."""


def binding_to_json(binding: Binding | None) -> dict[str, Json] | None:
    """The JSON form in the records and tables; None of None."""
    return None if binding is None else asdict(binding)


def binding_from_json(form: Mapping[str, Any] | None) -> Binding | None:
    """The binding of its JSON form, None of null."""
    if form is None:
        return None
    return Binding(**{**form, "reasons": tuple(form["reasons"]), "contests": tuple(form["contests"])})


_PARTS: Mapping[str, str] = {
    "caller": "the caller's kind, roles or principal",
    "motive": "the motive",
    "effects": "the effects or the values they replace",
    "code": "the code or contracts",
    "bundle": "the policies",
    "approvers": "who may approve it",
}


def misfits(approved: Binding | None, now: Binding) -> tuple[str, ...]:
    """What has changed since the approval, in words; empty if the approval still fits.

    Reasons that no longer hold the call do not matter. A new one does: nobody has approved it.
    """
    if approved is None:
        return ("what it was given for",)
    changed = [words for name, words in _PARTS.items() if getattr(approved, name) != getattr(now, name)]
    if not set(now.reasons) <= set(approved.reasons):
        changed.append("the reasons for which it is held")
    if not set(now.contests) <= set(approved.contests):
        changed.append("the claims that it would end")
    return tuple(changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A human's no to one call."""

    mutation_id: str
    by: str
    reason: str
    at: datetime
    binding: Binding | None
    """The circumstances that it was given in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What people said, or still have to say, about one actor's same call."""

    held: Mapping[str, Binding | None] = field(default_factory=dict)
    """The mutations that are held for it, each with its circumstances, newest first."""
    rejection: Rejection | None = None
    """The latest one."""


BREAK_GLASS: Final = "break-glass"
"""The role of people who may pass a hold at once in an emergency."""
OPERATOR: Final = "operator"
"""The role of people who may stop and resume."""


DECIDING: Final = frozenset({"approver", BREAK_GLASS, OPERATOR, RECONCILER})
"""The roles that no role of the gateway hands on: what decides about others comes from a key that was issued to its owner."""


def is_approver(caller: Caller) -> bool:
    """Whether the caller is a human with the role `approver`, and not in an assumed role."""
    return caller.kind is ActorKind.HUMAN and "approver" in caller.roles and caller.assumed is None


def _borrowed(person: Caller) -> str:
    """Why a key that AWS's token service was asked for decides nothing, whatever its roles; empty for every other key."""
    if person.assumed is None:
        return ""
    return (
        "A key that was assumed (AssumeRole, AssumeRoleWithWebIdentity, GetFederationToken) decides nothing about others' changes. "
        "Use your own key, or sign in to the console. Nothing was changed."
    )


def objection(person: Caller, rule: ApprovalRule) -> str:
    """Why this caller may not decide under this rule, as a sentence; empty if they may."""
    if borrowed := _borrowed(person):
        return borrowed
    if person.kind is not ActorKind.HUMAN:
        return "Only a human with the role `approver` may decide on held mutations."
    if not rule.admits(person.roles):
        return f"Only a human with the role {rule.roles_text} may decide on this held mutation."
    return ""


def own_objection(person: Caller, mutation_id: str, requesters: Collection[str]) -> str:
    """Why this caller may not decide on a mutation of these requesters (the actor, and on whose behalf); empty if it is not their own."""
    if (set(requesters) - {""}) & {person.actor, person.on_behalf_of}:
        return f"Mutation {mutation_id} is your own, or made on your behalf; another human must decide on it."
    return ""


def glass_objection(person: Caller) -> str:
    """Why this caller may not pass a hold at once, as a sentence; empty if they may."""
    if borrowed := _borrowed(person):
        return borrowed
    if person.kind is ActorKind.HUMAN and BREAK_GLASS in person.roles:
        return ""
    return f"Only a human with the role `{BREAK_GLASS}` may pass a hold at once. Nothing was changed."


def operator_objection(person: Caller, act: str) -> str:
    """Why this caller may not do what only operators may, as a sentence; empty if they may."""
    if borrowed := _borrowed(person):
        return borrowed
    if person.kind is ActorKind.HUMAN and OPERATOR in person.roles:
        return ""
    return f"Only a human with the role `{OPERATOR}` may {act}. Nothing was changed."


def drift_objection(person: Caller) -> str:
    """Why this caller may not decide about a change from outside, as a sentence; empty if they may."""
    if borrowed := _borrowed(person):
        return borrowed
    if person.kind is ActorKind.HUMAN and "approver" in person.roles:
        return ""
    return "Only a human with the role `approver` may decide about a change from outside."


class HoldState(StrEnum):
    """What a human decided about a held mutation."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


class HoldFilter(StrEnum):
    """Which held mutations to list: those in one state, or all."""

    OPEN = HoldState.OPEN
    APPROVED = HoldState.APPROVED
    REJECTED = HoldState.REJECTED
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A held mutation, open or decided on by a human."""

    mutation_id: str
    at: datetime
    actor: str
    on_behalf_of: str
    stack: str
    state: HoldState
    summary: Mapping[str, Json]
    """`caller`, `call`, `motive`, `effects` and `decision`, as in the DECIDED record, and `cut` if not all effects are kept."""
    approved_by: tuple[str, ...] = ()
    """Who has consented to the call in these circumstances, in this order; empty once the call has used it."""
