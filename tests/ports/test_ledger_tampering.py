"""Seventeen ways to tamper with a ledger, each with variants, on every store. All are found, and the record or row is named.

The attacker can write to the database as its owner, drops the triggers, and knows the format of the records, but has no master
key. The hashes it makes are the best that it can make: unkeyed, of another version, or keyed with another key.
"""

import asyncio
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import Connection, Table, func, insert, select, text

from gateway.core.errors import LedgerBroken
from gateway.ledger.chain.checkpoint import Checkpoint
from gateway.ledger.chain.hashes import HASHED, VERSION, keyed_hash
from gateway.ledger.chain.verification import Verification, verify_tables
from gateway.ledger.ledger import open_ledger
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import BODY, METADATA, RECORDS, RESOURCES
from tests.kit.history import History
from tests.kit.stores import KEYS, Cluster

Row = dict[str, Any]
Rows = list[Row]


@dataclass
class Scene:
    """A ledger with a history, and what the attacker knows about it."""

    store: Store
    checkpoint: Checkpoint
    ids: dict[str, str]
    older: dict[str, Rows] = field(default_factory=dict)
    """Every row when half of the history was written."""

    def seq(self, connection: Connection, stage: str) -> int:
        """The first record of a stage."""
        return int(connection.execute(text("SELECT min(seq) FROM records WHERE stage = :s"), {"s": stage}).scalar_one())


def _dump(connection: Connection) -> dict[str, Rows]:
    tables = METADATA.sorted_tables
    return {table.name: [dict(row) for row in connection.execute(select(table)).mappings()] for table in tables}


def _write(url: str) -> Scene:
    older: dict[str, Rows] = {}
    store = open_store(url)

    async def middle() -> None:
        with store.connect() as connection:
            older.update(_dump(connection))

    async def write() -> dict[str, str]:
        async with open_ledger(url, KEYS) as ledger:
            history = History(ledger)
            await history.write(middle)
            return history.ids

    ids = asyncio.run(write())
    with store.connect() as connection:
        last = connection.execute(select(RECORDS.c.seq, RECORDS.c.hash).order_by(RECORDS.c.seq.desc())).first()
    assert last is not None
    return Scene(store=store, checkpoint=Checkpoint(size=last.seq, hash=last.hash), ids=ids, older=older)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One ledger for all tests: each tampers in a transaction that is rolled back."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('tampering') / 'ledger.db'}"
    else:
        cluster: Cluster = request.getfixturevalue("postgres")
        url = cluster.new_ledger()
    opened = _write(url)
    yield opened
    opened.store.close()


@contextmanager
def tampering(scene: Scene) -> Iterator[Connection]:
    """A transaction without triggers, which is rolled back."""
    with scene.store.connect(writes=True) as connection:
        connection.begin()
        postgresql = connection.dialect.name == "postgresql"
        for table in ("records", "record_resources", "forms"):
            names = (
                [f"{table}_append_only", *([f"{table}_archived_only"] if table != "forms" else [])]
                if postgresql
                else [f"{table}_refuse_{act}" for act in ("update", "delete")]
            )
            for name in names:
                connection.execute(text(f"DROP TRIGGER {name}" + (f" ON {table}" if postgresql else "")))
        yield connection
        connection.rollback()


def verified(scene: Scene, connection: Connection, *, anchored: bool = True) -> Verification:
    return verify_tables(Session(connection), KEYS.chain, scene.checkpoint if anchored else None)


# How an attacker writes records ---------------------------------------------------------------------------------------

Forge = Callable[[str, Row], Row]


def _unkeyed(previous: str, row: Row) -> Row:
    """A hash that needs no key."""
    message = f"{previous}{json.dumps([row[name] for name in HASHED])}{row['body']}".encode()
    return {**row, "previous": previous, "hash": hashlib.sha256(message).hexdigest()}


def _other_version(previous: str, row: Row) -> Row:
    """A version that no Sentinel wrote, with a hash that needs no key."""
    return _unkeyed(previous, {**row, "version": VERSION + 1})


