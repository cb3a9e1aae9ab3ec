"""`verify` was unkeyed and unanchored: who could write to the database could rewrite the ledger, and nobody saw it.

The attack: somebody with write access to the database, but without the master key, rewrites records with fresh hashes, cuts the
tail, empties the ledger, forges an approval, or makes an agent's key a human approver. What must hold: `sentinel verify` finds each
of them and names the first bad record or row; the key that was changed no longer authenticates; a gateway whose ledger was cut
takes no more mutations, and does not start on one that does not agree with its checkpoint. All variants against the database alone,
on both stores, are in tests/ports/test_ledger_tampering.py.
"""

import asyncio
import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.app.running import running
from gateway.core.errors import LedgerBroken
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.ledger.chain.anchor import EVERY_RECORDS
from gateway.ledger.chain.hashes import HASHED, VERSION
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Sql = Callable[..., None]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Gate]:
    """A gateway of its own, with one applied change, whose ledger a test may break."""
    with Gate(directory=tmp_path) as gate:
        scale(gate)
        gate.upstream.asked.clear()
        yield gate


def scale(gate: Gate, capacity: int = 6) -> None:
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=capacity)


def database(gate: Gate) -> Path:
    return gate.directory / "data" / "ledger.db"


def tamper(path: Path, *statements: str) -> None:
    """Run SQL as anyone who can write to the file."""
    with closing(sqlite3.connect(path, timeout=300)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement
        connection.commit()


def rehash(path: Path, start: int) -> None:
    """Give every record from `start` on a hash that fits the one before it, made without the key."""
    with closing(sqlite3.connect(path, timeout=300)) as connection:
        names = ", ".join(name for name in HASHED if name != "version")
        rows = connection.execute(f"SELECT {names}, body, previous FROM records WHERE seq >= {start} ORDER BY seq")  # noqa: S608  no input
        previous = ""
        for row in rows.fetchall():
            previous = previous or row[-1]
            head = json.dumps([VERSION, *row[:-2]], separators=(",", ":"), ensure_ascii=False)[:-1]
            made = hashlib.sha256(f"{previous}{head},{row[-2]}]".encode()).hexdigest()
            values = (previous, made, row[0])
            connection.execute("UPDATE records SET previous = ?, hash = ? WHERE seq = ?", values)
            previous = made
        connection.commit()


def broken(gate: Gate) -> str:
    """The sentence that verification ends with."""
    with pytest.raises(LedgerBroken) as caught:
        gate.run(gate.ledger.verify())
    return str(caught.value)


def approve(gate: Gate, actor: str) -> int:
    """The status of an approval of a mutation that is not there: 404 for an approver, 403 for anyone else."""
    return httpx.post(f"{gate.url}/v1/mutations/mut_x/approve", headers=gate.bearer(actor)).status_code


PROMOTED = {
    "a human approver": """UPDATE keys SET kind = 'human', roles = '["approver"]' WHERE actor = 'rival'""",
    "another actor": "UPDATE keys SET actor = 'human' WHERE actor = 'rival'",
    "a pipeline": "UPDATE keys SET kind = 'pipeline' WHERE actor = 'rival'",
    "without end": "UPDATE keys SET expires_at = NULL WHERE actor = 'rival'",
    "with a motive": """UPDATE keys SET motive = '{"evidence":[],"intent":"security","motivation":"incident","text":"","wanted_seconds":null}' WHERE actor = 'rival'""",
    "on behalf of nobody": "UPDATE keys SET on_behalf_of = 'human' WHERE actor = 'rival'",
}


@pytest.mark.parametrize("statement", PROMOTED.values(), ids=PROMOTED)
def test_a_key_that_was_promoted_authenticates_nobody(own: Gate, statement: str) -> None:
    assert approve(own, "rival") == 403
    tamper(database(own), statement)
    own.run(asyncio.sleep(1.1))  # the keyring caches a key for a second
    assert approve(own, "rival") == 401
    assert own.keys["rival"].id in broken(own)


def test_the_key_of_the_approver_still_works(own: Gate) -> None:
    assert approve(own, "human") == 404


@pytest.mark.parametrize("change", ["actor = 'human'", "verdict = 'deny'", "body = replace(body, ':6', ':5')"])
def test_a_rewrite_with_fresh_hashes_is_named(own: Gate, change: str) -> None:
    decided = own.records(mutation_id=own.records()[-1].mutation_id)[0].seq
    tamper(database(own), f"UPDATE records SET {change} WHERE seq = {decided}")  # noqa: S608  no input
    rehash(database(own), decided)
    assert broken(own).startswith(f"Record {decided} or its list of resources")


CUT: dict[str, tuple[str, ...]] = {
    "the last record": ("DELETE FROM records WHERE seq = (SELECT max(seq) FROM records)",),
    "the last two and their attempt": (
        "DELETE FROM records WHERE seq > (SELECT max(seq) - 2 FROM records)",
        "DELETE FROM record_resources",
        "DELETE FROM attempts",
        "DELETE FROM claims",
        "DELETE FROM applied_values",
    ),
    "everything": ("DELETE FROM records", "DELETE FROM record_resources", "DELETE FROM attempts", "DELETE FROM keys"),
}


@pytest.mark.parametrize("statements", CUT.values(), ids=CUT)
def test_a_running_gateway_takes_no_mutation_once_its_ledger_was_cut(own: Gate, statements: tuple[str, ...]) -> None:
    motive = ("availability", "incident; evidence=A-1")
    client = own.client("autoscaling", "agent", motive)
    tamper(database(own), *statements)
    with pytest.raises(ClientError) as caught:
        client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=7)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] in (403, 503)
    assert own.upstream.asked == []


