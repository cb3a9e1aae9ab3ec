"""A reader of resources over the case's stack, with a ledger that knows what a test gives it and a scripted live source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gateway.context.live_values import LiveReadThrough, LiveTarget
from gateway.context.ports import AppliedValue, HistoryQuery, KnownResource, SentChange
from gateway.context.reader import ContextReader
from gateway.core.model.claim import Claim
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.signal import Signal
from gateway.terraform.stacks import Stacks
from tests.kit import nouns
from tests.kit.doubles import NOW, FixedClock, PolicyDouble
from tests.kit.stacks import GROUP, KAFKA, Source, load

MOTIVE = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="lag grows", evidence=("A-1",))


def claim(attribute: str = "desired_capacity", address: str = GROUP, *, value: Json = 6, actor: str = "rival") -> Claim:
    """An open claim of another agent for an hour."""
    return nouns.claim(
        address,
        attribute,
        value,
        id=f"clm_{attribute}",
        actor=actor,
        motive=MOTIVE,
        since=NOW,
        until=NOW + timedelta(hours=1),
    )


def applied(attribute: str, value: Json, address: str = GROUP, **more: str) -> AppliedValue:
    """A value that Sentinel applied."""
    return AppliedValue(address=address, attribute=attribute, value=value, at=NOW, mutation_id="mut_1", seq=7, **more)


@dataclass
class ContextLedgerDouble:
    """Answers with what it is given, and keeps what it was asked."""

    resource: KnownResource = field(default_factory=KnownResource)
    changes: Sequence[SentChange] = ()
    values: Sequence[AppliedValue] = ()
    asked: list[Any] = field(default_factory=list)

    async def known(
        self, *, addresses: Sequence[str], others: Sequence[str], now: datetime, flips_from: datetime
    ) -> KnownResource:
        """`resource`."""
        self.asked.append((tuple(addresses), tuple(others), flips_from))
        return self.resource

    async def history(self, query: HistoryQuery) -> Sequence[SentChange]:
        """The first of `changes`."""
        self.asked.append(query)
        return self.changes[: query.limit]

    async def applied(self, *, after: tuple[str, str], limit: int) -> Sequence[AppliedValue]:
        """The next of `values`."""
        return [each for each in self.values if (each.address, each.attribute) > after][:limit]


@dataclass
class LiveDouble:
    """A live source with the same values for every resource."""

    values: Mapping[str, Json] = field(default_factory=dict)
    targets: list[LiveTarget] = field(default_factory=list)

    def supports(self, target: LiveTarget) -> str:
        """Every group can be read."""
        return "" if "group" in target.resource_type else "Not this type."

    async def read(self, target: LiveTarget) -> Mapping[str, Json]:
        """`values`."""
        self.targets.append(target)
        return self.values


def reader(
    ledger: ContextLedgerDouble | None = None,
    live: LiveDouble | None = None,
    *,
    stacks: Stacks | None = None,
    signals: Sequence[Signal] = (),
) -> ContextReader:
    """A reader over the stack of the cases."""
    return ContextReader(
        stacks=stacks or load(Source(path=KAFKA)),
        ledger=ledger or ContextLedgerDouble(),
        policy=PolicyDouble(),
        live=LiveReadThrough(source=live, clock=FixedClock()),
        clock=FixedClock(),
        signals=lambda _stack, _address: signals,
    )