def _other_key(previous: str, row: Row) -> Row:
    """Keyed with a guessed key. The attacker even leaves the resources out."""
    made = {**row, "version": VERSION, "previous": previous}
    return {**made, "hash": keyed_hash(b"", previous, [made[name] for name in HASHED], [], made["body"])}


def _genuine(resources: dict[int, list[tuple[str, str]]]) -> Forge:
    """What Sentinel itself would write, as an attacker finds it in another ledger of the same master key."""

    def made(previous: str, row: Row) -> Row:
        fields = [row[name] for name in HASHED]
        return {
            **row,
            "previous": previous,
            "hash": keyed_hash(KEYS.chain, previous, fields, resources.get(row["seq"], []), row["body"]),
        }

    return made


WHOLE = [BODY if column.name == "body" else column for column in RECORDS.c]
"""The columns of a record, its body whole."""
FORGES: dict[str, Forge] = {"unkeyed": _unkeyed, "another version": _other_version, "another key": _other_key}


def rewrite(connection: Connection, change: Callable[[Rows], Rows], forge: Forge, start: int) -> None:
    """Replace the records from `start` on by `change` of them, numbered without gaps and chained again."""
    whole = [dict(row) for row in connection.execute(select(*WHOLE).order_by(RECORDS.c.seq)).mappings()]
    kept, rest = whole[: start - 1], change(whole[start - 1 :])
    previous = kept[-1]["hash"] if kept else "0" * 64
    connection.execute(RECORDS.delete().where(RECORDS.c.seq >= start))
    for seq, row in enumerate(rest, start):
        made = forge(previous, {**row, "seq": seq})
        previous = made["hash"]
        connection.execute(insert(RECORDS), [made])


def run(*statements: str) -> Callable[[Scene, Connection], None]:
    """Run SQL. `{name}` is an id of the history; each statement must hit."""

    def act(scene: Scene, connection: Connection) -> None:
        for statement in statements:
            filled = re.sub(r"\{([^}]+)\}", lambda match: scene.ids[match[1]], statement)
            assert connection.execute(text(filled.replace(":", r"\:"))).rowcount > 0, filled

    return act


def _edited(rows: Rows) -> Rows:
    return [{**rows[0], "actor": "eve"}, *rows[1:]]


def _rewriting(change: Callable[[Rows], Rows], forge: Forge, start: int = 8) -> Callable[[Scene, Connection], None]:
    return lambda _scene, connection: rewrite(connection, change, forge, start)


def _appended(connection: Connection, row: Row, forge: Forge) -> None:
    last = connection.execute(select(*WHOLE).order_by(RECORDS.c.seq.desc()).limit(1)).mappings().one()
    connection.execute(insert(RECORDS), [forge(last["hash"], {**dict(last), **row, "seq": last["seq"] + 1})])


def _approve(forge: Forge) -> Callable[[Scene, Connection], None]:
    """An approval of the open hold, with its row and its record."""

    def act(scene: Scene, connection: Connection) -> None:
        hold = scene.ids["open hold"]
        run(
            "INSERT INTO approvals (id, mutation_id, actor, call_digest, approver, at, until, state, used_by, binding, others, broke_glass) "
            "SELECT 'apr_x', mutation_id, actor, call_digest, 'alice', at, '2030-01-01T00:00:00.000000Z', 'open', '', '', '[]', 0 FROM holds WHERE mutation_id = '{open hold}'",
            "UPDATE holds SET state = 'approved' WHERE mutation_id = '{open hold}'",
        )(scene, connection)
        body = {"approval": "apr_x", "requester": "agent", "digest": "", "until": "2030-01-01T00:00:00.000000Z"}
        row = {"stage": "approved", "mutation_id": hold, "actor": "alice", "body": json.dumps(body), "verdict": ""}
        _appended(connection, row, forge)

    return act


