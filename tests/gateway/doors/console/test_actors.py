"""Actors: what each asked, got and was refused, what it has left, and its stop."""

import re

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.doors.console.actors import _tightest
from tests.gateway.doors.console.test_approvals import propose
from tests.kit.console import held, text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_an_actor_s_page_says_what_it_got(gate: Gate) -> None:
    held(gate, "agent")
    assert propose(gate, "agent", 6).status_code == 200
    assert propose(gate, "agent", 60).status_code == 403
    shown = text_of(visitor(gate, "human").get("/console/actors/agent"))
    counted = shown.partition("Decisions among its newest")[2].partition("1 call waits")[0]
    assert {f"1 × {verdict}" for verdict in ("allow", "deny", "hold")} <= set(re.findall(r"\d+ × \w+", counted))
    assert "1 call waits for a human" in shown
    assert "desired_capacity at 6" in shown
    assert "a minute" in shown
    gate.release_all()


def test_an_operator_stops_and_resumes_with_a_reason(gate: Gate) -> None:
    gate.issue("oper", kind=ActorKind.HUMAN, roles=("operator",))
    client = visitor(gate, "oper")
    assert client.post("/console/stops", data={"scope": "actor", "name": "rival", "reason": "."}).status_code == 400
    assert (
        client.post("/console/stops", data={"scope": "", "name": "rival", "reason": "It runs amok"}).status_code == 400
    )
    assert (
        client.post("/console/stops", data={"scope": "actor", "name": "nobody", "reason": "It runs amok"}).status_code
        == 404
    )
    assert (
        client.post("/console/stops", data={"scope": "actor", "name": "rival", "reason": "It runs amok"}).status_code
        == 303
    )
    asked = text_of(client.get("/console/stops/new?scope=actor&name=rival"))
    assert "This refuses every change by rival or on its behalf" in asked
    assert f"Changes with the key {gate.keys['rival'].id}" in asked
    [stop] = gate.records(stage=Stage.STOPPED)
    assert (stop.actor, stop.body.members["reason"]) == ("oper", "It runs amok")
    listed = text_of(client.get("/console/actors"))
    assert "It runs amok" in listed
    assert "rival stopped agent" in listed
    assert propose(gate, "rival", 5).status_code == 403
    ending = text_of(client.get(f"/console/stops/{stop.mutation_id}/resume"))
    assert "oper stopped every change by rival or on its behalf" in ending
    assert "The stop refused 1 change" in ending
    assert client.post(f"/console/stops/{stop.mutation_id}/resume", data={"reason": "It was mended"}).status_code == 303
    assert [record.body.members["reason"] for record in gate.records(stage=Stage.RESUMED)] == ["It was mended"]


def test_a_stop_is_asked_for_before_it_stands(gate: Gate) -> None:
    gate.issue("oper", kind=ActorKind.HUMAN, roles=("operator",))
    client = visitor(gate, "oper")
    held(gate, "agent")
    shown = text_of(client.get("/console/stops/new?scope=all&name=left+over"))
    assert "This refuses every change, from the next request on" in shown
    assert "waits for a person" in shown
    for scope, name in (("stack", "kafka"), ("service", "events")):
        page = client.get(f"/console/stops/new?scope={scope}&name={name}")
        assert f'name="name" value="{name}"' in page.text
    for wrong in ("scope=actor", "scope=&name=x", "scope=else&name=x"):
        assert client.get(f"/console/stops/new?{wrong}").status_code == 404
    hostile = client.get("/console/stops/new?scope=stack&name=%22%3E%3Cimg+src%3Dx%3E")
    assert "<img" not in hostile.text
    assert client.get("/console/stops/stp_none/resume").status_code == 404
    assert gate.run(gate.ledger.stops()) == ()


def test_the_keys_and_sessions_of_an_actor_are_shown_without_secrets(gate: Gate) -> None:
    motive = {"intent": "cost", "motivation": "budget", "text": "", "evidence": []}
    made = httpx.post(f"{gate.url}/v1/sessions", headers=gate.bearer("agent"), json={"motive": motive}).json()
    page = visitor(gate, "human").get("/console/actors/agent")
    shown = text_of(page)
    assert gate.keys["agent"].id in shown
    assert f"{made['access_key_id']} for cost / budget" in shown
    assert gate.keys["agent"].secret not in page.text
    assert made["secret_access_key"] not in page.text
    assert "Only people and pipelines may see which keys" in text_of(
        visitor(gate, "rival").get("/console/actors/agent")
    )


def test_others_get_no_switch_and_are_refused_all_the_same(gate: Gate) -> None:
    client = visitor(gate, "human")
    for path in ("/console/actors", "/console/actors/agent"):
        page = client.get(path)
        assert "Only a human with the role operator" in text_of(page)
        assert 'action="/console/stops' not in page.text
    assert 'action="/console/stops"' not in client.get("/console/stops/new?scope=all").text
    reply = client.post("/console/stops", data={"scope": "all", "name": "", "reason": "I want quiet"})
    assert reply.status_code == 403
    assert client.post("/console/actors/agent/reset", data={"reason": "I want it so"}).status_code == 403
    assert client.post("/console/stops/stp_none/resume", data={"reason": "I want it so"}).status_code in {403, 404}


def test_the_list_says_what_each_did_and_the_budget_that_ends_first(gate: Gate) -> None:
    gate.issue("asker")
    assert propose(gate, "asker", 60).status_code == 403
    row = text_of(visitor(gate, "human").get("/console/actors")).partition("asker agent ")[2]
    # That of a minute fills up while a busy machine waits; then that of an hour has less left.
    budget = r"(?:[56],\d{3} of 6,000 a minute|119,999 of 120,000 an hour)"
    assert re.match(rf"1 0 1 .{{1,30}} 0 \d+ {budget} closed ", row), row[:80]
    tight = {"motivation": None, "most": 10, "left": 1, "per": "hour"}
    wide = {"motivation": None, "most": 6000, "left": 5000, "per": "minute"}
    trial = {"motivation": "experiment", "most": 10, "left": 0, "per": "hour"}
    assert _tightest([wide, tight, trial]) == tight
    assert _tightest([]) is None


def test_an_agent_sees_only_itself(gate: Gate) -> None:
    shown = text_of(visitor(gate, "rival").get("/console/actors"))
    assert "rival agent" in shown
    assert "pipeline" not in shown
    assert "No key has this name, or you may not see it" in visitor(gate, "rival").get("/console/actors/agent").text
