"""One mutation: its whole life, and the acts on it, each as the API does it and recorded with its person."""

from typing import Any

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.doors.console.api_client import ApiClient
from gateway.doors.console.mutation import WrittenCode, _in_pull_request
from tests.gateway.doors.console.test_approvals import propose
from tests.kit.console import held, text_of, visitor
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def act(gate: Gate, actor: str, mutation: str, action: str, **fields: str) -> httpx.Response:
    return visitor(gate, actor).post(f"/console/mutations/{mutation}/{action}", data=fields)


def test_an_approval_is_recorded_with_person_and_reason_and_stays_visible(gate: Gate) -> None:
    mutation = held(gate)
    done = act(gate, "human", mutation, "approve", reason="The alarm is real", lasts="15m")
    assert done.headers["location"] == f"/console/mutations/{mutation}?done=approved"
    [record] = gate.records(mutation_id=mutation, stage=Stage.APPROVED)
    assert (record.actor, record.body.members["reason"], record.body.members["door"]) == (
        "human",
        "The alarm is real",
        "console",
    )
    page = visitor(gate, "human").get(f"/console/mutations/{mutation}?done=approved")
    assert "Approved. The requester's identical call now passes once." in text_of(page)
    assert "The alarm is real" in text_of(page)
    assert "/approve" not in page.text
    assert mutation in visitor(gate, "human").get("/console/approvals?state=approved").text


def test_a_rejection_needs_a_reason_in_words(gate: Gate) -> None:
    mutation = held(gate)
    refused = act(gate, "human", mutation, "reject", reason=".")
    assert (refused.status_code, "Give a reason in words" in refused.text) == (400, True)
    assert not gate.records(mutation_id=mutation, stage=Stage.REJECTED)
    assert act(gate, "human", mutation, "reject", reason="Not in a freeze").status_code == 303
    [record] = gate.records(mutation_id=mutation, stage=Stage.REJECTED)
    assert (record.body.members["reason"], record.body.members["door"]) == ("Not in a freeze", "console")


def test_a_hidden_button_pressed_all_the_same_is_refused_by_the_ledger(gate: Gate) -> None:
    mutation = held(gate, "agent")
    for actor, action in (("agent", "approve"), ("pipeline", "reject"), ("human", "break-glass")):
        reply = act(gate, actor, mutation, action, reason="I want it so")
        assert reply.status_code == 403
        assert "Only a human with the role" in reply.text
    assert [record.stage for record in gate.records(mutation_id=mutation)] == [Stage.DECIDED]


def test_the_glass_is_broken_only_with_the_role(gate: Gate) -> None:
    gate.issue("oncall", kind=ActorKind.HUMAN, roles=("break-glass",))
    mutation = held(gate)
    assert act(gate, "oncall", mutation, "break-glass", reason="The site is down").status_code == 303
    [record] = gate.records(mutation_id=mutation, stage=Stage.BROKE_GLASS)
    assert (record.actor, record.body.members["reason"], record.body.members["door"]) == (
        "oncall",
        "The site is down",
        "console",
    )


def test_claims_are_shown_and_released(gate: Gate) -> None:
    mutation = propose(gate, "agent", 6).json()["mutation"]["id"]
    page = visitor(gate, "human").get(f"/console/mutations/{mutation}")
    assert "End these claims now" in page.text
    assert "Only agent and people with the role" in text_of(
        visitor(gate, "pipeline").get(f"/console/mutations/{mutation}")
    )
    assert act(gate, "human", mutation, "release").status_code == 303
    assert "End these claims now" not in visitor(gate, "human").get(f"/console/mutations/{mutation}").text
    gate.release_all()


def test_what_is_wanted_for_a_time_is_put_back_by_a_press(gate: Gate) -> None:
    motive = {"intent": "availability", "motivation": "incident", "text": "lag", "evidence": [], "wanted_for": "1h"}
    parameters = {"AutoScalingGroupName": ASG, "DesiredCapacity": 6}
    body = {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": parameters, "motive": motive}
    proposed = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer("agent"), json=body, timeout=300)
    assert proposed.status_code == 200, proposed.text
    mutation = proposed.json()["mutation"]["id"]
    page = visitor(gate, "human").get(f"/console/mutations/{mutation}")
    assert "Put it back now" in page.text
    assert f"sentinel end {mutation}" in text_of(page)
    assert "Put it back now" not in visitor(gate, "pipeline").get(f"/console/mutations/{mutation}").text
    assert act(gate, "pipeline", mutation, "end").status_code in {403, 404}
    done = act(gate, "human", mutation, "end")
    assert done.headers["location"] == f"/console/mutations/{mutation}?done=put-back"
    over = visitor(gate, "human").get(f"/console/mutations/{mutation}?done=put-back")
    assert "The reconciler sends the call that puts it back." in text_of(over)
    gate.release_all()