def _replay(stage: str) -> Callable[[Scene, Connection], None]:
    """A genuine record once more at the end, as it was but for its seq."""

    def act(scene: Scene, connection: Connection) -> None:
        seq = scene.seq(connection, stage)
        genuine = connection.execute(select(*WHOLE).where(RECORDS.c.seq == seq)).mappings().one()
        _appended(connection, dict(genuine), lambda previous, row: {**row, "previous": previous})

    return act


def _restore(scene: Scene, connection: Connection) -> None:
    """The whole database as it was before."""
    for table in METADATA.sorted_tables:
        connection.execute(table.delete())
        if scene.older[table.name]:
            connection.execute(insert(table), scene.older[table.name])


def _empty(scene: Scene, connection: Connection) -> None:
    for table in METADATA.sorted_tables:
        connection.execute(table.delete())


def _cut(count: int, *, everything: bool) -> Callable[[Scene, Connection], None]:
    """The last records cut off, with whatever else says that they were there."""

    def act(scene: Scene, connection: Connection) -> None:
        last = scene.checkpoint.size - count
        names = [RECORDS.name, RESOURCES.name, *(["attempts"] if everything else [])]
        for name in names:
            connection.execute(text(f"DELETE FROM {name} WHERE seq > {last}"))  # noqa: S608  no input

    return act


def _empty_and_begin_again(scene: Scene, connection: Connection) -> None:
    """A new chain of the same length, with the same other tables, of the same master key."""
    resources: dict[int, list[tuple[str, str]]] = {}
    for row in connection.execute(select(RESOURCES).order_by(*RESOURCES.primary_key.columns)):
        resources.setdefault(row.seq, []).append((row.address, row.attribute))
    rewrite(connection, _edited, _genuine(resources), 1)


@dataclass(frozen=True)
class Tamper:
    """One tampering, and the sentence that names what it hit. `end` stands for the last record, `next` for the one after it."""

    act: Callable[[Scene, Connection], None]
    named: str


def _forged(change: Callable[[Rows], Rows], named: str, start: int = 8) -> dict[str, Tamper]:
    return {name: Tamper(_rewriting(change, forge, start), named) for name, forge in FORGES.items()}


def _sql(named: str, **statements: str | Sequence[str]) -> dict[str, Tamper]:
    return {
        name.replace("_", " "): Tamper(run(*([each] if isinstance(each, str) else each)), named)
        for name, each in statements.items()
    }


