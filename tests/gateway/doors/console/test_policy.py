"""Policy: each rule with its title and place, and how often it spoke against a call."""

import re

import pytest

from tests.gateway.doors.console.test_approvals import propose
from tests.kit.console import held, text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_rules_and_how_often_they_fired(gate: Gate) -> None:
    for _ in range(3):
        held(gate)
    assert propose(gate, "agent", 60).status_code == 403
    page = visitor(gate, "human").get("/console/policy")
    shown = text_of(page)
    assert re.search(r"SEN-C001 A mutation that is not understood is held guardrails/comprehension.rego:\d+ 0 3", shown)
    assert "bounds.max A value above its maximum built in 1 0" in shown
    assert "never.stopped Such changes" in shown or "A person stopped such changes built in 0 0" in shown
    assert shown.index("SEN-C001") < shown.index("never.stopped")


def test_a_part_of_a_name_finds_a_rule(gate: Gate) -> None:
    client = visitor(gate, "human")
    shown = text_of(client.get("/console/policy?q=COMPREHENSION"))
    assert "SEN-C001" in shown
    assert "bounds.max" not in shown
    assert "No rule matches" in client.get("/console/policy?q=%3Cb%3E").text


def test_an_agent_s_counts_are_of_its_own(gate: Gate) -> None:
    held(gate, "agent")
    shown = text_of(visitor(gate, "rival").get("/console/policy?q=SEN-C001"))
    assert re.search(r"rego:\d+ 0 0", shown)
