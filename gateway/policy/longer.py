"""Asks the policies about a change for a time that is to last longer: what was judged when it was made was the time that was wanted then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil
from typing import Any

from gateway.core.errors import NotFound, PolicyUnavailable
from gateway.core.model.approval import objection, own_objection
from gateway.core.model.caller import Caller
from gateway.core.model.json import Json
from gateway.core.model.verdict import Asked, Finding, Mode, Verdict
from gateway.core.ports import LedgerQueries, RecordQuery
from gateway.core.records.codec import bodies_of
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Stage
from gateway.line.checks.approvers import rule_about
from gateway.policy.bundle import RunningEngine
from gateway.policy.not_replayed import SENTENCES, NotReplayed
from gateway.policy.replay import answers, questions_of

_CURE = "Make the change again with the longer time: then it is decided as a whole."


@dataclass(frozen=True, slots=True, kw_only=True)
class LongerChanges:
    """Judges whether a change may last longer than it was wanted."""

    queries: LedgerQueries
    engine: RunningEngine

    async def refusal(self, mutation_id: str, wanted: timedelta, caller: Caller) -> str:
        """Why this caller may not have the change last for `wanted` from its beginning, as a sentence; empty if they may.

        The policies are asked what they were asked when it was made, with the new time. What they deny then nobody grants; what they
        hold then, or cannot be asked, a person grants who may approve it and did not ask for it. Raises `errors.NotFound`.
        """
        records = await self.queries.records(RecordQuery(mutation_id=mutation_id, stage=Stage.DECIDED))
        body: DecidedBody[Any] | None = next(bodies_of(records, DecidedBody), None)
        if body is None:
            raise NotFound(f"There is no decision about {mutation_id[:64]}.")
        seconds = body.motive.wanted_seconds if body.motive else None
        if body.decision.mode is Mode.OBSERVE or (seconds is not None and wanted <= timedelta(seconds=seconds)):
            return ""
        requesters = (records[0].actor, body.caller.on_behalf_of)
        questions = questions_of(body)
        if isinstance(questions, NotReplayed):
            may_not = objection(caller, body.decision.rule) or own_objection(caller, mutation_id, requesters)
            why = f"The policies cannot be asked about the longer time, because the decision is {SENTENCES[questions]}."
            return f"{why} {may_not} {_CURE}" if may_not else ""
        person = None if caller.actor == records[0].actor else caller
        asked = [_with_time(each, wanted, person) for each in questions]
        new = await self._new_objections(body, asked)
        if not new:
            return ""
        said = " ".join(f"[{each.rule}] {each.reason}" for each in new)
        if any(each.verdict is Verdict.DENY for each in new):
            return f"The policies refuse this change for so long. {said} Its end was not moved."
        try:
            rule = await rule_about(self.engine, asked[0].document, new)
        except PolicyUnavailable as error:
            return f"The policies hold this change for so long, and do not say who may approve it ({error}). Its end was not moved."
        if rule.people > 1:
            return f"The policies hold this change for so long. {said} {rule.reason} {_CURE}"
        may_not = objection(caller, rule) or own_objection(caller, mutation_id, requesters)
        return f"The policies hold this change for so long. {said} {may_not} {_CURE}" if may_not else ""

    async def _new_objections(self, body: DecidedBody[Any], asked: Sequence[Asked]) -> tuple[Finding, ...]:
        """What the policies object now and did not when the change was made."""
        before = {(each.rule, each.verdict, each.address, each.attribute) for each in body.decision.objections}
        found = [each for question in asked for each in await answers(question, self.engine)]
        return tuple(
            each
            for each in dict.fromkeys(found)
            if each.verdict is not Verdict.ALLOW
            and (each.rule, each.verdict, each.address, each.attribute) not in before
        )


def _with_time(question: Asked, wanted: timedelta, person: Caller | None) -> Asked:
    """The question about the same change, wanted for this long; as a change of the person's kind and roles if another than its actor wants it."""
    longer = _members(question, "motive") | {"wanted_seconds": max(1, ceil(wanted.total_seconds()))}
    caller = _members(question, "caller")
    if person is not None:
        caller |= {"kind": person.kind.value, "roles": list(person.roles)}
    return replace(question, document={**question.document, "motive": longer, "caller": caller})


def _members(question: Asked, name: str) -> dict[str, Json]:
    found = question.document.get(name)
    return dict(found) if isinstance(found, Mapping) else {}