TAMPERS: dict[str, dict[str, Tamper]] = {
    "1 a record edited": _sql(
        "Record 8 or its list",
        body="UPDATE records SET body = replace(body, 'agent', 'eve') WHERE seq = 8",
        actor="UPDATE records SET actor = 'eve' WHERE seq = 8",
        time="UPDATE records SET at = '2026-03-01T12:00:00.123457Z' WHERE seq = 8",
        hash="UPDATE records SET hash = '" + "0" * 64 + "' WHERE seq = 8",
    ),
    "2 rewritten with fresh hashes": {
        **_forged(_edited, r"Record 8 (or its list|has version)"),
        **{
            f"{name} from the first": each
            for name, each in _forged(_edited, r"Record 1 (or its list|has version)", 1).items()
        },
    },
    "3 a record removed": _sql(
        "Record 8 is missing",
        one="DELETE FROM records WHERE seq = 8",
        several="DELETE FROM records WHERE seq BETWEEN 8 AND 12",
        with_its_resources=["DELETE FROM records WHERE seq = 8", "DELETE FROM record_resources WHERE seq = 8"],
    ),
    "4 removed and renumbered": _forged(lambda rows: rows[1:], r"Record 8 (or its list|has version)"),
    "5 records swapped": _forged(lambda rows: [rows[1], rows[0], *rows[2:]], r"Record 8 (or its list|has version)"),
    "6 a record inserted": _forged(
        lambda rows: [{**rows[0], "stage": "released"}, *rows], r"Record 8 (or its list|has version)"
    ),
    "7 an approval forged at the end": {
        name: Tamper(_approve(forge), "Record next ") for name, forge in FORGES.items()
    },
    "8 a genuine record replayed at the end": {
        stage: Tamper(_replay(stage), "Record next ") for stage in ("approved", "key_issued", "settled")
    },
    "9 the tail cut": {
        "one": Tamper(_cut(1, everything=False), "Record end is missing"),
        "one with its attempt": Tamper(_cut(1, everything=True), "Record end is missing"),
        "five": Tamper(_cut(5, everything=True), r"Record \d+ is missing"),
        "all but one": Tamper(_cut(20, everything=True), r"Record \d+ is missing|The row"),
    },
    "10 emptied": {
        "every table": Tamper(_empty, "Record 1 is missing"),
        "records only": Tamper(run("DELETE FROM records", "DELETE FROM record_resources"), "Record 1 is missing"),
    },
    "11 an older database restored": {"all of it": Tamper(_restore, r"Record \d+ is missing")},
    "12 a new ledger in its place": {"of the same key": Tamper(_empty_and_begin_again, "Record end is not the one")},
    "13 the index of resources": _sql(
        r"Record \d+ (or its list|is missing)",
        removed="DELETE FROM record_resources WHERE seq = (SELECT min(seq) FROM record_resources)",
        changed="UPDATE record_resources SET attribute = 'x' WHERE seq = (SELECT min(seq) FROM record_resources)",
        added="INSERT INTO record_resources (seq, address, attribute) VALUES (8, 'aws_lb.front', 'x')",
        added_at_the_end="INSERT INTO record_resources (seq, address, attribute) VALUES (9999, 'aws_lb.front', 'x')",
        emptied="DELETE FROM record_resources",
    ),
    "14 a key": {
        **_sql(
            "The row {agent key} of keys",
            made_a_human="UPDATE keys SET kind = 'human' WHERE id = '{agent key}'",
            made_an_approver="""UPDATE keys SET kind = 'human', roles = '["approver"]' WHERE id = '{agent key}'""",
            given_a_role="""UPDATE keys SET roles = '["approver"]' WHERE id = '{agent key}'""",
            of_another_actor="UPDATE keys SET actor = 'alice' WHERE id = '{agent key}'",
            for_somebody="UPDATE keys SET on_behalf_of = 'alice' WHERE id = '{agent key}'",
            without_end="UPDATE keys SET expires_at = NULL WHERE id = '{agent key}'",
            with_another_motive="UPDATE keys SET motive = NULL WHERE id = '{agent key}'",
            removed="DELETE FROM keys WHERE id = '{agent key}'",
            revoked="UPDATE keys SET revoked_at = created_at WHERE id = '{agent key}'",
        ),
        **_sql(
            "The row {revoked key} of keys", valid_again="UPDATE keys SET revoked_at = NULL WHERE id = '{revoked key}'"
        ),
        **_sql(
            "The row {ended session} of keys",
            session_valid_again="UPDATE keys SET revoked_at = NULL WHERE id = '{ended session}'",
        ),
        **_sql(
            "The row {session} of keys", session_on_its_own="UPDATE keys SET session_of = '' WHERE id = '{session}'"
        ),
        **_sql(
            "The row SNTLX of keys was written past",
            made_up=(
                "INSERT INTO keys (id, actor, kind, roles, on_behalf_of, created_at, session_of, motive_only) "
                """VALUES ('SNTLX', 'eve', 'human', '["approver"]', '', '', '', 0)"""
            ),
        ),
    },
    "15 a claim": {
        **_sql(
            "The row {claim} of claims",
            longer="UPDATE claims SET until = '2099-01-01T00:00:00.000000Z' WHERE id = '{claim}'",
            of_another="UPDATE claims SET actor = 'eve' WHERE id = '{claim}'",
            ended="UPDATE claims SET ended_at = since, \"end\" = 'released' WHERE id = '{claim}'",
            another_value="UPDATE claims SET value = '7' WHERE id = '{claim}'",
            another_motive="UPDATE claims SET motive = '{}' WHERE id = '{claim}'".replace("'{}'", "'x'"),
            settled_or_not="UPDATE claims SET unsettled = 1 - unsettled WHERE id = '{claim}'",
            of_a_human="UPDATE claims SET kind = 'human' WHERE id = '{claim}'",
            elsewhere="UPDATE claims SET attribute = 'other' WHERE id = '{claim}'",
            removed="DELETE FROM claims WHERE id = '{claim}'",
        ),
        **_sql(
            "The row {superseded} of claims",
            superseded_by_another="UPDATE claims SET ended_by = 'mut_x' WHERE id = '{superseded}'",
            history_removed="DELETE FROM claims WHERE id = '{superseded}'",
        ),
        **_sql(
            "The row clm_x of claims was written past",
            made_up=(
                "INSERT INTO claims (id, mutation_id, address, attribute, value, actor, kind, since, unsettled, proof, undone, motivation) "
                "SELECT 'clm_x', mutation_id, address, 'squatted', value, actor, kind, since, 0, '[]', '', '' FROM claims WHERE id = '{claim}'"
            ),
        ),
    },
    "16 an approval or a hold": {
        **_sql(
            "The row {used approval} of approvals",
            usable_again="UPDATE approvals SET state = 'open', used_by = '' WHERE id = '{used approval}'",
            used_by_another="UPDATE approvals SET used_by = 'mut_x' WHERE id = '{used approval}'",
        ),
        **_sql(
            "The row {approved approval} of approvals",
            longer="UPDATE approvals SET until = '2099-01-01T00:00:00.000000Z' WHERE id = '{approved approval}'",
            of_another_call="UPDATE approvals SET call_digest = 'x' WHERE id = '{approved approval}'",
            for_another_actor="UPDATE approvals SET actor = 'eve' WHERE id = '{approved approval}'",
            in_other_circumstances="UPDATE approvals SET binding = 'null' WHERE id = '{approved approval}'",
            by_another="UPDATE approvals SET approver = 'eve' WHERE id = '{approved approval}'",
            with_another_key="UPDATE approvals SET keys = '[\"SNTLEVE\"]' WHERE id = '{approved approval}'",
            with_no_key="UPDATE approvals SET keys = NULL WHERE id = '{approved approval}'",
            removed="DELETE FROM approvals WHERE id = '{approved approval}'",
        ),
        **_sql(
            "The row {rejected approval} of approvals",
            not_withdrawn="UPDATE approvals SET state = 'open' WHERE id = '{rejected approval}'",
        ),
        **_sql(
            "The row {withdrawn approval} of approvals",
            of_a_revoked_key="UPDATE approvals SET state = 'open' WHERE id = '{withdrawn approval}'",
        ),
        **_sql(
            "The row {withdrawn hold} of holds",
            not_waiting_again="UPDATE holds SET state = 'approved' WHERE mutation_id = '{withdrawn hold}'",
        ),
        **_sql(
            "The row apr_x of approvals was written past",
            made_up=(
                "INSERT INTO approvals (id, mutation_id, actor, call_digest, approver, at, until, state, used_by, binding, others, broke_glass) "
                "SELECT 'apr_x', mutation_id, actor, call_digest, 'alice', at, at, 'open', '', '', '[]', 0 FROM holds WHERE mutation_id = '{open hold}'"
            ),
        ),
        **_sql(
            "The row {open hold} of holds",
            hold_shown_otherwise="UPDATE holds SET summary = replace(summary, '50', '5') WHERE mutation_id = '{open hold}'",
            hold_decided="UPDATE holds SET state = 'approved' WHERE mutation_id = '{open hold}'",
            hold_of_another="UPDATE holds SET actor = 'eve' WHERE mutation_id = '{open hold}'",
            hold_in_other_circumstances="UPDATE holds SET binding = 'null' WHERE mutation_id = '{open hold}'",
            hold_for_nobody="UPDATE holds SET on_behalf_of = '' WHERE mutation_id = '{open hold}'",
            hold_removed="DELETE FROM holds WHERE mutation_id = '{open hold}'",
        ),
        **_sql(
            "The row {rejected hold} of holds",
            hold_not_rejected="UPDATE holds SET state = 'open' WHERE mutation_id = '{rejected hold}'",
        ),
    },
    "17 a value or an attempt": {
        **_sql(
            "The row aws_sqs_queue.orders delay of applied_values",
            value="UPDATE applied_values SET value = '7' WHERE attribute = 'delay'",
            value_of_another="UPDATE applied_values SET mutation_id = 'mut_x' WHERE attribute = 'delay'",
            value_removed="DELETE FROM applied_values WHERE attribute = 'delay'",
        ),
        **_sql(
            "The row aws_lb.x y of applied_values was written past",
            value_made_up="INSERT INTO applied_values (address, attribute, value, mutation_id, at, seq) VALUES ('aws_lb.x', 'y', '1', '', '', 1)",
        ),
        **_sql(
            "The row {second} of attempts",
            key_forgotten="UPDATE attempts SET idempotency_key = NULL WHERE mutation_id = '{second}'",
            of_another="UPDATE attempts SET actor = 'eve' WHERE mutation_id = '{second}'",
            of_another_call="UPDATE attempts SET call_digest = 'x' WHERE mutation_id = '{second}'",
            failed="UPDATE attempts SET state = 'failed' WHERE mutation_id = '{second}'",
            another_reply="UPDATE attempts SET reply_headers = '[]' WHERE mutation_id = '{second}'",
            another_status="UPDATE attempts SET reply_status = 201 WHERE mutation_id = '{second}'",
            no_reply="UPDATE attempts SET reply_status = NULL, reply_headers = NULL, reply_body = NULL WHERE mutation_id = '{second}'",
            removed="DELETE FROM attempts WHERE mutation_id = '{second}'",
        ),
        **_sql(
            "The row {in doubt} of attempts",
            settled="UPDATE attempts SET state = 'applied' WHERE mutation_id = '{in doubt}'",
        ),
        **_sql(
            "The row {left} of attempts",
            asked_of_nobody="UPDATE attempts SET left_at = '' WHERE mutation_id = '{left}'",
        ),
        **_sql(
            "The row {by hand} of attempts",
            sent_again="UPDATE attempts SET idempotency_key = NULL WHERE mutation_id = '{by hand}'",
            applied_after_all="UPDATE attempts SET state = 'applied' WHERE mutation_id = '{by hand}'",
        ),
        **_sql(
            "The row {resolved} of attempts",
            another_reason="UPDATE attempts SET reason = 'x' WHERE mutation_id = '{resolved}'",
        ),
        **_sql(
            "The row signature-k-2 of spent_signatures",
            signature_usable_again="DELETE FROM spent_signatures WHERE signature = 'signature-k-2'",
            signature_of_another="UPDATE spent_signatures SET mutation_id = 'x' WHERE signature = 'signature-k-2'",
        ),
        **_sql(
            "The row {in flight} of attempts",
            of_another_gateway="UPDATE attempts SET owner = 'gtw_x' WHERE mutation_id = '{in flight}'",
            flown="UPDATE attempts SET state = 'in_doubt' WHERE mutation_id = '{in flight}'",
        ),
        **_sql(
            "The row mut_x of attempts was written past",
            made_up=(
                "INSERT INTO attempts (mutation_id, seq, actor, stack, call_digest, decided_at, state, request_id, reason, "
                "owner, left_at) VALUES ('mut_x', 1, 'a', '', '', '', 'applied', '', '', '', '')"
            ),
        ),
    },
}

