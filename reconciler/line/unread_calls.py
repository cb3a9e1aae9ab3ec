"""Finds what an applied call did that nobody understood: the declared resources of its service are read, and what differs is its effect.

What the call names is written as its own change. What else differs, and a call that shows no difference at all, is left to a person.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.ports import LedgerQueries
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.changes.outside_changes import OutsideChange, outside_changes, recalled
from reconciler.changes.unread_call import UnreadCall
from reconciler.model import Left, Wanted
from reconciler.terraform.plan import ResourceChange, TerraformPlan

_NAMING: Final = ("id", "arn", "name", "url", "bucket", "function_name", "identifier", "cluster_identifier")
"""Attributes by which a call may name a resource."""
_TERRAFORM: Final = "pipeline"
_BY_TERRAFORM: Final = "Terraform itself did it, from code that says so."
_ONLY_DOES: Final = "By its rows the call does something and changes nothing, and nothing that it may concern differs."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """What an unread call did, as far as it shows."""

    applied: AppliedMutation
    """The mutation with the effects that were found."""
    left: tuple[Left, ...] = ()
    is_unseen: bool = False
    """Whether nothing showed, so that `left` says only that."""
    nothing_to_do: str = ""
    """Why nothing is to be written or looked at, as a sentence; empty if something is."""


async def read_call(
    applied: AppliedMutation, plan: TerraformPlan | None, backlog: Backlog, queries: LedgerQueries
) -> ReadCall:
    """The mutation with its effects by a plan of the protected code; None is an empty plan. Raises `errors.LedgerUnavailable`."""
    unread = applied.unread
    if unread is None:
        return ReadCall(applied=applied)
    differing: Sequence[OutsideChange] = ()
    if plan is not None:
        differing = await outside_changes(plan, {}, backlog, lambda mutation: recalled(queries, mutation))
    concerned = [each.change for each in differing if _may_concern(unread, each.change)]
    own = [change for change in concerned if _names(unread, change, plan)]
    effects = (*_understood(applied), *(_effect(change) for change in own if not change.sensitive))
    left = tuple(_left(applied, change, named=change in own) for change in concerned if change not in own)
    left += tuple(_left(applied, change, named=True) for change in own if change.sensitive)
    found = replace(applied, effects=effects, before={**applied.before, **_before(own)})
    if effects or left:
        return ReadCall(applied=found, left=left)
    if applied.kind == _TERRAFORM:
        return ReadCall(applied=found, nothing_to_do=_BY_TERRAFORM)
    if unread.only_invokes or unread.touched:
        return ReadCall(applied=found, nothing_to_do=_ONLY_DOES)
    return ReadCall(applied=found, left=(_unseen(applied),), is_unseen=True)


def _understood(applied: AppliedMutation) -> Iterator[Effect]:
    """The effects that the call was known to have."""
    return (each for each in applied.effects if each.action is not EffectAction.INVOKE)


def _may_concern(unread: UnreadCall, change: ResourceChange) -> bool:
    return change.address in unread.touched or change.resource_type in unread.types


def _names(unread: UnreadCall, change: ResourceChange, plan: TerraformPlan | None) -> bool:
    """Whether the call names the changed resource by one of the texts that identify it."""
    if change.address in unread.touched:
        return True
    live = plan.objects.get(change.address, {}) if plan is not None else {}
    own = {live.get(name) for name in (*_NAMING, *(name for name in live if name.endswith("_name")))}
    return not unread.names.isdisjoint(text for text in own if isinstance(text, str) and text)


def _effect(change: ResourceChange) -> Effect:
    gone = change.attribute == WHOLE
    return Effect(
        address=change.address,
        attribute=change.attribute,
        action=EffectAction.DELETE if gone else EffectAction.SET,
        value=None if gone else change.live,
        resource_type=change.resource_type,
        declared=True,
    )


def _before(changes: Sequence[ResourceChange]) -> Mapping[tuple[str, str], Json]:
    return {(each.address, each.attribute): each.other for each in changes if not each.sensitive}


def _left(applied: AppliedMutation, change: ResourceChange, *, named: bool) -> Left:
    want = Wanted(address=change.address, attribute=change.attribute, value=None if change.sensitive else change.live)
    if named:
        reason = f"{applied.operation} changed it, and Sentinel writes no value into code that is or may hold a secret."
    else:
        reason = (
            f"It differs from the code since {applied.operation}, which nobody understood and which does not name it: "
            "look who changed it, and declare it or set it back."
        )
    return Left(wanted=want, reason=reason)


def _unseen(applied: AppliedMutation) -> Left:
    reason = (
        f"Nobody understood what {applied.operation} did, and nothing that the code declares of its service differs. Declare what it made, "
        f"if the code should have it, in a commit with the line `Sentinel-Mutation: {applied.id}`; such a commit takes this off the list."
    )
    return Left(wanted=Wanted(address=applied.operation, attribute=WHOLE, value=None), reason=reason)
