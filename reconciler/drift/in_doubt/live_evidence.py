"""Judges a mutation in doubt by the live values: AWS carried it out, did not, or the values cannot decide."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.outcome import SettledBy
from gateway.core.model.path import WHOLE, AttributePath
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.terraform.compare import agrees, same
from reconciler.terraform.refresh import Refreshed

_LATER = (
    "aws_db_",
    "aws_docdb_",
    "aws_elasticache_",
    "aws_memorydb_",
    "aws_mq_",
    "aws_msk_",
    "aws_neptune_",
    "aws_opensearch_",
    "aws_elasticsearch_",
    "aws_rds_",
    "aws_redshift_",
    "aws_cloudfront_",
    "aws_eks_",
)
"""Types of which AWS accepts a change at once and carries it out later, e.g. in a maintenance window: an old value shows nothing."""


class DoubtAnswer(StrEnum):
    """The verdict that is recorded of a mutation in doubt."""

    APPLIED = "applied"
    FAILED = "failed"
    HUMAN = "human"
    """Nothing shows the outcome, and nothing will."""
    WAIT = "wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtVerdict:
    """An answer, by what it was found, and why, without values."""

    answer: DoubtAnswer
    reason: str
    by: SettledBy = SettledBy.READ_BACK
    request_id: str = ""

    def to_json(self) -> dict[str, Json]:
        """The form DBOS stores between steps."""
        return {
            "answer": self.answer.value,
            "reason": self.reason,
            "by": self.by.value,
            "request_id": self.request_id,
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> "DoubtVerdict":
        """The inverse of `to_json`."""
        return cls(
            answer=DoubtAnswer(form["answer"]),
            reason=form["reason"],
            by=SettledBy(form["by"]),
            request_id=form["request_id"],
        )


class _EffectState(StrEnum):
    """The state of one effect in the live system."""

    AS_ASKED = "is as asked"
    AS_BEFORE = "is as before"
    EITHER = "was as asked already"
    NEITHER = "is neither as asked nor as before"
    NOT_READ = "is not in Terraform's state, so it was not read"


def unreadable(applied: AppliedMutation) -> str:
    """Why no value can show the outcome, as a whole sentence; empty if values may show it."""
    for effect in applied.effects:
        if effect.action is EffectAction.INVOKE:
            return f"It runs an action on {effect.address}, and no value shows whether that was done."
        if not effect.declared:
            return f"No block in the code declares {effect.address}, so Terraform does not read it."
        if effect.action is EffectAction.SET and effect.attribute == WHOLE:
            return f"Which attributes of {effect.address} it sets is not known."
    if not applied.effects:
        return "What it changes is not known."
    if all(effect.sensitive for effect in applied.effects):
        return "Everything it sets is secret, so its values were not kept and cannot be compared."
    return ""


def judge_live_values(applied: AppliedMutation, live: Refreshed, *, final: bool) -> DoubtVerdict:
    """What the live values show. Before `final`, while AWS may still accept the request, they can only show that it was applied."""
    sights = {
        (effect.address, effect.attribute): _effect_state(
            effect, applied.before.get((effect.address, effect.attribute)), live
        )
        for effect in applied.effects
        if not effect.sensitive
    }
    seen = set(sights.values())
    if seen and seen <= {_EffectState.AS_ASKED, _EffectState.EITHER}:
        return DoubtVerdict(answer=DoubtAnswer.APPLIED, reason=f"Read back: {_shown(sights)}.")
    if not final:
        return DoubtVerdict(answer=DoubtAnswer.WAIT, reason=f"Read back: {_shown(sights)}.")
    if seen <= {_EffectState.AS_BEFORE, _EffectState.EITHER} and not _carried_out_later(applied):
        return DoubtVerdict(
            answer=DoubtAnswer.FAILED, reason=f"Read back after AWS stopped accepting the request: {_shown(sights)}."
        )
    reason = f"The live values do not show the outcome: {_shown(sights)}."
    if seen <= {_EffectState.AS_BEFORE, _EffectState.EITHER}:
        reason += " AWS may still carry the change out later, because changes of this type may wait, e.g. for a maintenance window."
    return DoubtVerdict(answer=DoubtAnswer.HUMAN, reason=reason)


def _effect_state(effect: Effect, before: Json, live: Refreshed) -> _EffectState:
    exists = live.exists(effect.address)
    if exists is None:
        return _EffectState.NOT_READ
    match effect.action:
        case EffectAction.DELETE:
            return _EffectState.AS_BEFORE if exists else _EffectState.AS_ASKED
        case EffectAction.CREATE:
            return _EffectState.AS_ASKED if exists else _EffectState.AS_BEFORE
    if not exists:
        return _EffectState.NEITHER
    value = AttributePath(effect.attribute).value_at(live.objects[effect.address])
    if same(before, effect.value):
        return _EffectState.EITHER if same(value, before) else _EffectState.NEITHER
    if same(value, before):
        return _EffectState.AS_BEFORE
    return _EffectState.AS_ASKED if agrees(effect.value, value) else _EffectState.NEITHER


def may_come_later(resource_type: str) -> bool:
    """Whether AWS may accept a change of such a resource at once and carry it out later: an old value then shows nothing."""
    return resource_type.startswith(_LATER)


def _carried_out_later(applied: AppliedMutation) -> bool:
    return any(may_come_later(effect.resource_type) for effect in applied.effects)


def _shown(sights: Mapping[tuple[str, str], _EffectState]) -> str:
    return "; ".join(
        f"{address if attribute == WHOLE else f'{address}.{attribute}'} {sight}"
        for (address, attribute), sight in sights.items()
    )
