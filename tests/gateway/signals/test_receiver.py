"""A message is verified, read by its form, mapped and recorded; one that fails on the way changes nothing."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.core.errors import Malformed, NotAuthenticated
from gateway.core.model.inbound import Inbound
from gateway.core.model.signal import Signal, SignalEvent, SignalState
from gateway.core.ports import SignalQuery
from gateway.core.settings.signals import ConcernSettings, SignalForm, SignalSourceSettings
from gateway.signals.receiver import MOST_EVENTS, SignalReceiver
from gateway.signals.sns import SnsMessages
from tests.gateway.signals.forms.test_cloudwatch import MESSAGE
from tests.gateway.signals.forms.test_datadog import MESSAGE as MONITOR
from tests.gateway.signals.test_sns import CONFIRM, NOW, TOPIC, Site, signed

SECRET = "a-secret-of-the-monitoring"


@dataclass
class Kept:
    """A ledger that notes what it is told."""

    events: list[SignalEvent] = field(default_factory=list)

    async def record_signals(self, events: Any, at: datetime) -> int:
        self.events += events
        return len(events)

    async def signals_version(self) -> int:
        return 0

    async def signals(self, query: SignalQuery) -> list[Signal]:
        return []


@dataclass
class Noon:
    """The time at which the messages of the tests were sent."""

    def now(self) -> datetime:
        return NOW


@dataclass
class Desk:
    """An intake with a ledger, and how often its ledger is said to have changed."""

    site: Site = field(default_factory=Site)
    kept: Kept = field(default_factory=Kept)
    told: int = 0

    def intake(self) -> SignalReceiver:
        concerns = (ConcernSettings(labels={"Group": "*"}, stack="shop"),)
        sources = (
            SignalSourceSettings(name="topic", form=SignalForm.SNS, topics=(TOPIC,), concerns=concerns),
            SignalSourceSettings(name="dog", form=SignalForm.DATADOG, secret=SECRET),
            SignalSourceSettings(name="file", form=SignalForm.OSV, path="x"),
            SignalSourceSettings(name="am", form=SignalForm.ALERTMANAGER, secret=SECRET),
        )
        return SignalReceiver(
            sources={each.name: each for each in sources},
            ledger=self.kept,
            clock=Noon(),
            parse=_parse,
            recorded=self._recorded,
            sns=SnsMessages(site=self.site),
        )

    async def _recorded(self) -> None:
        self.told += 1


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        raise Malformed("The body is not JSON.") from None


def inbound(body: Any, **headers: str) -> Inbound:
    async def read() -> bytes:
        return json.dumps(body).encode()

    return Inbound(method="POST", target="/", headers=tuple(headers.items()), read_body=read, received_at=NOW)


async def test_an_alarm_comes_through_its_topic() -> None:
    desk = Desk()
    receipt = await desk.intake().receive("topic", inbound(signed(Message=json.dumps(MESSAGE))))
    assert (receipt.received, receipt.changed, receipt.unmapped, desk.told) == (1, 1, 0, 1)
    [event] = desk.kept.events
    assert (event.source, event.name, event.scopes[0].stack) == ("topic", "Lag", "shop")


async def test_a_subscription_is_confirmed_and_no_signal() -> None:
    desk = Desk()
    receipt = await desk.intake().receive("topic", inbound(signed(**CONFIRM)))
    assert (receipt.received, desk.kept.events, len(desk.site.confirmed)) == (0, [], 1)


async def test_what_concerns_nothing_is_counted() -> None:
    receipt = await Desk().intake().receive("dog", inbound(MONITOR, authorization=f"Bearer {SECRET}"))
    assert (receipt.received, receipt.unmapped) == (1, 1)


@pytest.mark.parametrize("name", ["nobody", "file", "", "dog/../topic"])
async def test_a_source_that_sends_nothing_is_refused(name: str) -> None:
    with pytest.raises(NotAuthenticated):
        await Desk().intake().receive(name, inbound(MONITOR, authorization=f"Bearer {SECRET}"))


@pytest.mark.parametrize(
    "content",
    ["x", "[]", json.dumps({**MESSAGE, "StateChangeTime": (NOW + timedelta(hours=1)).isoformat()})],
)
async def test_a_signed_message_that_cannot_be_read_changes_nothing(content: str) -> None:
    desk = Desk()
    with pytest.raises(Malformed):
        await desk.intake().receive("topic", inbound(signed(Message=content)))
    assert (desk.kept.events, desk.told) == ([], 0)


async def test_a_message_holds_a_limited_number_of_signals() -> None:
    alert = {"status": "firing", "startsAt": NOW.isoformat()}
    for number in (MOST_EVENTS, MOST_EVENTS + 1):
        alerts = [{**alert, "fingerprint": str(each)} for each in range(number)]
        desk = Desk()
        work = desk.intake().receive("am", inbound({"alerts": alerts}, authorization=f"Bearer {SECRET}"))
        if number == MOST_EVENTS:
            assert (await work).changed == number
            assert {event.state for event in desk.kept.events} == {SignalState.OPEN}
        else:
            with pytest.raises(Malformed, match="501"):
                await work
