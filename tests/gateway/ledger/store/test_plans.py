"""On PostgreSQL, too, what is asked of a large ledger is found by indexes: each prepared statement by its plan, and each question by the rows it reads."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from sqlalchemy import Connection

import gateway.ledger
from gateway.context.ports import HistoryQuery
from gateway.core.ports import RecordQuery
from gateway.core.records.codec import encode
from gateway.core.records.record import Stage
from gateway.ledger.ask import (
    actor_keys,
    blame,
    change_history,
    context_ledger,
    exports,
    key_ends,
    lists,
    mutation_lives,
    record_search,
    rules_spoken,
    time_box_queries,
)
from gateway.ledger.decide import commands, ledger_view, stops
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.statements import Session, Statement
from tests.kit.bodies import sample_body
from tests.kit.stores import Cluster, postgres

__all__ = ["postgres"]
pytestmark = pytest.mark.postgres

ROWS: Final = 20_000
"""In each large table; a tenth of them are about one resource, and a tenth about another actor's doing."""
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=30 * ROWS)
HOT, QUIET, NOBODY = "aws_lb.hot", "aws_sqs_queue.q17", "aws_sqs_queue.none"
_TIME: Final = "to_char(timestamp '2026-01-01' + g * interval '30 seconds', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
_UNTIL: Final = _TIME.replace("2026-01-01", "2036-01-01")
_WHO: Final = "CASE WHEN g % 10 = 0 THEN 'hot' ELSE 'actor-' || g % 97 END"
_ADDRESS: Final = f"CASE WHEN g % 10 = 3 THEN '{HOT}' ELSE 'aws_sqs_queue.q' || g % 1009 END"
_DECIDED: Final = encode(
    sample_body(
        Stage.DECIDED,
        {
            "caller": {"kind": "agent"},
            "call": {"service": "sqs", "operation": "SetQueueAttributes", "class": "mutation", "parameters": {}},
            "effects": [
                {"address": HOT, "attribute": "tags", "action": "set", "value": "x", "before": "y", "changes": True}
            ],
            "decision": {"verdict": "allow", "mode": "enforce"},
        },
    )
)
_TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "records": {
        "seq": "g",
        "version": "1",
        "stage": "'decided'",
        "at": _TIME,
        "mutation_id": "'mut_' || g",
        "actor": _WHO,
        "stack": "'fleet'",
        "intent": "'cost'",
        "motivation": "'budget'",
        "verdict": "'allow'",
        "key_id": "'k' || g % 97",
        "has_evidence": "0",
        "left_over": "0",
        "body": f"'{_DECIDED}'",
        "previous": "''",
        "hash": "md5(g::text)",
    },
    "record_resources": {"seq": "g", "address": _ADDRESS, "attribute": "'tags'"},
    "claims": {
        "id": "'clm_' || g",
        "mutation_id": "'mut_' || g",
        "address": _ADDRESS,
        "value": "'1'",
        "actor": _WHO,
        "attribute": "CASE WHEN g % 10 = 3 THEN 'tags' ELSE 'a' || g % 29 END",
        "kind": "'agent'",
        "since": _TIME,
        "until": _UNTIL,
        "unsettled": "0",
        "ended_at": f"CASE WHEN g % 2 = 1 OR g < {ROWS // 3} THEN {_TIME} END",
        '"end"': f"CASE WHEN g % 2 = 1 OR g < {ROWS // 3} THEN 'expired' END",
        "proof": "'[]'",
        "undone": "''",
        "motivation": "'budget'",
    },
    "attempts": {
        "mutation_id": "'mut_' || g",
        "seq": "g",
        "actor": _WHO,
        "stack": "'fleet'",
        "idempotency_key": "'key' || g",
        "call_digest": "md5(g::text)",
        "decided_at": _TIME,
        "state": "'applied'",
        "request_id": "''",
        "reason": "''",
        "owner": "''",
        "left_at": "''",
    },
    "applied_values": {
        "address": "'aws_sqs_queue.q' || g / 3",
        "attribute": "'a' || g % 3",
        "value": "'1'",
        "seq": "g",
        "mutation_id": "'mut_' || g",
        "at": _TIME,
    },
    "holds": {
        "mutation_id": "'mut_' || g",
        "at": _TIME,
        "actor": _WHO,
        "on_behalf_of": "''",
        "stack": "'fleet'",
        "call_digest": "md5(g::text)",
        "summary": "'{}'",
        "binding": "'{}'",
        "state": "CASE WHEN g % 400 = 0 THEN 'open' ELSE 'rejected' END",
    },
    "approvals": {
        "id": "'apr_' || g",
        "mutation_id": "'mut_' || g",
        "actor": _WHO,
        "call_digest": "md5(g::text)",
        "at": _TIME,
        "approver": "'ana'",
        "until": _TIME,
        "used_by": "'mut_' || g",
        "binding": "''",
        "others": "'[]'",
        "broke_glass": "0",
        "state": "CASE WHEN g % 999 = 0 THEN 'unused' ELSE 'used' END",
    },
    "keys": {
        "id": "'k' || g",
        "actor": _WHO,
        "kind": "'agent'",
        "roles": "'[]'",
        "on_behalf_of": "''",
        "created_at": _TIME,
        "expires_at": _TIME,
        "session_of": "CASE WHEN g < 500 THEN '' ELSE 'k' || g % 500 END",
        "motive_only": "0",
    },
    "time_boxes": {
        "mutation_id": "'mut_' || g",
        "address": _ADDRESS,
        "attribute": "'tags'",
        "value": "'1'",
        "base": "'2'",
        "root": "'mut_' || g",
        "actor": _WHO,
        "stack": "'fleet'",
        "seq": "g",
        "since": _TIME,
        "until": _TIME,
        "state": "CASE WHEN g % 999 = 0 THEN 'standing' ELSE 'put_back' END",
        "ended_by": "''",
    },
    "plan_sessions": {
        "mutation_id": "'mut_' || g",
        "key_id": "'k' || g",
        "seq": "g",
        "actor": _WHO,
        "stack": "'fleet'",
        "digest": "md5(g::text)",
        "until": _TIME,
        '"end"': "'ended'",
        "ended_at": f"CASE WHEN g % 999 > 0 THEN {_TIME} END",
    },
    "plan_uses": {
        "mutation_id": "'mut_' || g",
        "address": "'a.b' || g",
        "plan": "'mut_' || g / 20",
        "operation": "'ec2:Run'",
        "action": "CASE WHEN g % 2 = 0 THEN 'set' ELSE 'create' END",
    },
    "spent_signatures": {"signature": "md5(g::text)", "mutation_id": "'mut_' || g", "at": _TIME},
}
"""Of each large table its columns, each as SQL of the row's number `g`."""

