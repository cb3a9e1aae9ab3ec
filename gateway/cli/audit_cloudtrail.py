"""`sentinel audit-cloudtrail` compares the ledger with CloudTrail: foreign, missing and differing writes."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import Config, Json, time_of
from gateway.cli.output import console, log_to_stderr, run, show_json
from gateway.core.cloudtrail_files import event_files, read_records, unwrapped
from gateway.core.errors import EventsInvalid, Malformed
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.presentation.serialize import time_to_json

if TYPE_CHECKING:
    from gateway.cli.trail_audit import Audit, Logged, Sent
    from gateway.core.settings import Settings
    from gateway.ledger.ledger import SqlLedger

DIFFERS: Final = 2
"""The exit code if anything was found."""
_PAGE: Final = 500
_MOST: Final = 200_000
"""Mutations, and events, that are compared at once: some 400 MB."""
_AROUND: Final = timedelta(minutes=15)
"""How much later than its call an outcome may be recorded, and a little more."""


def audit_cloudtrail(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files of CloudTrail (JSON, also gzip), or directories of them; or --lookup.", metavar="FILES"
        ),
    ] = None,
    *,
    lookup: Annotated[
        bool,
        typer.Option("--lookup", help="Ask CloudTrail (LookupEvents) with the credentials of this environment."),
    ] = False,
    region: Annotated[
        list[str] | None,
        typer.Option(help="A region to look up. May be repeated. Default: the settings' default region."),
    ] = None,
    since: Annotated[
        str, typer.Option(help="From when: a time or an age, e.g. 1d. With --lookup: 1d by default.")
    ] = "",
    until: Annotated[str, typer.Option(help="Until when: a time or an age.")] = "",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Compare the ledger with CloudTrail, and list writes that Sentinel did not send, that CloudTrail does not tell, and that differ.

    CloudTrail tells an event within some 15 minutes: leave these out with --until 15m. Exit code 2 if anything was found.
    """
    settings = settings_or_exit(config_file(config), as_json=as_json)

    async def work() -> "Audit":
        if bool(files) is lookup:
            raise Malformed("Name files of CloudTrail, or ask it with --lookup. Nothing was compared.")
        first, last = time_of(since or ("1d" if lookup else "")), time_of(until)
        if files:
            records = _of_files(files)
        else:
            records = _looked_up(settings, region or [settings.upstream.default_region], first, last)
        return await _audit(settings, records, first, last)

    done = run(work(), as_json=as_json)
    _show(done, as_json=as_json)
    if done.findings or done.unread:
        raise typer.Exit(DIFFERS)


async def _audit(
    settings: "Settings", records: Iterator[Any], first: datetime | None, last: datetime | None
) -> "Audit":
    log_to_stderr()
    from gateway.cli.trail_audit import audited, logged_writes
    from gateway.ledger.sealed_ledger import open_sealed_ledger

    require_ledger(settings)
    events, unread = logged_writes(records)
    events = [each for each in events if (first is None or first <= each.at) and (last is None or each.at <= last)]
    if len(events) > _MOST:
        raise Malformed(
            f"The files have more than {_MOST} writes. Nothing was compared; narrow them with --since and --until."
        )
    async with open_sealed_ledger(settings) as ledger:
        sent = await _sent(ledger, events)
    return audited(sent, events, unread=unread)


def _of_files(files: Sequence[Path]) -> Iterator[Any]:
    """The records of the files. Raises `errors.EventsInvalid`."""
    for path in files:
        found = event_files(path)
        if not found:
            message = f"There are no files of CloudTrail (*.json, *.json.gz) in {path}. Nothing was compared."
            raise EventsInvalid(message)
        for file in found:
            yield from map(unwrapped, read_records(file))


