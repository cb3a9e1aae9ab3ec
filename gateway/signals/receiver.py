"""Receives the messages of the sources: verifies each before it is parsed, reads it by its form, maps it to resources and records it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import structlog

from gateway.core.errors import Malformed
from gateway.core.model.inbound import Inbound
from gateway.core.model.signal import SignalEvent
from gateway.core.off_loop import off_loop, work_for_stranger
from gateway.core.ports import Clock, SignalLedger
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from gateway.signals.forms import alertmanager, cloudwatch, datadog, eventbridge, pagerduty, standard
from gateway.signals.forms.fields import mapping
from gateway.signals.message_proof import refused, verified_body
from gateway.signals.scopes import mapped

if TYPE_CHECKING:
    from gateway.signals.sns import SnsMessages

log = structlog.get_logger()

MOST_EVENTS: Final = 500
"""Signals in one message."""
_AHEAD: Final = timedelta(minutes=5)
"""How far the clock of a source may be ahead. An event of next year could not be closed until then."""

Reader = Callable[[str, Mapping[str, Any]], list[SignalEvent]]
_READERS: Final[Mapping[SignalForm, Reader]] = {
    SignalForm.ALERTMANAGER: alertmanager.read,
    SignalForm.STANDARD: standard.read,
    SignalForm.SNS: cloudwatch.read,
    SignalForm.EVENTBRIDGE: eventbridge.read,
    SignalForm.PAGERDUTY: pagerduty.read,
    SignalForm.DATADOG: datadog.read,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The result of one message."""

    received: int
    """Signals that it is about."""
    changed: int
    """Signals among them that the message changed."""
    unmapped: int
    """Signals among them that concern no resource by the settings, so that they prove nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReceiver:
    """The sources of the settings, and the ledger that their signals go to."""

    sources: Mapping[str, SignalSourceSettings]
    ledger: SignalLedger
    clock: Clock
    parse: Callable[[bytes], Any]
    """Parses JSON strictly. Raises `errors.Malformed`."""
    recorded: Callable[[], Awaitable[None]]
    """Called when the ledger has changed."""
    sns: "SnsMessages | None"
    """None if no source is a topic of SNS."""

    async def receive(self, name: str, inbound: Inbound) -> Receipt:
        """Take one message. Raises `errors.NotAuthenticated`, `errors.Malformed`, `errors.Overloaded`, `errors.LedgerUnavailable`."""
        source = self.sources.get(name)
        if source is None or source.form not in _READERS:
            raise refused()
        now = self.clock.now()
        work_for_stranger(inbound.peer)
        document = await self._document(source, inbound, now)
        if document is None:
            return Receipt(received=0, changed=0, unmapped=0)
        events = _checked([mapped(event, source) for event in _READERS[source.form](name, document)], now)
        changed = await self.ledger.record_signals(events, now)
        if changed:
            await self.recorded()
        unmapped = sum(not event.scopes for event in events)
        log.info("signals_received", source=name, received=len(events), changed=changed, unmapped=unmapped)
        return Receipt(received=len(events), changed=changed, unmapped=unmapped)

    async def _document(
        self, source: SignalSourceSettings, inbound: Inbound, now: datetime
    ) -> Mapping[str, Any] | None:
        """The parsed message, proven to come from the source; None if it holds no signal."""
        if source.form is not SignalForm.SNS:
            return await self._parsed(await verified_body(source, inbound))
        if self.sns is None:
            raise refused()
        # SNS signs the members of a flat JSON object, so the object is parsed first. Its message is parsed only after the signature was verified.
        content = await self.sns.content(source, await self._parsed(await inbound.read_body()), now)
        return None if content is None else await self._parsed(content.encode())

    async def _parsed(self, body: bytes) -> Mapping[str, Any]:
        return mapping(await off_loop(len(body), lambda: self.parse(body)), "body")


def _checked(events: Sequence[SignalEvent], now: datetime) -> Sequence[SignalEvent]:
    if len(events) > MOST_EVENTS:
        raise Malformed(
            f"The message is about {len(events)} signals, and {MOST_EVENTS} are the most. Nothing of it was taken."
        )
    late = next((event for event in events if event.at > now + _AHEAD), None)
    if late is not None:
        raise Malformed(
            f"The message says that {late.name!r} changes at {late.at.isoformat()}, which is in the future. Nothing of it was taken; compare the clocks."
        )
    return events
