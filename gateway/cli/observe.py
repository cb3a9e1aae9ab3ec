"""`sentinel observe report`: what the gateway would have refused or held in the stacks that it only observes, and what it did not understand."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import Config, Json, time_of
from gateway.cli.output import console, fail, log_to_stderr, run, safe, show_json, show_table
from gateway.core.errors import Malformed
from gateway.core.model.verdict import Mode, Verdict
from gateway.core.times import utc_cell, utc_text

if TYPE_CHECKING:
    from gateway.core.ports import LedgerQueries
    from gateway.core.records.decided import DecidedBody, RecordedFinding
    from gateway.core.records.record import Record
    from gateway.core.settings import Settings

_PAGE: Final = 1_000
_MOST_RECORDS: Final = 100_000
"""Decisions of each verdict that are read."""
_MOST_ROWS: Final = 1_000
"""Rows of each list. A report with more is cut, and says so."""

observe_app = typer.Typer(
    add_completion=False, help="What enforcing would change in stacks that are only observed.", no_args_is_help=True
)


@observe_app.callback()
def observe() -> None:
    """What enforcing would change in stacks that are only observed."""


@dataclass(slots=True)
class _Row:
    """Calls that one rule would have stopped, or that nobody understood."""

    example: Mapping[str, Any]
    """What is the same for all of them, and of the newest its reason and mutation."""
    count: int = 0
    first: str = ""


@dataclass(slots=True)
class _Report:
    """What was found so far."""

    observed: int = 0
    would: dict[tuple[str, ...], _Row] = field(default_factory=dict)
    not_understood: dict[tuple[str, ...], _Row] = field(default_factory=dict)
    more: bool = False

    def add(self, record: "Record", body: "DecidedBody[Any]") -> None:
        """Count a decision, newest first."""
        self.observed += 1
        objections = body.decision.objections
        if not body.effects and body.plan is None:
            why = objections[0].reason if objections else ""
            self._count(self.not_understood, (record.stack, body.call.name, record.actor), record, reason=why)
            return
        for finding in {each.rule: each for each in objections}.values():
            key = (record.stack, finding.verdict.value, finding.rule, body.call.name, record.actor)
            self._count(self.would, key, record, **_said(finding))

    def _count(self, rows: dict[tuple[str, ...], _Row], key: tuple[str, ...], record: "Record", **said: str) -> None:
        if key not in rows:
            if len(rows) >= _MOST_ROWS:
                self.more = True
                return
            operation, actor = key[-2:]
            same = {"stack": record.stack, "operation": operation, "actor": actor}
            rows[key] = _Row(example={**same, **said, "mutation": record.mutation_id, "last": utc_text(record.at)})
        rows[key].count += 1
        rows[key].first = utc_text(record.at)

    def to_json(self) -> dict[str, Any]:
        """The report as one JSON document, the most frequent first."""
        return {
            "observed": self.observed,
            "would": _listed(self.would),
            "not_understood": _listed(self.not_understood),
            "more": self.more,
        }


def _said(finding: "RecordedFinding") -> dict[str, str]:
    return {"verdict": finding.verdict.value, "rule": finding.rule, "title": finding.title, "reason": finding.reason}


def _listed(rows: Mapping[tuple[str, ...], _Row]) -> list[dict[str, Any]]:
    ordered = sorted(rows.items(), key=lambda item: (-item[1].count, item[0]))
    return [{"count": row.count, **row.example, "first": row.first} for _, row in ordered]


@observe_app.command("report")
def report_command(
    *,
    since: Annotated[str, typer.Option(help="A time (2026-11-21T09:00:00Z) or an age (1h, 2d, 1w).")] = "1w",
    stack: Annotated[str, typer.Option(help="Only calls on this stack.")] = "",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the calls that were sent because their stack only observes: which rule would refuse or hold them, and which nobody understands.

    It reads the ledger itself, on the host of the gateway. When the lists hold nothing that should pass, set `mode = "enforce"`.
    """
    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        begin = time_of(since)
    except Malformed as error:
        fail(error, as_json=as_json)
    found = run(_report(settings, stack, begin), as_json=as_json)
    if as_json:
        show_json({"report": found})
        return
    _show(found)


async def _report(settings: "Settings", stack: str, since: datetime | None) -> dict[str, Any]:
    log_to_stderr()
    from gateway.ledger.sealed_ledger import open_sealed_ledger

    require_ledger(settings)
    report = _Report()
    async with open_sealed_ledger(settings) as ledger:
        for verdict in (Verdict.DENY, Verdict.HOLD):
            async for record, body in _observed(ledger, verdict, since, report):
                if stack in ("", record.stack):
                    report.add(record, body)
    return report.to_json()


async def _observed(
    ledger: "LedgerQueries", verdict: Verdict, since: datetime | None, report: _Report
) -> AsyncIterator[tuple["Record", "DecidedBody[Any]"]]:
    """The decisions with this verdict that were carried out all the same, newest first."""
    from gateway.core.ports import RecordQuery
    from gateway.core.records.decided import DecidedBody
    from gateway.core.records.record import Stage

    before = 0
    for _ in range(_MOST_RECORDS // _PAGE):
        query = RecordQuery(stage=Stage.DECIDED, verdict=verdict.value, since=since, limit=_PAGE, before_seq=before)
        records = await ledger.records(query)
        for record in records:
            body = record.body
            observed = isinstance(body, DecidedBody) and body.decision.mode is Mode.OBSERVE
            if isinstance(body, DecidedBody) and observed and body.decision.carried_out:
                yield record, body
        if len(records) < _PAGE:
            return
        before = records[-1].seq
    report.more = True


def _show(found: Mapping[str, Any]) -> None:
    if not found["observed"]:
        console.print("Nothing was observed that enforcing would refuse or hold.")
        return
    if found["would"]:
        rows = [[*_cells(each), each["verdict"], f"{each['rule']}: {each['reason']}"] for each in found["would"]]
        show_table("Enforcing would refuse or hold", [*_COLUMNS, "verdict", "rule: reason"], rows)
    if found["not_understood"]:
        unknown = [[*_cells(each), each["reason"]] for each in found["not_understood"]]
        show_table("Not understood: enforcing would hold", [*_COLUMNS, "reason"], unknown)
    if found["more"]:
        console.print("There is more than this report takes in. Narrow it down with --since and --stack.")
    console.print(f"{found['observed']} calls were sent only because their stack observes.")


_COLUMNS: Final = ("times", "last", "stack", "operation", "actor", "mutation")


def _cells(each: Mapping[str, Any]) -> list[str]:
    return [
        str(each["count"]),
        utc_cell(each["last"]),
        each["stack"],
        safe(each["operation"]),
        each["actor"],
        each["mutation"],
    ]