def test_claims_are_asked_for_once_however_many_addresses_there_are(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation = propose(gate, "agent", 6).json()["mutation"]["id"]
    asked: list[dict[str, Any]] = []
    ask = ApiClient.get

    async def counted(client: ApiClient, path: str, **query: object) -> dict[str, Any]:
        if path == "/claims":
            asked.append(query)
        return await ask(client, path, **query)

    monkeypatch.setattr(ApiClient, "get", counted)
    assert "End these claims now" in visitor(gate, "human").get(f"/console/mutations/{mutation}").text
    assert asked == [{"mutation_id": mutation}]
    gate.release_all()


def test_a_doubt_is_settled_by_hand_with_the_reason(gate: Gate) -> None:
    gate.upstream.behaviour = "cut"
    mutation = propose(gate, "agent", 7).json()["mutation"]["id"]
    gate.upstream.behaviour = "ok"
    page = visitor(gate, "human").get(f"/console/mutations/{mutation}")
    assert "Nobody knows whether AWS carried it out" in page.text
    assert act(gate, "human", mutation, "settle", outcome="", reason="I looked at it").status_code == 400
    assert act(gate, "human", mutation, "settle", outcome="failed", reason="I looked at it").status_code == 303
    assert gate.records(mutation_id=mutation)[-1].body.members["why"] == "I looked at it"
    gate.release_all()


def test_the_page_has_the_decision_the_command_and_the_records(gate: Gate) -> None:
    mutation = held(gate)
    shown = text_of(visitor(gate, "human").get(f"/console/mutations/{mutation}"))
    assert "SEN-C001" in shown
    assert "sentinel propose events CancelReplay" in shown
    assert f"sentinel approve {mutation} --reason" in shown
    assert "Its records, for auditors" in shown
    assert '"door": "api"' in shown


def test_records_that_are_no_mutation_have_a_page_too(gate: Gate) -> None:
    gate.issue("oper", kind=ActorKind.HUMAN, roles=("operator",))
    body = {"scope": "service", "name": "glue", "reason": "a test of pages"}
    stop = httpx.post(f"{gate.url}/v1/stops", headers=gate.bearer("oper"), json=body).json()["id"]
    assert f"Records of {stop}" in visitor(gate, "human").get(f"/console/mutations/{stop}").text
    httpx.delete(f"{gate.url}/v1/stops/{stop}", headers=gate.bearer("oper"))


def test_an_unknown_act_does_nothing(gate: Gate) -> None:
    mutation = held(gate)
    assert act(gate, "human", mutation, "delete", reason="because I say").status_code == 400


COMMIT = "a" * 40


def proposal(**changed: Any) -> dict[str, Any]:
    return {"commit": COMMIT, "number": 7, "state": "open", "url": "https://git.example/o/r/pull/7", "mutations": [], **changed}  # fmt: skip


def test_a_commit_leads_to_its_page_and_to_its_pull_request() -> None:
    found = _in_pull_request(WrittenCode(commit=COMMIT), "mut_1", proposal())
    assert found is not None
    assert (found.pull_url, found.number, found.state) == ("https://git.example/o/r/pull/7", 7, "open")
    assert found.commit_url == f"https://git.example/o/r/commit/{COMMIT}"
    by_mutation = proposal(commit="b" * 40, mutations=["mut_1"])
    assert _in_pull_request(WrittenCode(commit=COMMIT), "mut_1", by_mutation) is not None


@pytest.mark.parametrize(
    "changed",
    [{"commit": "b" * 40}, {"number": None}, {"url": "javascript:alert(1)"}, {"url": "http://git.example/o/r/pull/7"}],
)
def test_what_is_another_commit_s_or_no_page_is_no_link(changed: dict[str, Any]) -> None:
    assert _in_pull_request(WrittenCode(commit=COMMIT), "mut_1", proposal(**changed)) is None