@pytest.mark.parametrize("statements", CUT.values(), ids=CUT)
def test_a_gateway_does_not_start_on_a_ledger_that_was_cut(tmp_path: Path, statements: tuple[str, ...]) -> None:
    with Gate(directory=tmp_path) as gate:
        scale(gate)
        stack = gate.stack
    settings = Settings(
        data=tmp_path / "data",
        upstream=UpstreamSettings(simulated="http://127.0.0.1:1"),
        stacks=(StackSettings(name="kafka", path=stack),),
    )
    tamper(tmp_path / "data" / "ledger.db", *statements)

    async def start() -> None:
        async with running(settings):
            pass

    with pytest.raises(LedgerBroken, match=r"^Record \d+ is missing"):
        asyncio.run(start())


def test_a_forged_approval_stops_the_gateway_at_the_next_checkpoint(own: Gate) -> None:
    columns = "version, stage, at, mutation_id, actor, stack, intent, motivation, verdict, key_id, has_evidence, left_over, body, previous, hash"
    copied = "version, 'approved', at, mutation_id, 'human', stack, intent, motivation, verdict, key_id, has_evidence, left_over, body, hash"
    last = "SELECT max(seq) FROM records"
    tamper(
        database(own),
        f"INSERT INTO records (seq, {columns}) SELECT seq + 1, {copied}, '{'ab' * 32}' FROM records WHERE seq = ({last})",  # noqa: S608  no input
    )
    forged = own.records()[-1].seq
    assert own.records()[-1].actor == "human"
    anchor: Any = own.ledger._anchor
    anchor._try_to_sign()
    assert f"Record {forged} " in anchor.problem
    assert broken(own).startswith(f"Record {forged} ")
    assert EVERY_RECORDS <= 1_000


def test_verification_does_not_stop_a_gateway_that_writes(own: Gate) -> None:
    """Readers see one state, so records that come meanwhile break nothing."""
    done = threading.Event()

    def keep_writing() -> None:
        while not done.is_set():
            scale(own, 7)
            scale(own, 6)

    thread = threading.Thread(target=keep_writing)
    thread.start()
    counts = [own.run(own.ledger.verify()) for _ in range(10)]
    done.set()
    thread.join()
    assert counts == sorted(counts)


def test_a_changed_row_of_every_kind_is_named(own: Gate) -> None:
    tamper(database(own), "UPDATE claims SET actor = 'rival'")
    assert "of claims was changed past Sentinel: its `actor`" in broken(own)
    tamper(database(own), "UPDATE claims SET actor = 'agent'", "UPDATE attempts SET idempotency_key = 'x'")
    assert "of attempts was changed past Sentinel: its `idempotency_key`" in broken(own)
    tamper(database(own), "DELETE FROM attempts")
    assert "of attempts is missing, though record" in broken(own)
