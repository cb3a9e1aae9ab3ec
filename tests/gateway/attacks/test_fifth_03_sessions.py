"""An agent makes short sessions, one after another: each leaves a row, and what reads all keys holds up everybody.

With 100,000 ended sessions the question for one's own budget took 19 s, in which the gateway answered nobody, and to revoke the key took 13 s.
What must hold: what a gateway answers reads standing keys alone; a revocation ends what is open; a session counts for some minutes, however
short it is.
"""

import time
from datetime import timedelta
from typing import Any

import httpx
import pytest

from gateway.core.errors import Overloaded
from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.ledger import keyring
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ENDED = 400


@pytest.fixture(scope="module")
def busy(gate: Gate) -> Gate:
    """A gateway whose agent had many sessions, one of which is open."""
    standing = gate.keys["agent"]
    gate.run(gate.ring.issue(actor="agent", kind=ActorKind.AGENT, session_of=standing.id, lasts=timedelta(hours=1)))
    [row] = [
        row
        for row in gate.run(gate.ledger.read(lambda session: session.rows(keyring._ALL, {})))
        if row.session_of == standing.id
    ]
    long_ago = {"created_at": "2026-01-01T00:00:00.000000Z", "expires_at": "2026-01-01T00:00:01.000000Z"}
    rows = [{**row._asdict(), **long_ago, "revoked_at": None, "id": f"SNTS{number:016d}"} for number in range(ENDED)]
    gate.run(gate.ledger.write(lambda transaction: transaction.change_each(keyring._INSERT, rows)))
    return gate


def test_the_question_for_budgets_reads_no_sessions(busy: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[str] = []
    real = keyring.secret_of

    def counted(master: bytes, row: Any) -> str:
        derived.append(row.id)
        return real(master, row)

    monkeypatch.setattr(keyring, "secret_of", counted)
    for path in ("/v1/budgets", "/v1/budgets?actor=agent"):
        reply = httpx.get(f"{busy.url}{path}", headers=busy.bearer("agent"), timeout=300)
        assert [each["actor"] for each in reply.json()["budgets"]] == ["agent"]
    assert not [key for key in derived if key.startswith("SNTS")]


def test_a_revocation_ends_what_is_open_and_names_nothing_else(busy: Gate) -> None:
    busy.revoke("agent")
    [record] = busy.records(stage=Stage.KEY_REVOKED)
    assert len(record.body.members["sessions"]) == 1
    end = time.monotonic() + 300  # a gateway may know a key for a second longer
    while httpx.get(f"{busy.url}/v1/budgets", headers=busy.bearer("agent"), timeout=300).status_code != 401:
        assert time.monotonic() < end, "the key still counts"


def test_short_sessions_count_for_some_minutes(gate: Gate) -> None:
    gate.issue("hasty")
    most = keyring.MOST_SESSIONS[ActorKind.AGENT]

    async def hurry() -> None:
        for _ in range(most + 1):
            await gate.ring.issue(
                actor="hasty",
                kind=ActorKind.AGENT,
                session_of=gate.keys["hasty"].id,
                lasts=timedelta(microseconds=1),
            )

    with pytest.raises(Overloaded, match="within ten minutes"):
        gate.run(hurry())
