"""Policy: rules by pack with stage and how often they spoke, one rule with its text and tests, the numbers, and who would win."""

import re

import pytest

from tests.gateway.doors.console.test_approvals import propose
from tests.kit.console import held, text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
HOSTILE = "%3Cb%3E%22%27{{7*7}}"


def test_rules_are_by_pack_and_what_spoke_is_counted(gate: Gate) -> None:
    for _ in range(3):
        held(gate)
    assert propose(gate, "agent", 60).status_code == 403
    shown = text_of(visitor(gate, "human").get("/console/policy"))
    assert re.search(
        r"SEN-C001 A mutation that is not understood is held enforce 0 \d+ 0 (just now|\d+ \w+ ago)", shown
    )
    assert re.search(r"bounds.max A value above its maximum enforce [1-9]\d* 0 0", shown)
    assert re.search(r"network enforce \d+ rules, spoke \d+ times", shown)
    assert "CIS AWS 5.2, CIS AWS 5.3" in shown
    assert shown.index("Spoke most") < shown.index("SEN-C001")


def test_a_part_of_a_name_finds_a_rule(gate: Gate) -> None:
    client = visitor(gate, "human")
    shown = text_of(client.get("/console/policy?q=COMPREHENSION"))
    assert "SEN-C001" in shown
    assert "bounds.max" not in shown
    assert "SEN-N001" in text_of(client.get("/console/policy?q=cis+aws+5.2"))
    hostile = client.get(f"/console/policy?q={HOSTILE}&span={HOSTILE}").text
    assert "No rule matches" in hostile
    assert "<b>" not in hostile


def test_an_agent_sees_rules_and_no_counts_or_numbers(gate: Gate) -> None:
    held(gate, "agent")
    rival = visitor(gate, "rival")
    shown = text_of(rival.get("/console/policy?q=SEN-C001"))
    assert "Only people and pipelines are told how often each rule spoke." in shown
    assert "Denied" not in shown
    for path in ("policy/rules/SEN-C001", "policy/numbers", "policy/who-wins"):
        answer = rival.get(f"/console/{path}")
        assert answer.status_code == 403, path
        assert "Only people and pipelines may read rules and numbers" in text_of(answer)


def test_a_rule_is_shown_with_text_tests_and_what_it_spoke_against(gate: Gate) -> None:
    made = held(gate)
    client = visitor(gate, "human")
    shown = text_of(client.get("/console/policy/rules/SEN-C001"))
    assert "findings contains {" in shown
    assert "Pack conduct" in shown
    assert made in shown
    assert re.search(r"test_a_mutation_that_is_understood_passes line \d+", shown)
    built_in = text_of(client.get("/console/policy/rules/bounds.max"))
    assert "not written in Rego" in built_in
    missing = client.get(f"/console/policy/rules/{HOSTILE}")
    assert missing.status_code == 404
    assert "<b>" not in missing.text


def test_the_numbers_are_shown_with_who_changed_them(gate: Gate) -> None:
    shown = text_of(visitor(gate, "human").get("/console/policy/numbers?file=data/priorities.json"))
    assert "priorities.intents.security 600" in shown
    assert "Last changed by" in shown
    assert "The file on disk is not the one in force." not in shown


def test_a_file_that_was_not_asked_for_shows_its_first_numbers(gate: Gate) -> None:
    client = visitor(gate, "human")
    page = client.get("/console/policy/numbers")
    [first, *_] = re.findall(r'href="\?file=([^"]+)">… and \d+ more</a>', page.text)
    whole = client.get(f"/console/policy/numbers?file={first}")
    assert f'href="?file={first}"' not in whole.text
    assert len(page.text) < 60_000


def test_who_would_win_is_the_policy_s_own_answer(gate: Gate) -> None:
    client = visitor(gate, "human")
    shown = text_of(client.get("/console/policy/who-wins"))
    assert "allow The one who asks wins" in shown
    assert "1500 = 600 for availability + 900 for incident + 0 for agent" in shown
    again = text_of(
        client.get(
            "/console/policy/who-wins?asks_motivation=routine&asks_intent=consistency&holds_motivation=incident"
            "&holds_intent=availability&holds_proven=false"
        )
    )
    assert "deny The one who asks loses" in again
    assert "− 400 because its evidence does not hold" in again
    assert "[SEN-A001]" in again
    for wrong in (f"asks_kind={HOSTILE}", f"stack={HOSTILE}", f"asks_intent={HOSTILE}", f"holds_proven={HOSTILE}"):
        answer = client.get(f"/console/policy/who-wins?{wrong}")
        assert answer.status_code in (400, 422), wrong
        assert "<b>" not in answer.text