_READS_ALL: Final[Mapping[str, str]] = {
    "archive.staying.": "an archive reads all that stays",
    "archive.archiving.": "the same",
    "chain.": "a verification reads the whole ledger",
    "ask.exports._": "an export reads a range of records to its end",
    "ask.gauges._HOLDS": "planned for its value: the reader of what mutations do not wait for keeps no plans",
    "ask.gauges._CLAIMS": "all open claims are counted, for the metrics",
    "decide.claims._HELD_BY_ALL": "the open claims of every actor are counted, for the list of budgets",
    "ask.record_search.KINDS_BY[": "PostgreSQL is asked KINDS_BY_NUMBER in its place",
    "decide.revocation._USED_BY": "asked when a key is revoked while sessions of plans are open",
    "decide.signatures._FORGET": "a few minutes' signatures are kept, and most of them forgotten at once",
    "keyring._ALL": "lists every key, and every standing key",
}
"""Statements that may read a whole table, by the beginnings of their names, and why."""


def _named(name: str, value: object) -> Iterator[tuple[str, Statement]]:
    if isinstance(value, Statement):
        yield name, value
    elif isinstance(value, tuple | dict):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _named(f"{name}[{key}]", each)


def _statements() -> Iterator[tuple[str, Statement]]:
    """Every prepared statement of the ledger, by its module and name."""
    for module in pkgutil.walk_packages(gateway.ledger.__path__, f"{gateway.ledger.__name__}."):
        if ".migrations" not in module.name:
            for name, value in vars(importlib.import_module(module.name)).items():
                yield from _named(f"{module.name.removeprefix('gateway.ledger.')}.{name}", value)


_ASKED: Final = [
    pytest.param(statement, id=name) for name, statement in _statements() if not name.startswith(tuple(_READS_ALL))
]


@pytest.fixture(scope="module")
def large(postgres: Cluster) -> Iterator[Store]:
    """A store with many rows, analyzed as PostgreSQL does by itself, and not vacuumed: then each row that an index leads to is counted."""
    store = open_store(postgres.new_ledger())
    with store.connect(writes=True) as connection:
        driver: Any = connection.connection.dbapi_connection
        for table, columns in _TABLES.items():
            select = f"SELECT {', '.join(columns.values())} FROM generate_series(1, {ROWS}) g"  # noqa: S608  texts of ours
            driver.execute(f"INSERT INTO {table} ({', '.join(columns)}) {select}")
        driver.execute("ANALYZE")
        driver.commit()
    yield store
    store.close()


@pytest.fixture
def connection(large: Store) -> Iterator[Connection]:
    """A connection to it, whose transaction comes to nothing."""
    with large.connect() as opened:
        yield opened


@pytest.mark.parametrize("statement", _ASKED)
def test_no_plan_for_any_values_reads_a_whole_table(connection: Connection, statement: Statement) -> None:
    """PostgreSQL makes such a plan for a statement that was prepared, and keeps it."""
    sql, _ = statement.on(connection.dialect)
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", sql)))
    numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", sql).replace("%%", "%")
    driver: Any = connection.connection.dbapi_connection
    driver.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    driver.execute(f"PREPARE asked AS {numbered}")
    given = f"({', '.join(['NULL'] * len(names))})" if names else ""
    plan = [step for (step,) in driver.execute(f"EXPLAIN (COSTS off) EXECUTE asked{given}")]
    driver.execute("DEALLOCATE asked")
    read = [step for step in plan if any(re.search(rf"Seq Scan on {table}\b", step) for table in _TABLES)]
    assert read == [], "\n".join(plan)


