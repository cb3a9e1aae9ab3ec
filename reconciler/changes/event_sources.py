"""The sources of CloudTrail's events: files, the bucket that CloudTrail delivers to, LookupEvents, or a queue that EventBridge fills.

The calls go through the gateway, as reads and data-plane calls of the reconciler's own key. What is read is old events: nothing waits for them.
"""

import asyncio
import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

import structlog

from gateway.core.cloudtrail_files import LARGEST, event_files, parse_records, read_records, unwrapped
from gateway.core.errors import EventsInvalid
from gateway.core.json_reader import JsonRefused, read_json
from gateway.core.settings.publish import EventSourceKind, EventSourceSettings
from reconciler.changes.cloudtrail import Event, events_of, principal_of

log = structlog.get_logger()

_MOST_FILES: Final = 2_000
MOST_EVENTS: Final = 20_000
"""Events of one source that one look takes into account: changes by others since then, the latest."""
_BATCHES: Final = 20
_BATCH: Final = 10
Client = Callable[[str], Any]
"""Makes a boto3 client of a service, in the region of the source."""


class EventSource(Protocol):
    """One place where events are."""

    name: str

    def read(self, since: datetime) -> Iterable[Any]:
        """The raw records of events since then. May raise anything that its client raises."""
        ...

    def done(self) -> None:
        """The events that were read are recorded, so they need not be read again."""
        ...


@dataclass(slots=True, kw_only=True)
class FileSource:
    """A file, or a directory as CloudTrail delivers it."""

    path: Path
    name: str = "files"

    def read(self, since: datetime) -> Iterable[Any]:
        """The records of files that changed since then, the latest first. A file that cannot be read is logged and hides no other."""
        for _, file in heapq.nlargest(_MOST_FILES, self._changed(since.timestamp())):
            try:
                yield from read_records(file)
            except EventsInvalid as error:
                log.error("events_not_read", source=self.name, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback

    def _changed(self, since: float) -> Iterator[tuple[float, Path]]:
        for file in event_files(self.path):
            try:
                changed = file.stat().st_mtime
            except OSError as error:
                log.error("events_not_read", source=self.name, error=str(error))  # noqa: TRY400  one line
                continue
            if changed >= since:
                yield changed, file

    def done(self) -> None:
        """Files stay."""


@dataclass(slots=True, kw_only=True)
class BucketSource:
    """The bucket that CloudTrail delivers to."""

    bucket: str
    prefix: str
    client: Client
    name: str = "bucket"

    def read(self, since: datetime) -> Iterable[Any]:
        """The records of objects that were written since then, the latest first. One that cannot be read is logged and hides no other."""
        s3 = self.client("s3")
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix)
        written = (
            (entry["LastModified"], entry["Key"])
            for page in pages
            for entry in page.get("Contents", ())
            if entry["LastModified"] >= since and _is_of_events(entry["Key"])
        )
        for _, key in heapq.nlargest(_MOST_FILES, written):
            name = f"s3://{self.bucket}/{key}"
            try:
                yield from parse_records(s3.get_object(Bucket=self.bucket, Key=key)["Body"].read(LARGEST + 1), name)
            except EventsInvalid as error:
                log.error("events_not_read", source=self.name, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback

    def done(self) -> None:
        """Objects stay."""


@dataclass(slots=True, kw_only=True)
class LookupSource:
    """CloudTrail's own memory of ninety days; AWS answers twice a second at most."""

    client: Client
    name: str = "lookup"

    def read(self, since: datetime) -> Iterable[Any]:
        """The records of changes since then, the latest first."""
        pages = (
            self.client("cloudtrail")
            .get_paginator("lookup_events")
            .paginate(
                LookupAttributes=[{"AttributeKey": "ReadOnly", "AttributeValue": "false"}],
                StartTime=since,
                PaginationConfig={"MaxItems": MOST_EVENTS},
            )
        )
        for page in pages:
            yield from page.get("Events", ())

    def done(self) -> None:
        """Nothing is taken away."""


@dataclass(slots=True, kw_only=True)
class QueueSource:
    """An SQS queue that EventBridge fills with `AWS API Call via CloudTrail`. A message is deleted only after what it tells is recorded."""

    url: str
    client: Client
    name: str = "queue"
    kept: list[Any] = field(default_factory=list)
    """Records that were received, also earlier: the drift that they explain may be seen later."""
    handles: list[str] = field(default_factory=list)

    def read(self, since: datetime) -> Iterable[Any]:
        """The records of messages that wait, and of those since then that were received before."""
        sqs = self.client("sqs")
        for _ in range(_BATCHES):
            reply = sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=_BATCH, WaitTimeSeconds=0)
            messages = reply.get("Messages", ())
            if not messages:
                break
            for message in messages:
                self.handles.append(message["ReceiptHandle"])
                self.kept += _detail(message.get("Body", ""))
        self.kept = [record for record in self.kept if _at(record) >= since][-MOST_EVENTS:]
        return self.kept

    def done(self) -> None:
        """Delete the messages."""
        sqs = self.client("sqs")
        while self.handles:
            sqs.delete_message(QueueUrl=self.url, ReceiptHandle=self.handles[0])
            self.handles.pop(0)