CASES = [
    pytest.param(tamper, id=f"{kind}: {variant}")
    for kind, variants in TAMPERS.items()
    for variant, tamper in variants.items()
]


def test_there_are_seventeen_kinds() -> None:
    assert len(TAMPERS) == 17
    assert [int(kind.split()[0]) for kind in TAMPERS] == list(range(1, 18))


def test_the_history_is_intact_and_fills_every_table(scene: Scene) -> None:
    with scene.store.connect() as connection:
        done = verified(scene, connection)
        counts = {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in METADATA.sorted_tables
        }
    assert done.records == scene.checkpoint.size == counts.pop("records")
    assert counts.pop("record_resources") > 0
    del counts["leases"], counts["exports"], counts["archives"], counts["archive_parts"], counts["forms"]
    assert dict(done.rows) == counts
    assert min(counts.values()) > 0


@pytest.mark.parametrize("tamper", CASES)
def test_tampering_is_found_and_named(scene: Scene, tamper: Tamper) -> None:
    end = scene.checkpoint.size
    named = tamper.named.replace("Record end", f"Record {end}").replace("Record next", f"Record {end + 1}")
    named = re.sub(r"\{([a-z][^}]+)\}", lambda match: scene.ids[match[1]], named).replace("|end)", f"|{end})")
    with tampering(scene) as connection:
        tamper.act(scene, connection)
        with pytest.raises(LedgerBroken, match=rf"^({named})") as caught:
            verified(scene, connection)
        assert str(caught.value).endswith((".", "away."))


