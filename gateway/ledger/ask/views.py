"""The views that `sentinel query` reads: what records and claims say, in columns that are the same on SQLite and PostgreSQL.

They are made for one query, so they may change from version to version without a migration. `docs/investigators.md` documents every column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.ledger.store.forms import whole_sql


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """How one database reads JSON. All of these are SQL texts of ours; nothing of a request is in them."""

    postgresql: bool
    schema: str
    """The schema of the tables: a temporary view may have the name of a table."""

    def text(self, source: str, *path: str) -> str:
        """The text at a path; null if there is none."""
        return (
            f"({source} #>> '{{{','.join(path)}}}')"
            if self.postgresql
            else f"json_extract({source}, '$.{'.'.join(path)}')"
        )

    def json(self, source: str, *path: str) -> str:
        """The value at a path as JSON text."""
        if self.postgresql:
            return f"CAST({source} #> '{{{','.join(path)}}}' AS text)"
        return f"({source} -> '$.{'.'.join(path)}')"

    def flag(self, source: str, *path: str) -> str:
        """1 if the value at a path is true, else 0."""
        true = "'true'" if self.postgresql else "1"
        return f"(CASE WHEN {self.text(source, *path)} = {true} THEN 1 ELSE 0 END)"

    def number(self, source: str, *path: str) -> str:
        """The number at a path."""
        return f"CAST({self.text(source, *path)} AS numeric)" if self.postgresql else self.text(source, *path)

    @property
    def records(self) -> str:
        """The records as `r`."""
        if not self.postgresql:
            return f"{self.table('records')} AS r"
        # A subquery that is not pulled up: the body is put together and parsed once for a row, not once for a column.
        found = f"SELECT {self.parsed(self._whole)} AS body OFFSET 0"
        return f"{self.table('records')} AS r CROSS JOIN LATERAL ({found}) AS whole"

    @property
    def body(self) -> str:
        """The body of a record of `records`, to be read."""
        return "whole.body" if self.postgresql else self._whole

    @property
    def _whole(self) -> str:
        return whole_sql("r.body", self.table("forms"), postgresql=self.postgresql)

    def parsed(self, text: str) -> str:
        """Stored JSON, to be read. PostgreSQL has no text with a null character, so one is shown as its symbol."""
        return f"CAST(replace({text}, '\\u0000', '\\u2400') AS json)" if self.postgresql else text

    def each(self, source: str, *path: str) -> str:
        """A join with the elements of the list at a path: `item.value` is one, `item.key` its number from 0."""
        if self.postgresql:
            found = f"{source} #> '{{{','.join(path)}}}'"
            listed = f"json_array_elements(CASE WHEN json_typeof({found}) = 'array' THEN {found} END) WITH ORDINALITY"
            return f"CROSS JOIN LATERAL (SELECT value, ordinality - 1 AS key FROM {listed} AS l(value, ordinality)) AS item"  # noqa: S608  texts of ours
        return f"JOIN json_each({source}, '$.{'.'.join(path)}') AS item"

    def table(self, name: str) -> str:
        """A table of the ledger."""
        return f"{self.schema}.{name}"


def views(on: SqlDialect) -> Mapping[str, str]:
    """The SELECT of each view, by its name."""
    makers = (_mutations, _decisions, _findings, _effects, _claims, _approvals, _writebacks)
    return {make.__name__.removeprefix("_"): make(on) for make in makers}


VIEWS: Final = ("mutations", "decisions", "findings", "effects", "claims", "approvals", "writebacks")
"""Their names."""


def _select(columns: Mapping[str, str], source: str) -> str:
    return f"SELECT {', '.join(f'{text} AS {name}' for name, text in columns.items())} FROM {source}"  # noqa: S608  texts of ours


def _event(alias: str = "r") -> dict[str, str]:
    """What every view of records begins with."""
    return {
        "seq": f"{alias}.seq",
        "at": f"{alias}.at",
        "mutation": f"{alias}.mutation_id",
        "actor": f"{alias}.actor",
        "stack": f"{alias}.stack",
    }


def _mutations(on: SqlDialect) -> str:
    body = on.body
    # A plan is carried out by its session, whose calls have attempts of their own.
    ended = f"CASE WHEN {on.flag(body, 'decision', 'carried_out')} = 1 THEN 'opened' WHEN r.verdict = 'hold' THEN 'held' ELSE 'denied' END"
    columns = {
        **_event(),
        "kind": on.text(body, "caller", "kind"),
        "on_behalf_of": on.text(body, "caller", "on_behalf_of"),
        "key_id": "r.key_id",
        "door": on.text(body, "door"),
        "peer": on.text(body, "sender", "peer"),
        "user_agent": on.text(body, "sender", "user_agent"),
        "service": on.text(body, "call", "service"),
        "operation": on.text(body, "call", "operation"),
        "class": on.text(body, "call", "class"),
        "account": on.text(body, "call", "account"),
        "region": on.text(body, "call", "region"),
        "intent": "r.intent",
        "motivation": "r.motivation",
        "why": on.text(body, "motive", "text"),
        "evidence": on.json(body, "motive", "evidence"),
        "wanted_seconds": on.number(body, "motive", "wanted_seconds"),
        "verdict": "r.verdict",
        "mode": on.text(body, "decision", "mode"),
        "carried_out": on.flag(body, "decision", "carried_out"),
        "outcome": f"COALESCE(a.state, {ended})",
        "request_id": "COALESCE(a.request_id, '')",
        "trouble": "COALESCE(a.reason, '')",
    }
    joined = f"LEFT JOIN {on.table('attempts')} AS a ON a.mutation_id = r.mutation_id"
    return _select(columns, f"{on.records} {joined} WHERE r.stage = 'decided'")


def _decisions(on: SqlDialect) -> str:
    body = on.body
    item = "item.value"
    same = f"r.verdict <> 'allow' AND {on.text(item, 'verdict')} = r.verdict"

    def first(name: str) -> str:
        found = f"SELECT {on.text(item, name)} FROM (SELECT 1 AS one) AS once {on.each(body, 'decision', 'findings')}"  # noqa: S608  texts of ours
        return f"COALESCE(({found} WHERE {same} ORDER BY item.key LIMIT 1), '')"

    columns = {
        **_event(),
        "intent": "r.intent",
        "motivation": "r.motivation",
        "verdict": "r.verdict",
        "mode": on.text(body, "decision", "mode"),
        "carried_out": on.flag(body, "decision", "carried_out"),
        "rule": first("rule"),
        "reason": first("reason"),
        "approval": on.text(body, "decision", "approval"),
        "held_as": on.text(body, "decision", "attached"),
        "policies": on.text(body, "decision", "bundle"),
        "code": on.text(body, "decision", "code"),
        "priorities": on.text(body, "decision", "priorities"),
    }
    return _select(columns, f"{on.records} WHERE r.stage = 'decided'")


def _findings(on: SqlDialect) -> str:
    item = "item.value"
    columns = {
        **_event(),
        "number": "item.key + 1",
        **{
            name: on.text(item, name)
            for name in ("verdict", "rule", "title", "reason", "address", "attribute", "conflict", "source")
        },
        "check_name": on.text(item, "check"),
        "nearest": on.json(item, "offer", "nearest"),
        "holder": on.text(item, "offer", "holder"),
        "retry_after": on.text(item, "offer", "retry_after"),
    }
    found = on.each(on.body, "decision", "findings")
    return _select(columns, f"{on.records} {found} WHERE r.stage = 'decided'")


def _effects(on: SqlDialect) -> str:
    item, body = "item.value", on.body
    columns = {
        **_event(),
        "intent": "r.intent",
        "motivation": "r.motivation",
        "verdict": "r.verdict",
        "carried_out": on.flag(body, "decision", "carried_out"),
        "number": "item.key + 1",
        **{name: on.text(item, name) for name in ("address", "attribute", "action", "resource_type")},
        **{name: on.json(item, name) for name in ("before", "value", "declared")},
        "implied": on.flag(item, "implied"),
    }
    return _select(columns, f"{on.records} {on.each(body, 'effects')} WHERE r.stage = 'decided'")


def _claims(on: SqlDialect) -> str:
    motive, undone = on.parsed("c.motive"), on.parsed("NULLIF(c.undone, '')")
    columns = {
        "claim": "c.id",
        "mutation": "c.mutation_id",
        "address": "c.address",
        "attribute": "c.attribute",
        "value": "c.value",
        "holder": "c.actor",
        "kind": "c.kind",
        "intent": on.text(motive, "intent"),
        "motivation": "c.motivation",
        "why": on.text(motive, "text"),
        "since": "c.since",
        "until": "c.until",
        "is_open": "CASE WHEN c.ended_at IS NULL THEN 1 ELSE 0 END",
        "unsettled": "c.unsettled",
        "ended_at": "c.ended_at",
        "ended_how": 'c."end"',
        "ended_by": "c.ended_by",
        "proof": "c.proof",
        "undone_since": on.text(undone, "at"),
    }
    return _select(columns, f"{on.table('claims')} AS c")


def _approvals(on: SqlDialect) -> str:
    body = on.body
    columns = {
        **{name: text for name, text in _event().items() if name != "actor"},
        "act": "r.stage",
        "human": "r.actor",
        "requester": on.text(body, "requester"),
        "reason": on.text(body, "reason"),
        "until": on.text(body, "until"),
        "missing": on.number(body, "missing"),
        "door": on.text(body, "door"),
        "approval": on.text(body, "approval"),
        "state": "a.state",
        "used_by": "a.used_by",
    }
    joined = f"LEFT JOIN {on.table('approvals')} AS a ON a.id = {on.text(body, 'approval')}"
    stages = "r.stage IN ('approved', 'rejected', 'broke_glass')"
    return _select(columns, f"{on.records} {joined} WHERE {stages}")


def _writebacks(on: SqlDialect) -> str:
    body = on.body
    columns = {
        **_event(),
        "merged": on.flag(body, "merged"),
        "branch": on.text(body, "branch"),
        "commit_id": on.text(body, "commit"),
        "files": on.json(body, "files"),
        "reason": on.text(body, "reason"),
        "left_over": on.json(body, "left"),
        "kept_out": on.json(body, "kept_out"),
        "superseded_by": on.text(body, "superseded_by"),
        "corrects": on.number(body, "corrects"),
    }
    return _select(columns, f"{on.records} WHERE r.stage = 'reconciled'")