@dataclass(slots=True, kw_only=True)
class EventSources:
    """All of them. One that fails hides none of the others: drift is then found without knowing who made it."""

    sources: Sequence[EventSource] = ()
    identity: str = ""
    """ARN of the gateway's own role or user, whose events are no changes from outside."""
    assumed: tuple[str, ...] = ()
    """ARNs of the roles that the gateway assumes to send, whose events are none either."""

    async def since(self, at: datetime) -> tuple[Event, ...]:
        """The events of others since then."""
        return await asyncio.to_thread(lambda: tuple(self._since(at)))

    async def done(self) -> None:
        """The events that were read are recorded."""
        await asyncio.to_thread(self._done)

    def _since(self, at: datetime) -> Iterator[Event]:
        for source in self.sources:
            found: list[Event] = []
            try:
                found.extend(islice(self._of_others(source, at), MOST_EVENTS))
            except Exception as error:  # noqa: BLE001  whatever a client raises, the others are read
                log.error("events_not_read", source=source.name, error=f"{type(error).__name__}: {error}"[:500])  # noqa: TRY400  one line
            if len(found) == MOST_EVENTS:
                log.warning("events_not_all_read", source=source.name, kept=MOST_EVENTS)
            yield from found

    def _of_others(self, source: EventSource, at: datetime) -> Iterator[Event]:
        """One event after the other, so that only those that count are in memory."""
        for raw in source.read(at):
            record = unwrapped(raw)
            if not self._is_own(record):
                yield from (event for event in events_of([record], source.name).events if event.origin.at >= at)

    def _done(self) -> None:
        for source in self.sources:
            try:
                source.done()
            except Exception as error:  # noqa: BLE001  they are delivered again
                log.error("events_not_acknowledged", source=source.name, error=f"{type(error).__name__}: {error}"[:500])  # noqa: TRY400  one line

    def _is_own(self, record: Any) -> bool:
        who = record.get("userIdentity") if isinstance(record, dict) else None
        principal = principal_of(who) if isinstance(who, dict) else ""
        return bool(principal) and principal in (self.identity, *self.assumed)


def open_sources(
    given: Sequence[EventSourceSettings],
    client: Callable[[str, str], Any],
    *,
    identity: str,
    assumed: tuple[str, ...] = (),
) -> EventSources:
    """The sources that the settings name. `client` makes a boto3 client of a service in a region."""
    opened = tuple(_open(each, partial(_client_in, client, each.region)) for each in given)
    return EventSources(sources=opened, identity=identity, assumed=assumed)


def _client_in(client: Callable[[str, str], Any], region: str, service: str) -> Any:
    return client(service, region)


def _open(given: EventSourceSettings, client: Client) -> EventSource:
    match given.kind:
        case EventSourceKind.FILES:
            assert given.path is not None  # noqa: S101  the settings were validated
            return FileSource(path=given.path)
        case EventSourceKind.BUCKET:
            return BucketSource(bucket=given.bucket, prefix=given.prefix, client=client)
        case EventSourceKind.LOOKUP:
            return LookupSource(client=client)
        case EventSourceKind.QUEUE:
            return QueueSource(url=given.url, client=client)


def _is_of_events(key: str) -> bool:
    return key.endswith((".json", ".json.gz")) and "/CloudTrail-Digest/" not in key


def _detail(body: str) -> list[Any]:
    """The record in EventBridge's envelope; a message of another kind holds none."""
    try:
        envelope = read_json(body)
    except JsonRefused:
        return []
    detail = envelope.get("detail") if isinstance(envelope, dict) else None
    return [detail] if isinstance(detail, dict) and "eventName" in detail else []


def _at(record: Any) -> datetime:
    try:
        at = datetime.fromisoformat(str(record.get("eventTime")))
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