ANCHORED = {"9 the tail cut", "10 emptied", "11 an older database restored", "12 a new ledger in its place"}
"""What only the checkpoint can show: the ledger is one that Sentinel could have written."""


@pytest.mark.parametrize(
    "tamper",
    [
        pytest.param(tamper, id=f"{kind}: {variant}")
        for kind, variants in TAMPERS.items()
        for variant, tamper in variants.items()
        if kind not in ANCHORED
    ],
)
def test_all_but_what_ends_early_shows_without_a_checkpoint(scene: Scene, tamper: Tamper) -> None:
    with tampering(scene) as connection:
        tamper.act(scene, connection)
        with pytest.raises(LedgerBroken):
            verified(scene, connection, anchored=False)


_ELSEWHERE = ("record_resources", "leases", "exports", "archives", "archive_parts", "forms")
CHECKED = [table for table in METADATA.sorted_tables if table.name not in _ELSEWHERE]
"""The archives are in `test_ledger_archive.py`, the forms in `test_short_bodies.py`."""


@pytest.mark.slow
@pytest.mark.parametrize("table", CHECKED, ids=str)
def test_every_column_of_a_row_is_checked(scene: Scene, table: Table) -> None:
    """Whatever a migration adds: a column that no record tells is a column that can be changed unseen."""
    assert _unseen(scene, table) == []


