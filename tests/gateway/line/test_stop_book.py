"""What passes without a decision is held against stops that are a few seconds old at most."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from gateway.core.errors import LedgerUnavailable, Stopped
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.stop import Stop, StopScope
from gateway.line.stop_book import OLDEST, StopBook
from tests.gateway.core.model.test_stop import NOW, STOP

APP = Caller(actor="app", kind=ActorKind.SERVICE, key_id="SNTL0", on_behalf_of="ana")


@dataclass
class _Ledger:
    standing: list[Stop] = field(default_factory=list)
    fails: bool = False

    async def stops(self, *, every: bool = False) -> list[Stop]:
        if self.fails:
            raise LedgerUnavailable("away")
        return self.standing


@dataclass
class _Clock:
    moment: datetime = NOW

    def now(self) -> datetime:
        return self.moment


def book(ledger: _Ledger, clock: _Clock) -> StopBook:
    return StopBook(cast("Any", ledger), clock)


@pytest.mark.parametrize("name", ["app", "ana"])
async def test_a_stopped_actor_is_refused_and_passes_again_later(name: str) -> None:
    ledger, clock = _Ledger(), _Clock()
    stops = book(ledger, clock)
    await stops.refresh()
    stops.refuse(APP)
    ledger.standing.append(replace(STOP, scope=StopScope.ACTOR, name=name))
    await stops.refresh()
    with pytest.raises(Stopped, match="Ask chief"):
        stops.refuse(APP)
    ledger.standing.clear()
    await stops.refresh()
    stops.refuse(APP)


async def test_wider_stops_leave_the_data_plane_open() -> None:
    wider = [STOP, replace(STOP, scope=StopScope.STACK, name="s"), replace(STOP, scope=StopScope.SERVICE, name="sqs")]
    stops = book(_Ledger(standing=wider), _Clock())
    await stops.refresh()
    stops.refuse(APP)


async def test_nothing_passes_while_it_is_not_known_who_is_stopped() -> None:
    ledger, clock = _Ledger(), _Clock()
    stops = book(ledger, clock)
    with pytest.raises(LedgerUnavailable):
        stops.refuse(APP)
    await stops.refresh()
    clock.moment += OLDEST
    stops.refuse(APP)
    ledger.fails = True
    with pytest.raises(LedgerUnavailable):
        await stops.refresh()
    clock.moment += timedelta(microseconds=1)
    with pytest.raises(LedgerUnavailable, match="could not be read"):
        stops.refuse(APP)
    ledger.fails = False
    await stops.refresh()
    stops.refuse(APP)
