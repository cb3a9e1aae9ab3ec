"""A mutation in one row, from its records alone: what it changes in plain words, who wants it and why, the verdict, and how far it has come."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from gateway.core.model.json import to_json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.verdict import Verdict
from gateway.core.records.approvals import ConsentBody, RejectedBody, WithdrawnBody
from gateway.core.records.decided import DecidedBody
from gateway.core.records.plans import PlanEndedBody
from gateway.core.records.record import Body, Record
from gateway.core.records.settled import SettledBody
from gateway.core.records.write_backs import ReconciledBody
from gateway.core.times import utc_text
from gateway.presentation.headline import headline
from gateway.presentation.mutation_state import MutationState, mutation_state

_ADDRESSES: Final = 20
"""Addresses that a row names."""


class MarkState(StrEnum):
    """How a step of a mutation's path stands."""

    DONE = "done"
    WAITS = "waits"
    STOPPED = "stopped"
    """The path ends here."""
    UNNEEDED = "unneeded"
    """This mutation has no such step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One step of a mutation's path: asked, decided, applied, in code, merged."""

    name: str
    state: MarkState
    at: datetime | None = None
    told: str = ""
    """What happened there, in a few words."""


def change_to_json(records: Sequence[Record]) -> dict[str, Any] | None:
    """The row of a mutation from its records, oldest first; None if none of them is its readable decision."""
    decided = next((each for each in records if isinstance(each.body, DecidedBody)), None)
    if decided is None or not isinstance(decided.body, DecidedBody):
        return None
    body, state = decided.body, mutation_state(records)
    objection = next(iter(body.decision.objections), None)
    motive = body.motive
    return {
        "id": decided.mutation_id,
        "seq": decided.seq,
        "at": utc_text(decided.at),
        "actor": decided.actor,
        "kind": body.caller.kind.value,
        "on_behalf_of": body.caller.on_behalf_of,
        "stack": decided.stack,
        "call": body.call.name,
        "headline": headline(body, done=state in (MutationState.APPLIED, MutationState.ENDED)),
        "addresses": addresses_of(records)[:_ADDRESSES],
        "intent": motive.intent if motive else "",
        "motivation": motive.motivation if motive else "",
        "why": motive.text if motive else "",
        "verdict": body.decision.verdict.value,
        "mode": body.decision.mode.value,
        "state": state.value,
        "rule": objection.rule if objection else "",
        "reason": objection.reason if objection else "",
        "plan": body.part.plan if body.part is not None else "",
        "path": [
            {"name": mark.name, "state": mark.state.value, "at": to_json(mark.at), "told": mark.told}
            for mark in path_of(records)
        ],
    }


def addresses_of(records: Sequence[Record]) -> list[str]:
    """The resources that a mutation is about, from its decision; none if that cannot be read."""
    bodies = [each.body for each in records if isinstance(each.body, DecidedBody)]
    return list(dict.fromkeys(effect.address for body in bodies[:1] for effect in body.effects))


def has_words(decided: Record, words: Sequence[str]) -> bool:
    """Whether each of these words, in small letters, is in what a row says of the mutation that was decided so."""
    if not words or not isinstance(body := decided.body, DecidedBody):
        return not words
    objection = next(iter(body.decision.objections), None)
    motive = [body.motive.text] if body.motive else []
    said = [objection.rule, objection.reason] if objection else []
    known = [decided.mutation_id, decided.actor, body.caller.on_behalf_of, decided.stack, body.call.name]
    plain = " ".join([*known, *motive, *said, *addresses_of([decided])[:_ADDRESSES]]).casefold()
    missing = [word for word in words if word not in plain]
    # The headline costs most, and is made only where it can decide.
    return not missing or any(
        all(word in text for word in missing)
        for done in (False, True)
        for text in [headline(body, done=done).casefold()]
    )


def path_of(records: Sequence[Record]) -> tuple[Mark, ...]:
    """The five steps of a mutation: asked, decided, applied, in code, merged. After the step where it stopped, no other is needed."""
    marks = []
    stopped = False
    for mark in _marks(records):
        marks.append(Mark(name=mark.name, state=MarkState.UNNEEDED) if stopped else mark)
        stopped = stopped or mark.state is MarkState.STOPPED
    return tuple(marks)


