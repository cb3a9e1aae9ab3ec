"""The page of the ledger verifies it on demand, for those who see everybody's changes."""

import pytest

from tests.kit.console import text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_a_person_has_every_record_verified(gate: Gate) -> None:
    human = visitor(gate, "human")
    assert "sentinel verify" in text_of(human.get("/console/ledger"))
    done = human.post("/console/ledger/verify")
    assert (done.status_code, done.headers["location"]) == (303, "/console/ledger")
    shown = text_of(human.get("/console/ledger"))
    assert "every table that follows from the records" in shown


def test_an_agent_may_not(gate: Gate) -> None:
    agent = visitor(gate, "agent")
    assert agent.get("/console/ledger").status_code == 403
    assert agent.post("/console/ledger/verify").status_code == 403