@pytest.mark.long
@pytest.mark.parametrize("table", CHECKED, ids=str)
def test_every_column_of_every_row_is_checked(scene: Scene, table: Table) -> None:
    assert _unseen(scene, table, every=True) == []


def _unseen(scene: Scene, table: Table, *, every: bool = False) -> list[str]:
    """The changes that verification does not find: of each column, of the first and the last row or of `every`."""
    found = []
    with tampering(scene) as connection:
        keys = [each.name for each in table.primary_key.columns]
        rows = [dict(row) for row in connection.execute(select(table)).mappings()]
        changed = rows if every else [rows[0], rows[-1]]
        taken = itertools.count(10_000)
        for column, row in itertools.product(table.columns, changed):
            old = row[column.name]
            new = next(taken) if isinstance(old, int) else b"x" if isinstance(old, bytes) else f"x{next(taken)}"
            if old is None and isinstance(column.type.python_type(), int | bytes):
                new = 1 if column.type.python_type is int else b"x"
            where = [table.c[key] == row[key] for key in keys]
            point = connection.begin_nested()
            connection.execute(table.update().where(*where).values({column.name: new}))
            try:
                verified(scene, connection)
            except LedgerBroken:
                pass
            else:
                found.append(f"{column} of {[row[key] for key in keys]}")
            point.rollback()
    return found
