"""Tells one receiver what was recorded, in the order of the records: reads on, sends what is due, records what came of it."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Protocol

import msgspec
import structlog

from gateway.core.errors import SentinelError
from gateway.core.model.ids import digest_id
from gateway.core.model.json import Json
from gateway.core.ports import Clock, RecordQuery
from gateway.core.records.notices import NotifiedBody, ResendAskedBody
from gateway.core.records.record import Record, Stage
from gateway.core.settings import Settings
from gateway.notices.content import notice_of
from reconciler.notify.outbox import DeliveryAttempt, OpenNotice, Outbox
from reconciler.notify.posted_cards import posted_cards
from reconciler.notify.receivers import Post, PostAnswer, Receiver, WebhookReceiver
from reconciler.notify.slack import SlackReceiver

log = structlog.get_logger()

_PAGE: Final = 200
_QUIET: Final = 10_000
"""Records that are looked at without a delivery before the position is recorded, so that a start reads no more than this again."""
_PAUSE: Final = 5.0
"""Seconds before a round that failed is tried again."""
_CARD_RETRIES: Final = (5.0, 60.0, 600.0, 3600.0)
"""A card is of little use much later."""


class NoticeLedger(Protocol):
    """The ledger, as far as notices need it."""

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The matching records."""
        ...

    async def changed_since(self, seq: int) -> tuple[int, Sequence[str]]:
        """For -1, the number of the last record."""
        ...

    async def record_event(
        self, record: Record, *, resources: Sequence[tuple[str, str]] = (), repeat: bool = False
    ) -> bool:
        """Append a record."""
        ...


class NoticeRuns(Protocol):
    """Runs a batch durably."""

    def deliver(self, name: str, outbox: Mapping[str, Json], keys: Sequence[tuple[int, int]]) -> Awaitable[object]:
        """Send these notices and record what came of it."""
        ...


