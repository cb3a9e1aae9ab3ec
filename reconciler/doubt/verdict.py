"""What the live values say about a mutation in doubt: carried out, not carried out, or undecidable."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction
from gateway.model.path import AttributePath
from gateway.model.resolution import SettledBy
from reconciler.drift.applied import AppliedMutation
from reconciler.terraform.compare import agrees, same
from reconciler.terraform.refreshed import Refreshed

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


class Answer(StrEnum):
    """What is to be recorded of a mutation in doubt."""

    APPLIED = "applied"
    FAILED = "failed"
    HUMAN = "human"
    """Nothing shows the outcome, and nothing will."""
    WAIT = "wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtVerdict:
    """An answer, by what it was found, and why, without values."""

    answer: Answer
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
            answer=Answer(form["answer"]),
            reason=form["reason"],
            by=SettledBy(form["by"]),
            request_id=form["request_id"],
        )


class _Sight(StrEnum):
    """What one effect looks like in the live system."""

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


def judge(applied: AppliedMutation, live: Refreshed, *, final: bool) -> DoubtVerdict:
    """What the live values show. Before `final`, while AWS may still accept the request, they can only show that it was applied."""
    sights = {
        (effect.address, effect.attribute): _sight(effect, applied.before.get((effect.address, effect.attribute)), live)
        for effect in applied.effects
        if not effect.sensitive
    }
    seen = set(sights.values())
    if seen and seen <= {_Sight.AS_ASKED, _Sight.EITHER}:
        return DoubtVerdict(answer=Answer.APPLIED, reason=f"Read back: {_shown(sights)}.")
    if not final:
        return DoubtVerdict(answer=Answer.WAIT, reason=f"Read back: {_shown(sights)}.")
    if seen <= {_Sight.AS_BEFORE, _Sight.EITHER} and not _carried_out_later(applied):
        return DoubtVerdict(
            answer=Answer.FAILED, reason=f"Read back after AWS stopped accepting the request: {_shown(sights)}."
        )
    reason = f"The live values do not show the outcome: {_shown(sights)}."
    if seen <= {_Sight.AS_BEFORE, _Sight.EITHER}:
        reason += " AWS may still carry the change out later, because changes of this type may wait, e.g. for a maintenance window."
    return DoubtVerdict(answer=Answer.HUMAN, reason=reason)


def _sight(effect: Effect, before: Json, live: Refreshed) -> _Sight:
    exists = live.exists(effect.address)
    if exists is None:
        return _Sight.NOT_READ
    match effect.action:
        case EffectAction.DELETE:
            return _Sight.AS_BEFORE if exists else _Sight.AS_ASKED
        case EffectAction.CREATE:
            return _Sight.AS_ASKED if exists else _Sight.AS_BEFORE
    if not exists:
        return _Sight.NEITHER
    value = AttributePath(effect.attribute).value_at(live.objects[effect.address])
    if same(before, effect.value):
        return _Sight.EITHER if same(value, before) else _Sight.NEITHER
    if same(value, before):
        return _Sight.AS_BEFORE
    return _Sight.AS_ASKED if agrees(effect.value, value) else _Sight.NEITHER


def may_come_later(resource_type: str) -> bool:
    """Whether AWS may accept a change of such a resource at once and carry it out later: an old value then shows nothing."""
    return resource_type.startswith(_LATER)


def _carried_out_later(applied: AppliedMutation) -> bool:
    return any(may_come_later(effect.resource_type) for effect in applied.effects)


def _shown(sights: Mapping[tuple[str, str], _Sight]) -> str:
    return "; ".join(
        f"{address if attribute == WHOLE else f'{address}.{attribute}'} {sight}"
        for (address, attribute), sight in sights.items()
    )
