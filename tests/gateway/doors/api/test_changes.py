"""Mutations are listed as wholes, a row each, to those who may see them; decisions are counted for people."""

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from gateway.core.errors import TryLater
from gateway.core.model.caller import ActorKind
from gateway.core.pace import Pace
from gateway.core.records.record import Stage
from gateway.doors.api.changes import _shown
from gateway.doors.api.ports import SEARCHES
from tests.kit.bodies import sample_record
from tests.kit.console import held
from tests.kit.doubles import NOW
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def listed(gate: Gate, viewer: str, **query: Any) -> dict[str, Any]:
    reply = httpx.get(f"{gate.url}/v1/mutations", params=query, headers=gate.bearer(viewer))
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_a_mutation_is_one_row_whatever_was_recorded_about_it(gate: Gate) -> None:
    gate.issue("rows", kind=ActorKind.AGENT)
    gate.issue("boss", kind=ActorKind.HUMAN, roles=("approver",))
    waiting, refused = held(gate, "rows"), held(gate, "rows")
    reply = httpx.post(
        f"{gate.url}/v1/mutations/{refused}/reject", headers=gate.bearer("boss"), json={"reason": "Not now."}
    )
    assert reply.status_code == 200, reply.text
    rows = listed(gate, "human", actor="rows")["mutations"]
    assert [(row["id"], row["state"]) for row in rows] == [(refused, "rejected"), (waiting, "held")]
    assert rows[0]["headline"].startswith("run events:CancelReplay (ReplayName n")
    assert [mark["state"] for mark in rows[0]["path"]][:2] == ["done", "stopped"]
    assert [row["id"] for row in listed(gate, "human", actor="rows", q="CANCELREPLAY lag")["mutations"]] == [
        refused,
        waiting,
    ]
    assert listed(gate, "human", actor="rows", q="nowhere")["mutations"] == []


def test_pages_follow_without_gap(gate: Gate) -> None:
    gate.issue("paged", kind=ActorKind.AGENT)
    made = [held(gate, "paged") for _ in range(5)]
    first = listed(gate, "human", actor="paged", limit=3)
    second = listed(gate, "human", actor="paged", limit=3, before_seq=first["next_before_seq"])
    assert [row["id"] for row in (*first["mutations"], *second["mutations"])] == made[::-1]
    assert second["next_before_seq"] == 0


def test_words_are_found_in_every_part_of_a_row(gate: Gate) -> None:
    gate.issue("words", kind=ActorKind.AGENT)
    made = held(gate, "words")
    for words in ("CANCEL replay", "words", made, "bounds.not_understood", "run events:cancelreplay", "The lag GROWS"):
        assert [row["id"] for row in listed(gate, "human", actor="words", q=words)["mutations"]] == [made], words
    assert listed(gate, "human", actor="words", q="lag nowhere")["mutations"] == []


def test_who_looks_for_words_without_end_waits(gate: Gate) -> None:
    gate.issue("searcher", kind=ActorKind.HUMAN)
    replies = [
        httpx.get(f"{gate.url}/v1/mutations", params={"q": "x", "limit": 1}, headers=gate.bearer("searcher"))
        for _ in range(SEARCHES + 1)
    ]
    assert [each.status_code for each in replies] == [200] * SEARCHES + [429]
    assert "searches within a minute" in replies[-1].json()["detail"]
    assert listed(gate, "human", q="x", limit=1) is not None
    assert listed(gate, "searcher", limit=1) is not None


class MovedClock:
    """A clock that is moved by hand."""

    time = NOW

    def now(self) -> datetime:
        return self.time


def test_a_pace_is_of_one_caller_and_of_one_minute() -> None:
    clock = MovedClock()
    pace = Pace(clock=clock, most=2, of="trials")
    pace.charge("ana")
    pace.charge("ana")
    pace.charge("bob")
    with pytest.raises(TryLater, match="2 trials within a minute"):
        pace.charge("ana")
    clock.time += timedelta(seconds=61)
    pace.charge("ana")


def test_an_agent_sees_its_own_only(gate: Gate) -> None:
    other, own = held(gate, "agent"), held(gate, "rival")
    seen = {row["id"] for row in listed(gate, "rival", limit=1000)["mutations"]}
    assert own in seen
    assert other not in seen


def test_what_is_asked_wrongly_is_said(gate: Gate) -> None:
    reply = httpx.get(f"{gate.url}/v1/mutations?stage=settled", headers=gate.bearer("human"))
    assert reply.status_code == 400
    assert "decisions" in reply.json()["detail"]


def test_activity_is_for_people(gate: Gate) -> None:
    held(gate)
    found = httpx.get(f"{gate.url}/v1/activity?hours=2", headers=gate.bearer("human")).json()
    assert [set(each) for each in found["hours"]] == [{"start", "counts"}] * 2
    assert sum(each["counts"].get("hold", 0) for each in found["hours"]) > 0
    reply = httpx.get(f"{gate.url}/v1/activity", headers=gate.bearer("agent"))
    assert reply.status_code == 403


def decided(part: dict[str, Any] | None, *, sent: bool) -> Any:
    decision = {"verdict": "allow" if sent else "hold", "carried_out": sent}
    body = {"decision": decision} | ({"part": part} if part else {})
    return sample_record(stage=Stage.DECIDED, at=NOW, mutation_id="m", body=body)


def test_what_an_apply_did_of_its_plan_is_in_the_plan_s_row() -> None:
    fits = {"plan": "mut_plan", "uses": [{"address": "a.b", "action": "create"}]}
    strays = {"plan": "mut_plan", "uses": []}
    assert _shown(decided(None, sent=True), "")
    assert not _shown(decided(fits, sent=True), "")
    assert _shown(decided(fits, sent=False), "")
    assert _shown(decided(strays, sent=False), "")
    assert _shown(decided(fits, sent=True), "mut_plan")
    assert not _shown(decided(fits, sent=True), "mut_other")
    assert not _shown(sample_record(stage=Stage.SIGNALLED, at=NOW), "")
