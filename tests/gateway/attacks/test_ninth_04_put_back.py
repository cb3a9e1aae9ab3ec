"""Who may write the database gave a row another content for a moment, and put it back: the gateway believed it, and `verify` saw nothing.

An agent that was signed in to the console became an approver: the secret of its session key covers its roles, but the console makes the secret
anew of the row. An approval that nobody gave let a call pass, and was removed. A trigger, or a view in place of a table, would do both
unseen. What must hold: a session of the console ends when its key is another one; what was decided by an approval or a key that no record
made is named afterwards, and what was sent while a stop or a claim was away; so is what changes or hides rows by itself
(`tests/gateway/ledger/chain/test_schema.py`).
"""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx
import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.model.caller import ActorKind
from gateway.ledger import keyring
from tests.kit.console import PROPOSAL, Person, visitor
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def gate(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """A gateway that knows no key for longer than a request, with a ledger of its own: what is done to it stays."""
    monkeypatch.setattr(keyring, "MAX_AGE", 0.0)
    with Gate(directory=tmp_path_factory.mktemp("gate"), replays=False) as running:
        yield running


@contextmanager
def _database(gate: Gate) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(gate.directory / "data" / "ledger.db", timeout=60)) as connection, connection:
        yield connection


def _propose(gate: Gate, actor: str = "agent") -> dict[str, Any]:
    headers = {**gate.bearer(actor), "idempotency-key": uuid.uuid4().hex}
    found: dict[str, Any] = httpx.post(f"{gate.url}/v1/mutations", headers=headers, json=PROPOSAL, timeout=300).json()
    return found


def _session_of(person: Person) -> str:
    return next(cookie.value or "" for cookie in person.cookies.jar).partition(".")[0].partition("-")[0]


def test_an_agent_at_the_console_becomes_no_approver(gate: Gate) -> None:
    held = _propose(gate)["mutation"]["id"]
    person = visitor(gate, "rival")
    assert person.get("/console").status_code == 200
    with _database(gate) as database:
        database.execute(
            """UPDATE keys SET kind = 'human', roles = '["approver"]', actor = 'boss' WHERE id = ?""",
            (_session_of(person),),
        )
    answer = person.post(f"/console/mutations/{held}/approve", data={"reason": "It looks fine"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/sign-in")
    with _database(gate) as database:
        assert database.execute("SELECT count(*) FROM approvals").fetchone() == (0,)


def test_a_person_stays_signed_in(gate: Gate) -> None:
    held = _propose(gate)["mutation"]["id"]
    person = visitor(gate, "human")
    answer = person.post(f"/console/mutations/{held}/approve", data={"reason": "It looks fine"})
    assert answer.headers.get("location", answer.text).endswith("done=approved")
    assert gate.run(gate.ledger.verify()) > 0
    assert person.post("/console/sign-out").status_code == 303
    assert person.get("/console").headers["location"].startswith("/console/sign-in")


def test_an_approval_that_nobody_gave_is_named_after_it_was_removed(gate: Gate) -> None:
    _propose(gate)
    gate.run(gate.ledger.verify())
    with _database(gate) as database:
        database.execute(
            "INSERT INTO approvals (id, mutation_id, actor, call_digest, approver, at, until, state, used_by, binding, others, broke_glass, keys) "
            "SELECT 'apr_forged', mutation_id, actor, call_digest, 'boss', at, '2099-01-01T00:00:00.000000Z', 'open', '', binding, '[]', 0, '[]' "
            "FROM holds"
        )
    assert _propose(gate)["outcome"]["outcome"] == "applied"
    with _database(gate) as database:
        assert database.execute("DELETE FROM approvals").rowcount == 1
    with pytest.raises(
        LedgerBroken, match="says that the approval apr_forged let its call pass, and no record gave it"
    ):
        gate.run(gate.ledger.verify())


def test_a_trigger_is_named(gate: Gate) -> None:
    gate.run(gate.ledger.verify())
    with _database(gate) as database:
        database.execute(
            "CREATE TRIGGER helper AFTER INSERT ON holds BEGIN UPDATE keys SET kind = 'human' WHERE actor = 'rival'; END"
        )
    with pytest.raises(LedgerBroken, match="it has the trigger helper, which Sentinel did not make"):
        gate.run(gate.ledger.verify())


def _capacity(gate: Gate, actor: str, capacity: int, motivation: str = "incident") -> str:
    """Set the capacity; the id of the mutation, empty if it was refused."""
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": capacity},
        "motive": {"intent": "availability", "motivation": motivation, "evidence": ["A-1"]},
    }
    found = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(actor), json=body, timeout=300)
    return str(found.json()["mutation"]["id"]) if found.status_code == 200 else ""


@contextmanager
def _away(gate: Gate, table: str, where: str) -> Iterator[None]:
    """Rows are taken away, and put back as they were."""
    with _database(gate) as database:
        rows = database.execute(f"SELECT * FROM {table} WHERE {where}").fetchall()  # noqa: S608  texts of this file
        database.execute(f"DELETE FROM {table} WHERE {where}")  # noqa: S608  as above
    assert rows
    yield
    with _database(gate) as database:
        for row in rows:
            marks = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO {table} VALUES ({marks})", row)  # noqa: S608  as above


@pytest.mark.parametrize(("scope", "name"), [("actor", "agent"), ("service", "autoscaling"), ("all", "")])
def test_a_stop_that_was_away_for_a_moment_is_named(gate: Gate, scope: str, name: str) -> None:
    assert _capacity(gate, "agent", 7)
    body = {"scope": scope, "name": name, "reason": "it goes wrong"}
    gate.issue("operator", kind=ActorKind.HUMAN, roles=("operator",))
    told = httpx.post(f"{gate.url}/v1/stops", headers=gate.bearer("operator"), json=body, timeout=300)
    assert told.status_code in (200, 201), told.text
    assert not _capacity(gate, "agent", 8)
    assert gate.run(gate.ledger.verify()) > 0
    with _away(gate, "stops", "ended_at IS NULL"):
        assert _capacity(gate, "agent", 8)
    with pytest.raises(LedgerBroken, match=r"sent while the stop stp_\w+ stood"):
        gate.run(gate.ledger.verify())


def test_a_claim_that_was_away_for_a_moment_is_named(gate: Gate) -> None:
    assert _capacity(gate, "agent", 7)
    assert not _capacity(gate, "rival", 6, "routine")
    assert gate.run(gate.ledger.verify()) > 0
    with _away(gate, "claims", "actor = 'agent'"):
        made = _capacity(gate, "rival", 6, "routine")
        assert made
        released = httpx.post(f"{gate.url}/v1/mutations/{made}/release", headers=gate.bearer("rival"), timeout=300)
        assert released.status_code == 200
    with pytest.raises(LedgerBroken, match=r"was changed while the claim clm_\w+ of agent stood"):
        gate.run(gate.ledger.verify())
