"""The page of changes: one row a mutation, in groups where many passed alike; its filters are in the address."""

import re
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.doors.console.changes import ChangeGroup, filter_of, grouped
from tests.kit.console import held, text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def row(number: int, **changed: Any) -> dict[str, Any]:
    alike = {"actor": "terraform", "kind": "pipeline", "stack": "s", "intent": "consistency", "motivation": "routine"}
    passed = {"verdict": "allow", "state": "applied", "mode": "enforce", "rule": "", "call": "sqs:SetQueueAttributes"}
    return {"id": f"mut_{number}", "addresses": [f"a.b{number // 2}"], **alike, **passed, **changed}


def shape(rows: list[dict[str, Any]]) -> list[str | int]:
    return [len(each.rows) if isinstance(each, ChangeGroup) else str(each["id"]) for each in grouped(rows)]


def test_many_in_a_row_that_passed_alike_are_one() -> None:
    rows = [row(0, actor="ana"), *(row(number) for number in range(1, 6)), row(6, verdict="deny", state="denied")]
    assert shape(rows) == ["mut_0", 5, "mut_6"]
    group = next(each for each in grouped(rows) if isinstance(each, ChangeGroup))
    assert (group.newest["id"], group.resources) == ("mut_1", 3)


def test_few_and_held_ones_stand_alone() -> None:
    assert shape([row(number) for number in range(3)]) == ["mut_0", "mut_1", "mut_2"]
    held_ones = [row(number, verdict="hold", state="held", addresses=["a.b"]) for number in range(5)]
    assert shape(held_ones) == [f"mut_{number}" for number in range(5)]


def test_what_was_refused_again_and_again_for_one_reason_is_one() -> None:
    def refused(number: int, **changed: Any) -> dict[str, Any]:
        return row(number, **{"verdict": "deny", "state": "denied", "addresses": ["a.b"], **changed})

    others = [refused(5, rule="bounds.min"), refused(6, addresses=["a.c"]), refused(7, call="sqs:PurgeQueue")]
    assert shape([*(refused(number) for number in range(5)), *others]) == [5, "mut_5", "mut_6", "mut_7"]


def test_a_filter_is_in_the_address_and_nothing_else_is() -> None:
    given = {"q": "web", "verdict": "nonsense", "span": "7d", "evil": "1", "intent": "cost", "actor": "a" * 900}
    assert filter_of(given) == {"q": "web", "span": "7d", "intent": "cost", "actor": "a" * 200}


def test_a_mutation_is_one_row_with_its_reason_and_a_hostile_text_is_text(gate: Gate) -> None:
    gate.issue("changer", kind=ActorKind.AGENT)
    hostile = "<script>alert(1)</script>"
    motive = {"intent": "cost", "motivation": "budget", "text": hostile, "evidence": []}
    mutation = held(gate, "changer", motive=motive)
    page = visitor(gate, "human").get("/console/changes?actor=changer&span=1h")
    assert page.status_code == 200
    assert page.text.count(f"/console/mutations/{mutation}") == 1
    assert "<script>alert" not in page.text
    shown = text_of(page)
    assert "run events:CancelReplay" in shown
    assert "held" in shown
    nothing = visitor(gate, "human").get("/console/changes?actor=changer&q=somethingelse")
    assert "No change matches." in text_of(nothing)


def test_chips_add_and_take_away_a_filter(gate: Gate) -> None:
    page = visitor(gate, "human").get("/console/changes?q=web&verdict=hold").text
    chips = re.findall(r'class="chip" href="([^"]*)"( aria-current="true")?', page)
    assert ("/console/changes?q=web", ' aria-current="true"') in chips
    assert ("/console/changes?q=web&amp;verdict=deny", "") in chips


def test_an_agent_sees_no_counts_of_others(gate: Gate) -> None:
    assert "in 24 h" in text_of(visitor(gate, "human").get("/console/changes"))
    assert "in 24 h" not in text_of(visitor(gate, "rival").get("/console/changes"))


def test_counts_are_not_told_beside_a_filter_that_they_do_not_follow(gate: Gate) -> None:
    assert "in 24 h" in text_of(visitor(gate, "human").get("/console/changes?verdict=deny&span=24h"))
    assert "in 24 h" not in text_of(visitor(gate, "human").get("/console/changes?actor=agent"))