@dataclass(slots=True, kw_only=True)
class ReceiverWorker:
    """Tells one receiver; each has a worker of its own, so that a slow one holds up no other."""

    receiver: Receiver
    ledger: NoticeLedger
    clock: Clock
    outbox: Outbox = field(default_factory=lambda: Outbox(read=-1))
    recorded: int = -1
    """The position in the last record."""

    @property
    def id(self) -> str:
        """What its records have as `mutation_id`."""
        return digest_id("whk", self.receiver.name)

    async def run(self, runs: NoticeRuns, poll_seconds: float, stop: asyncio.Event) -> None:
        """Deliver until `stop` is set. What fails is logged and tried again."""
        pause = poll_seconds
        while not stop.is_set():
            try:
                pause = 0.0 if await self.run_once(runs) else poll_seconds
            except SentinelError as error:
                log.error("notices_wait", receiver=self.receiver.name, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback
                pause = _PAUSE
            except Exception as error:  # noqa: BLE001  a traceback could show a URL; one receiver must not end the others
                log.error("notices_broke", receiver=self.receiver.name, error=type(error).__name__)  # noqa: TRY400  as above
                pause = _PAUSE
            try:
                await asyncio.wait_for(stop.wait(), pause)
            except TimeoutError:
                continue

    async def run_once(self, runs: NoticeRuns) -> int:
        """Read what is new and try what is due; how many were tried, or 1 if only the position was recorded. The ledger's last word counts,
        never what this process remembers.
        """
        await self.resume()
        await self.read_on()
        due = self.outbox.due(self.clock.now().timestamp())
        if due:
            outbox, self.outbox = self.outbox, Outbox(read=-1)  # what is recorded counts, also if this fails
            await runs.deliver(self.receiver.name, outbox.to_json(), [notice.key for notice in due])
        elif self.outbox.read - self.recorded >= _QUIET:
            outbox, self.outbox = self.outbox, Outbox(read=-1)
            await self._append(outbox, [])
            return 1
        return len(due)

    async def resume(self) -> None:
        """Go on where the last record says; a receiver that has none begins with what is recorded from now on."""
        if self.outbox.read >= 0:
            return
        last = await self._last()
        if last is None:
            end, _ = await self.ledger.changed_since(-1)
            await self._append(Outbox(read=end), [])
            last = await self._last()
        if last is not None:
            self.outbox = replace(Outbox.from_json(last.body.members), based_on=last.seq)
            self.recorded = self.outbox.read

    async def read_on(self) -> None:
        """Look at the records that are new, as long as there is room, and no more than a start may have to read again."""
        while not self.outbox.full and self.outbox.read - self.recorded < _QUIET:
            query = RecordQuery(after_seq=self.outbox.read, limit=_PAGE, newest_first=False)
            page = await self.ledger.records(query)
            for record in page:
                self.outbox = self.outbox.with_record(record.seq, *self._notices_of(record))
                if self.outbox.full:
                    return
            if len(page) < _PAGE:
                return

    def _notices_of(self, record: Record) -> Sequence[OpenNotice]:
        """The notices of a record for this receiver: one, or none."""
        if isinstance(record.body, ResendAskedBody):
            mine = record.body.receiver == self.receiver.name
            return [OpenNotice(seq=record.body.seq, mutation_id="", asked=record.seq)] if mine else []
        notice = notice_of(record)
        if notice is None or not self.receiver.fits(notice):
            return []
        return [OpenNotice(seq=record.seq, mutation_id=record.mutation_id)]

    async def send(self, keys: Sequence[tuple[int, int]]) -> list[dict[str, Json]]:
        """Send these notices, each once and all at the same time; what the receiver answered. Raises `errors.LedgerUnavailable`."""
        records = [await self._record(seq) for seq, _ in keys]
        post = self.receiver.open()
        attempts = [self._attempt(post, record, *key) for record, key in zip(records, keys, strict=True)]
        return [asdict(each) for each in await asyncio.gather(*attempts)]

    async def record(self, outbox: Mapping[str, Json], attempted: Sequence[Mapping[str, Any]]) -> None:
        """Record what came of a batch, and what still waits. Raises `errors.LedgerUnavailable`."""
        answers = [DeliveryAttempt(**each) for each in attempted]
        now = self.clock.now().timestamp()
        after, results = Outbox.from_json(outbox).after(answers, now, self.receiver.schedule)
        await self._append(after, results)

    async def _append(self, outbox: Outbox, results: list[dict[str, Json]]) -> None:
        """Record, unless something else follows the same record already: a killed process had come so far, or a second one delivers."""
        last = await self._last()
        if (last.seq if last else 0) != outbox.based_on:
            log.warning("notices_recorded_already", receiver=self.receiver.name)
            return
        body = msgspec.convert({"receiver": self.receiver.name, **outbox.to_json(), "results": results}, NotifiedBody)
        record = Record(at=self.clock.now(), mutation_id=self.id, body=body)
        await self.ledger.record_event(record, repeat=True)

    async def _last(self) -> Record | None:
        """The last record about this receiver."""
        found = await self.ledger.records(RecordQuery(mutation_id=self.id, stage=Stage.NOTIFIED, limit=1))
        return found[0] if found else None

    async def _attempt(self, post: Post, record: Record | None, seq: int, asked: int) -> DeliveryAttempt:
        notice = notice_of(record) if record else None
        attempt = DeliveryAttempt(seq=seq, asked=asked, id="", type="", mutation_id="")
        if record is None or notice is None:
            return replace(attempt, error="Nobody is told of this record, or there is none.", for_good=True)
        attempt = replace(attempt, id=notice.id, type=notice.type.value, mutation_id=notice.mutation_id)
        posted = await posted_cards(self.ledger, self.id, record) if self.receiver.ends_cards(record) else ()
        answer = PostAnswer()
        try:
            for each in self.receiver.sendings(notice, record, self.clock.now(), posted):
                answer = await post.send(each.body, each.headers, each.path)
                if answer.error:
                    break  # all are sent again, so each must be one that may come twice
        except SentinelError as error:
            return replace(attempt, error=str(error))
        return replace(
            attempt,
            status=answer.status,
            error=answer.error,
            retry_after=answer.retry_after,
            message="" if posted else answer.message,
        )

    async def _record(self, seq: int) -> Record | None:
        query = RecordQuery(after_seq=seq - 1, limit=1, newest_first=False)
        found = await self.ledger.records(query)
        return found[0] if found and found[0].seq == seq else None


def open_workers(settings: Settings, ledger: NoticeLedger, clock: Clock) -> Mapping[str, ReceiverWorker]:
    """A worker for each receiver of the settings, by name; none if no webhook and no chat is set."""
    receivers: list[Receiver] = [WebhookReceiver(settings=each) for each in settings.webhooks]
    slack = settings.chat.slack
    if slack.posts:
        receivers.append(SlackReceiver(settings=slack, public_url=settings.server.public_url, schedule=_CARD_RETRIES))
    return {each.name: ReceiverWorker(receiver=each, ledger=ledger, clock=clock) for each in receivers}
