"""From what the ledger says was applied, and from what a plan shows, to the values that the code must come to declare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.model.json import Json
from gateway.model.mutation import WHOLE, EffectAction
from reconciler.drift.applied import AppliedMutation
from reconciler.model import Drift, DriftOrigin, Left, Wanted
from reconciler.terraform.plan import ResourceChange, TerraformPlan

_OWNED = {
    ("aws_autoscaling_group", "suspended_processes"): "the group's own processes suspend and resume",
    ("aws_secretsmanager_secret_version", "secret_string"): "it is a secret",
    ("aws_secretsmanager_secret_version", "secret_binary"): "it is a secret",
    ("aws_iam_access_key", "status"): "key rotation owns it",
}
"""Values that a controller owns and that stay out of code, as CloudFormation's drift-aware change sets keep them out."""


_TERRAFORM = "pipeline"
"""The kind of caller that applies code; what it creates and deletes, its code creates and deletes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedDrift:
    """What is to be written, and what is not, each with the reason."""

    wanted: tuple[Wanted, ...] = ()
    kept_out: tuple[Left, ...] = ()
    """Does not belong in code, so nobody needs to look: secrets, values of a controller or wanted for a time only, overtaken ones."""
    left: tuple[Left, ...] = ()
    """Belongs in code, and a human must look."""

    def explain(self, change: ResourceChange) -> str:
        """Why a change that a plan shows is one of those that are not written, empty where it is none."""
        here = [entry for entry in (*self.kept_out, *self.left) if entry.wanted.address == change.address]
        return next(
            (entry.reason for entry in here if entry.wanted.attribute.partition(".")[0] in {change.top, WHOLE}), ""
        )


def of_mutation(applied: AppliedMutation, *, overtaken: Mapping[tuple[str, str], str]) -> ClassifiedDrift:
    """What a mutation that was applied wants the code to declare.

    `overtaken` names, by (address, attribute), the later mutation that set the same attribute again; its value is written instead.
    """
    wanted, kept_out, left = [], [], []
    for effect in applied.effects:
        want = Wanted(address=effect.address, attribute=effect.attribute, value=effect.value)
        if effect.action is EffectAction.INVOKE or (effect.address, effect.attribute) in applied.restated:
            continue
        if applied.kind == _TERRAFORM and (effect.action is not EffectAction.SET or not effect.declared):
            kept_out.append(Left(wanted=want, reason="Terraform itself did it, from code that says so."))
            continue
        if effect.action is not EffectAction.SET or effect.attribute == WHOLE:
            left.append(Left(wanted=want, reason=_structural(effect.action, effect.address)))
        elif not effect.declared:
            left.append(Left(wanted=want, reason=f"No block in the code declares {effect.address}."))
        elif reason := _out_of_code(
            applied, want, effect.resource_type, sensitive=effect.sensitive, overtaken=overtaken
        ):
            kept_out.append(Left(wanted=replace(want, value=None) if effect.sensitive else want, reason=reason))
        else:
            wanted.append(want)
    return ClassifiedDrift(wanted=tuple(wanted), kept_out=tuple(kept_out), left=tuple(left))


def foreign(
    plan: TerraformPlan, origins: Mapping[tuple[str, str], DriftOrigin]
) -> tuple[tuple[Drift, ...], tuple[Left, ...]]:
    """What drifted without us, and what of it cannot be written.

    Drift is what the plan would change back *and* what differs between state and live. What only the code changed is
    not drift; what the plan leaves alone (Optional and Computed, not set in code) needs nothing written.
    `origins` are the known makers by (address, attribute).
    """
    moved = {(change.address, change.top) for change in plan.drift}
    drifts, left = [], []
    for change in plan.changes:
        origin = origins.get((change.address, change.attribute))
        want = Wanted(
            address=change.address, attribute=change.attribute, value=None if change.sensitive else change.live
        )
        if reason := _not_written(change, moved, origin):
            left.append(Left(wanted=want, reason=reason, chain=_made_by(origin)))
        elif plan.sets(change) or not _set_elsewhere(change, plan):
            drifts.append(Drift(wanted=want, before=change.other, origin=origin))
    return tuple(drifts), tuple(left)


def all_left(wanted: Sequence[Wanted], reason: str) -> tuple[Left, ...]:
    """All of them left for the same reason."""
    return tuple(Left(wanted=want, reason=reason) for want in wanted)


def owned(resource_type: str, attribute: str) -> str:
    """Why a controller owns this attribute, empty where none does."""
    return _OWNED.get((resource_type, attribute.partition(".")[0]), "")


def _structural(action: EffectAction, address: str) -> str:
    if action is EffectAction.CREATE:
        return f"{address} was created, and a new resource's block is written by a human: add the block and an import."
    return f"{address} was deleted, and its block is removed by a human."


def _out_of_code(
    applied: AppliedMutation,
    want: Wanted,
    resource_type: str,
    *,
    sensitive: bool,
    overtaken: Mapping[tuple[str, str], str],
) -> str:
    """Why a value does not belong in code, empty where it does."""
    if sensitive:
        return "The value is a secret and stays out of code."
    if applied.wanted_seconds is not None:
        return f"It is wanted for {applied.wanted_seconds:g} seconds only, so it is not written into code."
    if later := overtaken.get((want.address, want.attribute)):
        return f"{later} has set it again since, so the later value is written."
    reason = owned(resource_type, want.attribute)
    return f"A controller owns this value ({reason}), so it stays out of code." if reason else ""


def _not_written(change: ResourceChange, moved: set[tuple[str, str]], origin: DriftOrigin | None) -> str:
    match change.actions:
        case ("create",) if change.attribute == WHOLE:
            return f"The plan would create {change.address}: it was deleted outside of Terraform, or the code is ahead of what is applied."
        case ("delete",) | ("forget",):
            return f"The plan would delete {change.address}: the code does not declare it any more."
    if change.attribute == WHOLE:
        return f"The plan would {' and '.join(change.actions)} {change.address}, which is no drift of a value."
    if change.sensitive:
        return "The value is a secret and stays out of code."
    if (change.address, change.top) not in moved:
        return "The state agrees with what is live, so this did not drift: the code is ahead of what is applied, or the drift was accepted into the state before."
    if reason := owned(_type(change.address), change.attribute):
        return f"A controller owns this value ({reason}), so it stays out of code."
    if origin is not None and origin.actor.endswith(".amazonaws.com"):
        return (
            f"The AWS service {origin.actor} set it ({origin.event}), so a controller owns it and it stays out of code."
        )
    return ""


def _set_elsewhere(change: ResourceChange, plan: TerraformPlan) -> bool:
    """Whether another drifted attribute of the same resource is set in code: this one may only mirror it, so it waits its turn."""
    return any(other.address == change.address and plan.sets(other) for other in plan.changes)


def _made_by(origin: DriftOrigin | None) -> tuple[str, ...]:
    return (f"{origin.actor} did {origin.event} at {origin.at.isoformat()}",) if origin else ()


def _type(address: str) -> str:
    return address.rpartition(".")[0].rpartition(".")[2]


def value_before(applied: AppliedMutation, wanted: Wanted) -> Json:
    """What stood there when the mutation was decided, as far as the ledger tells."""
    return applied.before.get((wanted.address, wanted.attribute))
