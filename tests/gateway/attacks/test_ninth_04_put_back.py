"""Who may write the database gave a row another content for a moment, and put it back: the gateway believed it, and `verify` saw nothing.

An agent that was signed in to the console became an approver: the secret of its session key covers its roles, but the console makes the secret
anew of the row. An approval that nobody gave let a call pass, and was removed. A trigger, or a view in place of a table, would do both
unseen. What must hold: a session of the console ends when its key is another one; what was decided by an approval or a key that no record
made is named afterwards; so is what changes or hides rows by itself (`tests/gateway/ledger/chain/test_schema.py`).
"""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx
import pytest

from gateway.core.errors import LedgerBroken
from gateway.ledger import keyring
from tests.kit.console import PROPOSAL, Person, visitor
from tests.kit.gate import Gate

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
