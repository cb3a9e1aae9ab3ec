"""What waits for a human: filtered and paged by the ledger, each with its change, rejected in bulk only as listed."""

import re

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from tests.kit.console import held, text_of, visitor
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def propose(gate: Gate, actor: str, capacity: int) -> httpx.Response:
    motive = {"intent": "availability", "motivation": "incident", "text": "lag", "evidence": ["A-1"]}
    parameters = {"AutoScalingGroupName": ASG, "DesiredCapacity": capacity}
    body = {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": parameters, "motive": motive}
    return httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(actor), json=body)


def test_a_card_has_all_that_its_approver_decides_about(gate: Gate) -> None:
    assert propose(gate, "agent", 6).status_code == 200
    mutation = propose(gate, "rival", 5).json()["mutation"]["id"]
    page = visitor(gate, "human").get("/console/approvals?actor=rival")
    shown = text_of(page)
    assert "6 → 5" in shown
    assert (
        "What depends on it 2 resources: aws_autoscaling_policy.scale_up_lag aws_cloudwatch_metric_alarm.lag" in shown
    )
    assert "Who would lose a claim agent : aws_autoscaling_group.kafka_consumer.desired_capacity" in shown
    assert "In the words of rival, whom nobody has checked: lag" in shown
    assert "waits for the call 1 d at most" in shown
    assert "SEN-A002" in shown
    assert f'action="/console/mutations/{mutation}/approve"' in page.text
    gate.release_all()


def test_nothing_is_chosen_beforehand(gate: Gate) -> None:
    held(gate)
    forms = re.findall(
        r"<form[^>]*mutations/.*?</form>", visitor(gate, "human").get("/console/approvals").text, re.DOTALL
    )
    assert forms
    assert not [form for form in forms if re.search(r"\b(checked|selected|autofocus)\b", form)]
    assert all('name="reason" required' in form for form in forms)


@pytest.mark.parametrize("actor", ["agent", "pipeline"])
def test_who_may_not_decide_gets_no_button_and_is_told_why(gate: Gate, actor: str) -> None:
    held(gate, "agent")
    page = visitor(gate, actor).get("/console/approvals")
    assert "<button>Approve" not in page.text
    assert "<button>Reject" not in page.text
    assert "You cannot decide on it. Only a human with the role" in text_of(page)


def test_a_person_decides_on_no_call_of_their_own(gate: Gate) -> None:
    gate.issue("selma", kind=ActorKind.HUMAN, roles=("approver", "break-glass"))
    mutation = held(gate, "selma")
    page = visitor(gate, "selma").get("/console/approvals?actor=selma")
    assert "is your own, or made on your behalf" in page.text
    assert f"/{mutation}/approve" not in page.text
    assert f"/{mutation}/break-glass" in page.text


def test_pages_follow_each_other_and_filters_narrow_them(gate: Gate) -> None:
    gate.issue("many")
    made = [held(gate, "many") for _ in range(13)]
    client = visitor(gate, "human")
    first = client.get("/console/approvals?actor=many").text
    older = re.search(r'href="(\?[^"]*before=[^"]*)"', first)
    assert older
    second = client.get("/console/approvals" + older[1].replace("&amp;", "&")).text
    shown = re.findall(r'<h2 id="(mut_\w+)"', first) + re.findall(r'<h2 id="(mut_\w+)"', second)
    assert shown == list(reversed(made))
    assert not re.findall(r"<h2 id=", client.get("/console/approvals?actor=nobody").text)
    assert not re.findall(r"<h2 id=", client.get("/console/approvals?actor=many&stack=none").text)


def test_an_agent_sees_only_its_own(gate: Gate) -> None:
    mutation = held(gate, "agent")
    assert mutation in visitor(gate, "agent").get("/console/approvals").text
    rival = visitor(gate, "rival")
    for path in ("/console/approvals", "/console/approvals?actor=agent"):
        assert mutation not in rival.get(path).text
    assert rival.get(f"/console/mutations/{mutation}").status_code == 404


def test_bulk_rejects_exactly_what_was_listed(gate: Gate) -> None:
    gate.issue("bulk")
    listed = {held(gate, "bulk"), held(gate, "bulk")}
    client = visitor(gate, "human")
    page = client.get("/console/approvals/reject?actor=bulk")
    [given] = re.findall(r'name="mutations" value="([^"]*)"', page.text)
    assert set(given.split()) == listed
    later = held(gate, "bulk")
    refused = client.post("/console/approvals/reject?actor=bulk", data={"mutations": given, "reason": "."})
    assert (refused.status_code, "in words" in refused.text) == (400, True)
    done = client.post("/console/approvals/reject?actor=bulk", data={"mutations": given, "reason": "All from one loop"})
    assert done.headers["location"] == "/console/approvals?done=all-rejected"
    rejected = [
        record for record in gate.records(stage=Stage.REJECTED) if record.body.members["reason"] == "All from one loop"
    ]
    assert {record.mutation_id for record in rejected} == listed
    assert {record.actor for record in rejected} == {"human"}
    again = client.post(
        "/console/approvals/reject?actor=bulk", data={"mutations": given, "reason": "All from one loop"}
    )
    assert again.status_code == 409
    assert later in client.get("/console/approvals?actor=bulk").text


def test_bulk_never_lists_what_the_person_may_not_reject(gate: Gate) -> None:
    gate.issue("owner", kind=ActorKind.HUMAN, roles=("approver",))
    held(gate, "owner")
    page = visitor(gate, "owner").get("/console/approvals/reject?actor=owner")
    assert "Nothing that you may reject matches" in page.text
    too_many = {"mutations": " ".join(f"mut_{n}" for n in range(201)), "reason": "far too many"}
    assert visitor(gate, "owner").post("/console/approvals/reject", data=too_many).status_code == 400