def _looked_up(
    settings: "Settings", regions: Sequence[str], first: datetime | None, last: datetime | None
) -> Iterator[Any]:
    """The records that CloudTrail tells. Raises `errors.EventsInvalid`."""
    from botocore.exceptions import BotoCoreError, ClientError

    from gateway.cli.aws_clients import aws_clients

    given: dict[str, Any] = {"LookupAttributes": [{"AttributeKey": "ReadOnly", "AttributeValue": "false"}]}
    given |= {name: value for name, value in (("StartTime", first), ("EndTime", last)) if value is not None}
    for region in regions:
        try:
            for page in aws_clients(settings, region)("cloudtrail").get_paginator("lookup_events").paginate(**given):
                yield from map(unwrapped, page["Events"])
        except (BotoCoreError, ClientError) as error:
            message = f"CloudTrail in {region} could not be asked ({error}). Nothing was compared."
            raise EventsInvalid(message) from error


async def _sent(ledger: "SqlLedger", events: "Sequence[Logged]") -> "list[Sent]":
    """The mutations that were sent while the events happened. Raises `errors.Malformed` for too many."""
    from gateway.cli.trail_audit import Sent

    if not events:
        return []
    first, last = min(each.at for each in events) - _AROUND, max(each.at for each in events) + _AROUND
    decided = {each.mutation_id: each async for each in _records(ledger, Stage.DECIDED, first, last)}
    outcomes: dict[str, tuple[Record, str]] = {}
    async for record in _records(ledger, Stage.SETTLED, first, None):
        body: Any = record.body
        earlier = outcomes.get(record.mutation_id)
        outcomes[record.mutation_id] = record, body.request_id or (earlier[1] if earlier else "")
    found = []
    for name, (settled, request_id) in outcomes.items():
        record_of_decision = decided.get(name)
        outcome: Any = settled.body
        if record_of_decision is None or (outcome.outcome == "failed" and outcome.code == "NotSent"):
            continue
        decision: Any = record_of_decision.body
        call = decision.call
        found.append(
            Sent(
                id=name,
                at=record_of_decision.at,
                actor=record_of_decision.actor,
                service=call.service,
                operation=call.operation,
                account=call.account,
                region=call.region,
                call_class=call.call_class,
                parameters=call.parameters if call.whole else {},
                outcome=outcome.outcome,
                request_id=request_id,
            )
        )
    return found


async def _records(ledger: "SqlLedger", stage: Stage, first: datetime, last: datetime | None) -> Any:
    """The records of a stage, oldest first."""
    after = count = 0
    while True:
        query = RecordQuery(stage=stage, since=first, until=last, after_seq=after, limit=_PAGE, newest_first=False)
        page = await ledger.records(query)
        for record in page:
            yield record
        count += len(page)
        if len(page) < _PAGE:
            return
        if count > _MOST:
            raise Malformed(
                f"The ledger has more than {_MOST} changes in that time. Nothing was compared; narrow it with --since and --until."
            )
        after = page[-1].seq


def _show(done: "Audit", *, as_json: bool) -> None:
    from gateway.cli.trail_audit import MOST_LISTED

    if as_json:
        listed = [{**asdict(each), "at": time_to_json(each.at)} for each in done.findings]
        show_json({**{name: value for name, value in asdict(done).items() if name != "findings"}, "findings": listed})
        return
    for each in done.findings[:MOST_LISTED]:
        who = " ".join(part for part in (each.mutation, each.event) if part)
        console.print(f"{each.kind}: {each.call} at {time_to_json(each.at)} ({who})", markup=False)
        console.print(f"    {each.why}", markup=False)
    if len(done.findings) > MOST_LISTED:
        console.print(f"{len(done.findings) - MOST_LISTED} more are not listed; --json has all.", markup=False)
    counts = {kind: sum(each.kind == kind for each in done.findings) for kind in ("foreign", "missing", "differing")}
    console.print(
        f"{done.events} write(s) in the trail, {done.matched} mutation(s) matched: "
        + ", ".join(f"{count} {kind}" for kind, count in counts.items())
        + f". {done.by_services} by AWS's own services, {done.passed} passed calls on data, {done.not_covered} mutation(s) that the events do not cover"
        + (f", {done.unread} record(s) that are no events." if done.unread else "."),
        markup=False,
    )