def _marks(records: Sequence[Record]) -> Iterator[Mark]:
    decided = next(record for record in records if isinstance(record.body, DecidedBody))
    yield Mark(name="asked", state=MarkState.DONE, at=decided.at, told=f"asked by {decided.actor}")
    yield _decided(records)
    yield _applied(records)
    yield from _written(records) if _belongs_in_code(decided.body) else _unwritten()


def _belongs_in_code(body: Body) -> bool:
    """Whether the reconciler will say something about it: not about what changes no attribute. What was not understood, it names."""
    if not isinstance(body, DecidedBody) or body.plan is not None:
        return False
    return not body.effects or any(each.changes and each.action is not EffectAction.INVOKE for each in body.effects)


def _unwritten() -> Iterator[Mark]:
    yield from (Mark(name=name, state=MarkState.UNNEEDED) for name in ("in code", "merged"))


def _decided(records: Sequence[Record]) -> Mark:
    """Whether it may be carried out, by Sentinel's word or a person's."""
    last, told, state = None, "", MarkState.WAITS
    for record in records:
        match record.body:
            case DecidedBody(decision=decision):
                last = record
                told = (
                    "observed"
                    if decision.carried_out and decision.verdict is not Verdict.ALLOW
                    else _VERDICTS[decision.verdict]
                )
                held = decision.verdict is Verdict.HOLD and not decision.carried_out
                passes = decision.carried_out or decision.verdict is Verdict.ALLOW
                state = MarkState.WAITS if held else MarkState.DONE if passes else MarkState.STOPPED
            case ConsentBody(missing=missing) if not missing:
                last, told, state = record, f"approved by {record.actor}", MarkState.DONE
            case WithdrawnBody():
                last, told, state = record, _VERDICTS[Verdict.HOLD], MarkState.WAITS
            case RejectedBody():
                last, told, state = record, f"rejected by {record.actor}", MarkState.STOPPED
    return Mark(name="decided", state=state, at=last.at if last else None, told=told)


_VERDICTS: Final = {Verdict.ALLOW: "allowed", Verdict.HOLD: "waits for a person", Verdict.DENY: "denied"}


def _applied(records: Sequence[Record]) -> Mark:
    """Whether AWS carried it out."""
    for record in reversed(records):
        match record.body:
            case SettledBody(outcome="applied"):
                return Mark(name="applied", state=MarkState.DONE, at=record.at, told="AWS carried it out")
            case SettledBody(outcome="failed") as body:
                return Mark(
                    name="applied",
                    state=MarkState.STOPPED,
                    at=record.at,
                    told=f"AWS refused: {body.code or body.message}",
                )
            case SettledBody():
                return Mark(
                    name="applied", state=MarkState.WAITS, at=record.at, told="nobody knows yet whether AWS did it"
                )
            case PlanEndedBody(calls=calls):
                told = f"the apply ended after {sum(calls.values())} calls"
                return Mark(name="applied", state=MarkState.DONE, at=record.at, told=told)
    return Mark(name="applied", state=MarkState.WAITS)


def _written(records: Sequence[Record]) -> Iterator[Mark]:
    """Whether the code has the values, and whether the protected branch does."""
    reports = [(record.at, record.body) for record in records if isinstance(record.body, ReconciledBody)]
    if not reports:
        yield from (Mark(name=name, state=MarkState.WAITS) for name in ("in code", "merged"))
        return
    at, newest = reports[-1]
    written = next(((at, body) for at, body in reversed(reports) if body.commit), None)
    merged = Mark(name="merged", state=MarkState.WAITS)
    if newest.merged:
        merged = Mark(name="merged", state=MarkState.DONE, at=at, told="the protected branch declares it")
    if written is not None:
        yield Mark(name="in code", state=MarkState.DONE, at=written[0], told=f"commit {written[1].commit[:12]}")
    elif newest.left:
        yield Mark(name="in code", state=MarkState.STOPPED, at=at, told=f"left to a person: {newest.left[0].reason}")
    elif newest.merged:
        yield Mark(name="in code", state=MarkState.DONE, at=at, told=newest.nothing_to_do)
    else:
        yield Mark(
            name="in code", state=MarkState.UNNEEDED, at=at, told=newest.nothing_to_do or "it does not belong in code"
        )
        merged = Mark(name="merged", state=MarkState.UNNEEDED)
    yield merged
