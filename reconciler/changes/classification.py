"""Sorts applied mutations and drift in a plan into values to write into code, values to keep out, and values left to a human."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from gateway.core.model.invented import generated_prefix
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE, AttributePath
from gateway.terraform.secrets import is_secret, may_hold_secret, shows_secret
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.event_creations import Created
from reconciler.changes.mutation_creations import creations_of, recreations_of
from reconciler.changes.replacements import deletes_declared
from reconciler.model import Drift, DriftOrigin, Left, Wanted, is_new, is_replacement
from reconciler.terraform.plan import ResourceChange, TerraformPlan

_BY_ITSELF = {("aws_autoscaling_group", "suspended_processes"): "the group's own processes suspend and resume"}
"""Values that a controller changes by itself, as `_CONTROLLED`. What a person or an agent sets there is theirs: the call says so."""
_CONTROLLED = {
    ("aws_secretsmanager_secret_version", "secret_string"): "it is a secret",
    ("aws_secretsmanager_secret_version", "secret_binary"): "it is a secret",
    ("aws_iam_access_key", "status"): "key rotation owns it",
}
"""Values that a controller owns and that stay out of code, by (resource type, attribute), each with the reason.

CloudFormation's drift-aware change sets keep them out too.
"""

_MOST_NAMED = 3
"""Addresses that a reason names."""
_SHORTEST_WORD = 5
"""Letters of a word that tells attributes apart."""

_STAYS_OUT = "The value is a secret and stays out of code."
_CONTRADICTED = (
    "The code declares another value, which the next apply sets again. Sentinel writes no secret into code: declare it by hand, with a "
    "reference to where the secret is kept, or have Terraform ignore it."
)
_BY_HAND = "The value may hold a secret, and Sentinel writes no secret into code. Declare it by hand, with a reference to where the secret is kept."

_DECLARED = "declared"
"""The reason to leave the code of a resource that is gone in AWS."""

_TERRAFORM = "pipeline"
"""The kind of caller that runs Terraform: the code already says what it creates and deletes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedDrift:
    """The values to write into code, and those not to write, each with the reason."""

    wanted: tuple[Wanted, ...] = ()
    kept_out: tuple[Left, ...] = ()
    """Does not belong in code, so no human needs to look: secrets, values that a controller owns, that are wanted for a limited
    time only, or that a later mutation supersedes."""
    left: tuple[Left, ...] = ()
    """Belongs in code, and a human must look."""
    created: tuple[tuple[str, Created], ...] = ()
    """What may be written as a new block, by its address in the record. Until it is, its values are in `left`."""
    beside_code: bool = False
    """Whether it may have created something beside the code that only the provider can tell."""
    again: tuple[tuple[str, Created | None], ...] = ()
    """The addresses that the code has, and whose resource was created again; None if its values or its id are not all known."""

    @property
    def concerns_code(self) -> bool:
        """Whether code may have to change for it."""
        return bool(self.wanted or self.created or self.again or self.beside_code)

    def explain(self, change: ResourceChange) -> str:
        """Why a change in a plan is deliberately not written; empty if it is not one of those."""
        here = [left for left in (*self.kept_out, *self.left) if left.wanted.address == change.address]
        return next((left.reason for left in here if left.wanted.path.top in {change.top, WHOLE}), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePart:
    """A mutation, alone or as a part of a change of several, with what is to be written of it."""

    applied: AppliedMutation
    classified: ClassifiedDrift

    def has(self, wanted: Wanted) -> bool:
        """Whether a value is one of this mutation's: one that it wants, or one of a resource that it created."""
        own = self.classified.wanted
        return any(want.key == wanted.key or (is_new(want) and want.address == wanted.address) for want in own)


def classify_mutation(applied: AppliedMutation, *, superseded: Mapping[tuple[str, str], str]) -> ClassifiedDrift:
    """The values that the code must declare after an applied mutation.

    `superseded` maps (address, attribute) to the id of a later mutation that set the same attribute: what that one did counts.
    """
    wanted: list[Wanted] = []
    kept_out: list[Left] = []
    left: list[Left] = []
    for effect in applied.effects:
        want = Wanted(address=effect.address, attribute=effect.attribute, value=effect.value)
        if effect.action is EffectAction.INVOKE or (effect.address, effect.attribute) in applied.restated:
            continue
        if applied.kind == _TERRAFORM and (effect.action is not EffectAction.SET or not effect.declared):
            kept_out.append(Left(wanted=want, reason="Terraform itself did it, from code that says so."))
            continue
        if _is_generated(effect):
            kept_out.append(Left(wanted=want, reason="The provider generated the name, as the code leaves it to it."))
        elif effect.attribute == WHOLE:
            found = _of_resource(applied, effect, want, superseded)
            wanted += found.wanted
            kept_out += found.kept_out
            left += found.left
        elif effect.action is not EffectAction.SET and not _creates_again(effect, applied):
            left.append(Left(wanted=want, reason=_reason_to_leave_resource(effect.action, effect.address)))
        elif not effect.declared:
            left.append(
                Left(wanted=_without_secret(want, effect), reason=f"No block in the code declares {effect.address}.")
            )
        elif applied.kind != _TERRAFORM and _may_hold_secret(effect):
            left.append(Left(wanted=replace(want, value=None), reason=_BY_HAND))
        elif reason := _reason_to_keep_out(
            applied, want, effect.resource_type, sensitive=_is_secret(effect), superseded=superseded
        ):
            by = superseded.get(want.key, "")
            by = by if reason == superseded_reason(by) else ""
            kept_out.append(Left(wanted=_without_secret(want, effect), reason=reason, superseded_by=by))
        else:
            wanted.append(want)
    own = applied.kind != _TERRAFORM
    created, again = (creations_of(applied), recreations_of(applied)) if own else ((), ())
    return ClassifiedDrift(
        wanted=tuple(wanted),
        kept_out=tuple(kept_out),
        left=tuple(left),
        created=created,
        beside_code=applied.call is not None or applied.known is not None,
        again=tuple(each for each in again if (each[0], WHOLE) not in superseded),
    )


def _of_resource(
    applied: AppliedMutation, effect: Effect, want: Wanted, superseded: Mapping[tuple[str, str], str]
) -> ClassifiedDrift:
    """The same for a whole resource that was created, deleted or replaced. What was created again is not judged here."""
    for_good = applied.wanted_seconds is None
    if for_good and (deletes_declared(effect) or _creates_again(effect, applied)):
        if later := superseded.get(want.key, ""):
            return ClassifiedDrift(kept_out=(Left(wanted=want, reason=superseded_reason(later), superseded_by=later),))
        return ClassifiedDrift(wanted=(replace(want, value=None),) if deletes_declared(effect) else ())
    if effect.action is EffectAction.SET and is_replacement(want):
        return ClassifiedDrift(wanted=(want,))
    return ClassifiedDrift(left=(Left(wanted=want, reason=_reason_to_leave_resource(effect.action, effect.address)),))


def set_secrets(classified: ClassifiedDrift) -> list[Wanted]:
    """The values that stay out of code because they are secrets."""
    return [each.wanted for each in classified.kept_out if each.reason == _STAYS_OUT]


def with_contradicted(classified: ClassifiedDrift, secrets: Sequence[Wanted]) -> ClassifiedDrift:
    """The same, with these secrets left to a person, because the code declares other values."""
    keys = {want.key for want in secrets}
    kept = tuple(each for each in classified.kept_out if each.wanted.key not in keys)
    return replace(classified, kept_out=kept, left=(*classified.left, *leave_all(secrets, _CONTRADICTED)))


def classify_foreign_drift(
    plan: TerraformPlan,
    origins: Mapping[tuple[str, str], DriftOrigin],
    settled: AbstractSet[tuple[str, str]] = frozenset(),
) -> tuple[tuple[Drift, ...], tuple[Left, ...]]:
    """The drift that no mutation caused, and the values that cannot be written into code.

    A resource that the state has, that is gone and that the plan would create again, is wanted gone from the code too.
    An attribute drifted if the plan would change it *and* state and live differ. A change made only in the code is not
    drift. An attribute that the plan leaves alone (Optional and Computed, not set in code) needs no edit.
    `origins` says who made a change, by (address, attribute), where that is known. What only follows from a resource that is gone is no
    drift of its own: it is settled with that resource. `settled` are the attributes, by (address, attribute of the resource), that stay as
    they are: nothing waits for them.
    """
    drifted = {change.top_key for change in plan.drift}
    gone = plan.gone()
    following = _following(plan, {address for address, _ in drifted}) if gone else frozenset()
    drifts, left = [], []
    for change in plan.changes:
        origin = origins.get((change.address, change.attribute))
        want = Wanted(
            address=change.address,
            attribute=change.attribute,
            value=None if change.sensitive else change.live,
            before=None if change.sensitive else change.other,
        )
        if change.attribute == WHOLE and change.actions == ("create",) and change.address in gone:
            had = replace(want, before=plan.lost_values.get(change.address))
            drifts.append(Drift(wanted=had, before=_DECLARED, origin=origin))
        elif change.address in plan.imports and plan.is_open(change):
            continue  # it follows from a value that is not in the code yet
        elif change.address in plan.imports and change.attribute != WHOLE and not change.sensitive:
            # A new block does not say yet what the resource has.
            drifts.append(Drift(wanted=want, before=change.other, origin=origin))
        elif change.address in following:
            whole = Left(wanted=Wanted(address=change.address, attribute=WHOLE, value=None), reason=_follows(gone))
            left += [whole] if whole not in left else []
        elif reason := _reason_to_leave(change, drifted, origin):
            left.append(Left(wanted=want, reason=reason, chain=_made_by(origin)))
        elif plan.sets(change) or not _set_elsewhere(change, plan, settled):
            drifts.append(Drift(wanted=want, before=change.other, origin=origin))
    return tuple(drifts), tuple(left)


def _following(plan: TerraformPlan, drifted: AbstractSet[str]) -> frozenset[str]:
    """Resources that did not drift, and that the plan would change only because it makes again what is gone: what they refer to is not known."""
    open_ones = {
        address for address, values in plan.planned.items() if any(each.unknown is not None for each in values.values())
    }
    changed = {change.address for change in plan.changes if change.actions != ("create",)}
    return frozenset((changed & open_ones) - drifted)


def _follows(gone: AbstractSet[str]) -> str:
    named = ", ".join(sorted(gone)[:_MOST_NAMED])
    return f"Nothing of it drifted: it refers to what is gone and what a plan would make again ({named}), and is settled with it."


def superseded_reason(later: str) -> str:
    """Why a value is not written that the mutation `later` set again."""
    return f"{later} superseded it since: what that one did counts."


def leave_all(wanted: Sequence[Wanted], reason: str) -> tuple[Left, ...]:
    """Every wanted value as left, for the same reason."""
    return tuple(Left(wanted=want, reason=reason) for want in wanted)


def _is_secret(effect: Effect) -> bool:
    """Whether the value is a secret or shows one. Records of earlier versions may hold values that are masked today."""
    return effect.sensitive or shows_secret(
        effect.value, resource_type=effect.resource_type, attribute=effect.attribute
    )


def _may_hold_secret(effect: Effect) -> bool:
    return _is_secret(effect) and not is_secret(effect.resource_type, effect.attribute)


def _without_secret(want: Wanted, effect: Effect) -> Wanted:
    return replace(want, value=None) if _is_secret(effect) else want


def _controlled_by(resource_type: str, attribute: str) -> str:
    """Which controller owns this attribute, or why it does; empty if none does."""
    return _CONTROLLED.get((resource_type, AttributePath(attribute).top), "")


def _creates_again(effect: Effect, applied: AppliedMutation) -> bool:
    """Whether a resource that the code declares was created: its block says what it should be."""
    return effect.action is EffectAction.CREATE and effect.declared and applied.wanted_seconds is None


def _is_generated(effect: Effect) -> bool:
    """Whether the value is the name that the provider generated for a new resource of the code."""
    if effect.action is not EffectAction.CREATE or not effect.declared or not isinstance(effect.value, str):
        return False
    return generated_prefix(effect.value) is not None and effect.value in effect.identity.values()


def _reason_to_leave_resource(action: EffectAction, address: str) -> str:
    if action is EffectAction.CREATE:
        return f"{address} was created, and a new resource's block is written by a human: add the block and an import."
    return f"{address} was deleted, and its block is removed by a human."


def _reason_to_keep_out(
    applied: AppliedMutation,
    want: Wanted,
    resource_type: str,
    *,
    sensitive: bool,
    superseded: Mapping[tuple[str, str], str],
) -> str:
    """Why a value does not belong in code; empty if it does."""
    if sensitive:
        return _STAYS_OUT
    if applied.puts_back:
        return f"It puts {applied.puts_back} back, which was wanted for a time, so the code has nothing new to say."
    if applied.wanted_seconds is not None:
        return f"It is wanted for {applied.wanted_seconds:g} seconds only, so it is not written into code."
    if later := superseded.get(want.key):
        return superseded_reason(later)
    reason = _controlled_by(resource_type, want.attribute)
    return f"A controller owns this value ({reason}), so it stays out of code." if reason else ""


def _reason_to_leave(change: ResourceChange, drifted: set[tuple[str, str]], origin: DriftOrigin | None) -> str:
    match change.actions:
        case ("create",) if change.attribute == WHOLE:
            return f"The plan would create {change.address}, which the state does not have: the code is ahead of what is applied."
        case ("delete",) | ("forget",):
            return f"The plan would delete {change.address}: the code does not declare it any more."
    if change.attribute == WHOLE:
        return f"The plan would {' and '.join(change.actions)} {change.address}, which is not drift of a value."
    if change.sensitive:
        return _BY_HAND if may_hold_secret(change.resource_type, change.attribute) else _STAYS_OUT
    if change.top_key not in drifted:
        return "The state agrees with what is live, so this did not drift: the code is ahead of what is applied, or the drift was accepted into the state before."
    if origin is not None and origin.actor.endswith(".amazonaws.com"):
        return (
            f"The AWS service {origin.actor} set it ({origin.event}), so a controller owns it and it stays out of code."
        )
    reason = _controlled_by(change.resource_type, change.attribute)
    if not reason and (origin is None or not _is_named(origin, change)):
        reason = _BY_ITSELF.get((change.resource_type, change.top), "")
    return f"A controller owns this value ({reason}), so it stays out of code." if reason else ""


def _is_named(origin: DriftOrigin, change: ResourceChange) -> bool:
    """Whether the operation has a word of the attribute in its name, as SuspendProcesses has one of `suspended_processes`."""
    operation = origin.event.partition(":")[2].lower()
    return any(word in operation for word in change.top.split("_") if len(word) >= _SHORTEST_WORD)


def _set_elsewhere(change: ResourceChange, plan: TerraformPlan, settled: AbstractSet[tuple[str, str]]) -> bool:
    """Whether the code sets another drifted attribute of this resource. This one may be derived from it, so that one is fixed first."""
    return any(
        other.address == change.address and other.top_key not in settled and plan.sets(other) for other in plan.changes
    )


def _made_by(origin: DriftOrigin | None) -> tuple[str, ...]:
    return (f"{origin.actor} did {origin.event} at {origin.at.isoformat()}",) if origin else ()
