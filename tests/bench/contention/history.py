"""Checks a history offline: its records, against what the actors were told, what reached AWS, and which claims the ledger holds."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from gateway.core.records.codec import body_of
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record, Stage
from gateway.ledger.decide.write_set import is_routine_apply
from tests.bench.contention.callers import Answer


def asked_of(record: Record) -> tuple[str, int]:
    """The queue and the value that a DECIDED record is about."""
    body: Any = record.body.members
    parameters = body["call"]["parameters"]
    return parameters["QueueUrl"].rpartition("/")[2], int(parameters["Attributes"]["VisibilityTimeout"])


Place = tuple[str, str]
"""Address and attribute."""


@dataclass
class History:
    """What the records say, read in their order."""

    problems: list[str] = field(default_factory=list)
    """What must not be, as sentences."""
    takings: int = 0
    takeovers: int = 0
    """Claims that superseded another actor's."""
    _open: dict[Place, str] = field(default_factory=dict)
    _places: dict[str, Place] = field(default_factory=dict)
    _actors: dict[str, str] = field(default_factory=dict)
    _superseded: dict[str, Sequence[str]] = field(default_factory=dict)
    _claims_of: dict[str, Sequence[str]] = field(default_factory=dict)
    _decisions: dict[str, Record] = field(default_factory=dict)
    _by_key: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _outcomes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Sequence[Record]) -> "History":
        """The history that the records tell."""
        history = cls()
        for record in records:
            history._read(record)
        return history

    def compare(
        self, answers: Sequence[Answer], arrived: Mapping[str, Sequence[int]], claims: AbstractSet[str]
    ) -> Sequence[str]:
        """Everything that must not be, as sentences: `arrived` is what AWS got, by queue and in order, `claims` the ids of the open claims."""
        return [
            *self.problems,
            *self._sent_twice(),
            *(problem for answer in answers for problem in self._told_otherwise(answer)),
            *self._arrived_otherwise(arrived),
            *self._claimed_otherwise(claims),
        ]

    def _read(self, record: Record) -> None:
        body: Any = record.body.members
        match record.stage:
            case Stage.DECIDED if body["decision"]["carried_out"]:
                self._decided(record)
            case Stage.SETTLED:
                self._settled(record.mutation_id, body["outcome"])
            case Stage.RELEASED | Stage.EXPIRED:
                self._end(body["claim"])

    def _decided(self, record: Record) -> None:
        mutation = record.mutation_id
        body: Any = record.body.members
        self._decisions[mutation] = record
        self._by_key[body["attempt"]["idempotency_key"]].append(mutation)
        self._superseded[mutation] = body["decision"]["supersedes"]
        self._claims_of[mutation] = [claim["id"] for claim in body["claims"]]
        for claim in self._superseded[mutation]:
            self.takeovers += self._actors[claim] != record.actor
            self._end(claim)
        for claim in body["claims"]:
            self._actors[claim["id"]] = record.actor
            self._take(claim["id"], (claim["address"], claim["attribute"]))

    def _take(self, claim: str, place: Place) -> None:
        if place in self._open:
            self.problems.append(f"{claim} took {'.'.join(place)} while {self._open[place]} held it.")
        self.takings += 1
        self._places[claim] = place
        self._open[place] = claim

    def _end(self, claim: str) -> None:
        place = self._places.get(claim)
        if place is None or self._open.get(place) != claim:
            self.problems.append(f"{claim} ended, but was not open.")
        else:
            del self._open[place]

    def _settled(self, mutation: str, outcome: str) -> None:
        if self._outcomes.get(mutation, "in_doubt") != "in_doubt":
            self.problems.append(f"{mutation} was settled as {self._outcomes[mutation]}, then as {outcome}.")
        self._outcomes[mutation] = outcome
        if outcome == "failed":
            for claim in self._claims_of[mutation]:
                self._end(claim)
            for claim in self._superseded[mutation]:
                self._open[self._places[claim]] = claim

    def _sent_twice(self) -> Iterator[str]:
        for key, mutations in self._by_key.items():
            carried = [each for each in mutations if self._outcomes.get(each) != "failed"]
            if len(carried) > 1:
                yield f"{key} was carried out {len(carried)} times: {', '.join(carried)}."
        for mutation in self._decisions:
            if self._outcomes.get(mutation) not in {"applied", "failed"}:
                yield f"{mutation} was never settled."

    def _told_otherwise(self, answer: Answer) -> Iterator[str]:
        outcomes = [self._outcomes.get(each) for each in self._by_key.get(answer.wish.recorded_key, ())]
        applied = "applied" in outcomes
        if answer.status == 200 and not applied:
            yield f"{answer.wish.idempotency_key} was told 200, but no record says that it was applied."
        if answer.status != 200 and applied and answer.code != "outcome_unknown":
            yield f"{answer.wish.idempotency_key} was applied, but was told {answer.status} {answer.code}."

    def _arrived_otherwise(self, arrived: Mapping[str, Sequence[int]]) -> Iterator[str]:
        """AWS must have got exactly the applied values of each queue, in the order of their decisions."""
        decided: dict[str, list[int]] = defaultdict(list)
        for mutation, record in self._decisions.items():
            if self._outcomes.get(mutation) == "applied":
                queue, value = asked_of(record)
                decided[queue].append(value)
        for queue in sorted({*decided, *arrived}):
            if decided.get(queue, []) != list(arrived.get(queue, ())):
                yield f"AWS got {list(arrived.get(queue, ()))} for {queue}, but {decided.get(queue, [])} were decided."

    def _claimed_otherwise(self, claims: AbstractSet[str]) -> Iterator[str]:
        told = set(self._open.values())
        passing = {
            claim for mutation, taken in self._claims_of.items() if self._is_routine(mutation) for claim in taken
        }
        for claim in sorted(told - claims - passing):
            yield f"{claim} is open by the records, but the ledger lost it."
        for claim in sorted(claims - told):
            yield f"{claim} is open in the ledger, but no record says so."

    def _is_routine(self, mutation: str) -> bool:
        """Whether its claims end with its outcome."""
        body = body_of(self._decisions[mutation], DecidedBody)
        return body.motive is not None and is_routine_apply(body.caller.kind, body.motive.motivation)