def _view(session: Session, address: str) -> object:
    return ledger_view.view_of(
        session,
        addresses=[address],
        actor="actor-3",
        call_digest="none",
        now=NOW,
        flip_window=timedelta(hours=1),
        changing=[(address, "tags")],
    )


def _records(**query: Any) -> Callable[[Session], object]:
    return lambda session: record_search.records(session, RecordQuery(**query))


def _history(address: str, attribute: str = "") -> Callable[[Session], object]:
    return lambda session: change_history.changes_of(
        session, HistoryQuery(addresses=(address, NOBODY), attribute=attribute, limit=20)
    )


_LATELY: Final = NOW - timedelta(hours=1)
_QUESTIONS: Final[Mapping[str, Callable[[Session], object]]] = {
    "view": lambda session: _view(session, QUIET),
    "view of a busy resource": lambda session: _view(session, HOT),
    "attempt": lambda session: ledger_view.attempt_of(session, "hot", "key30"),
    "answered": lambda session: ledger_view.answered(session, "hot", "none"),
    "in doubt": commands.in_doubt,
    "stops": stops.listed_stops,
    "records": _records(),
    "records of an actor": _records(actor="actor-3"),
    # Who did a tenth of all, PostgreSQL looks for from the newest record back.
    "records of a busy actor": _records(actor="hot", limit=50),
    "records of a stage": _records(stage=Stage.DECIDED),
    "records of a stage without any": _records(stage=Stage.SIGNALLED),
    "records of a verdict without any": _records(actor="hot", verdict="deny"),
    "records refused": _records(refused=True),
    "records of a resource": _records(resource=HOT),
    "records of a quiet resource": _records(resource=QUIET),
    "records of a resource by an actor": _records(resource=QUIET, actor="actor-3"),
    "records of a key": _records(key_id="k5"),
    "records of a mutation": _records(mutation_id="mut_500"),
    "records of the last hour": _records(since=_LATELY),
    "lives": lambda session: mutation_lives.lives(session, ["mut_1", "mut_5000"]),
    "rules": lambda session: rules_spoken.rules_spoken(session, limit=100),
    "activity": lambda session: mutation_lives.ActivityCounts().of(session, [_LATELY]),
    "last change": lambda session: lists.changed_since(session, -1),
    "changed": lambda session: lists.changed_since(session, ROWS - 10),
    "claims": lambda session: lists.claims(session, limit=100),
    "claims that ended, too": lambda session: lists.claims(session, open_only=False, limit=100),
    "claims of a resource": lambda session: lists.claims(session, address=QUIET, limit=100),
    "claims of a busy resource": lambda session: lists.claims(session, address=HOT, limit=100, open_only=False),
    "claims of no resource": lambda session: lists.claims(session, address=NOBODY, limit=100),
    "claims of an actor": lambda session: lists.claims(session, actor="actor-3", limit=100),
    "claims of a mutation": lambda session: lists.claims(session, mutation_id="mut_500", open_only=False),
    "claims before one": lambda session: lists.claims(session, before="clm_10000", limit=100),
    "claimed addresses": lambda session: lists.claimed_addresses(session, since=_LATELY, open_only=False),
    "proofs": lists.proofs,
    "holds": lists.holds,
    "holds in every state": lambda session: lists.holds(session, state=None),
    "holds before one": lambda session: lists.holds(session, state=None, before="mut_10000"),
    "signals version": lists.signals_version,
    "keys of an actor": lambda session: actor_keys.keys_of(session, "actor-3", ["ci"], NOW),
    "keys that end": lambda session: key_ends.ending_keys(session, NOW),
    "blame": lambda session: blame.blame(session, HOT, "tags"),
    "blame of a quiet resource": lambda session: blame.blame(session, QUIET, "tags"),
    "history": _history(HOT),
    "history of a quiet resource": _history(QUIET),
    "history of an attribute": _history(HOT, "tags"),
    "history of a quiet attribute": _history(QUIET, "tags"),
    "history of nothing": _history(NOBODY),
    "known": lambda session: context_ledger.known_about(session, [QUIET], [NOBODY], NOW, _LATELY),
    "applied": lambda session: context_ledger.every_applied(session, (QUIET, "a1"), 100),
    "time boxes": time_box_queries.listed,
    "time boxes that stand": lambda session: time_box_queries.standing(session, [QUIET]),
    "time boxes that end": lambda session: time_box_queries.due_mutations(session, NOW),
    "export": lambda session: exports.start_since(session, NOW.isoformat()),
}
_MOST: Final = 1_000
"""Rows that a question may read; each large table has twenty times as many."""


@pytest.mark.parametrize("name", _QUESTIONS)
def test_a_question_reads_few_rows(connection: Connection, name: str) -> None:
    session = Session(connection)
    counted = "SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
    driver: Any = connection.connection.dbapi_connection
    before = dict(driver.execute(counted).fetchall())
    _QUESTIONS[name](session)
    read = {table: count - before[table] for table, count in driver.execute(counted) if count > before[table]}
    assert sum(read.values()) < _MOST, read
