"""The playground at the API: an edit's effect on one decision and on those of last week, as a patch, and nothing in force."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.core.records.record import Stage
from gateway.policy.playground import TRIALS
from gateway.policy.sources import shipped
from tests.kit.gate import ASG, Gate
from tests.kit.git import git, repository

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
FILE = "kafka.sentinel.hcl"
CALL: Mapping[str, Any] = {
    "service": "autoscaling",
    "operation": "SetDesiredCapacity",
    "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 6},
    "motive": {"intent": "availability", "motivation": "incident", "text": "lag", "evidence": ["A-1"]},
}
STRICTER = "max_step = 1"


def ask(gate: Gate, actor: str = "human", **body: Any) -> httpx.Response:
    return httpx.post(f"{gate.url}/v1/playground", json=body, headers=gate.bearer(actor), timeout=300)


def tried(gate: Gate, **body: Any) -> dict[str, Any]:
    """What a trial shows. The gate is shared by tests, so the trials of before do not count."""
    application: Any = gate.app._app
    application.state.ports.playground.pace._asked.clear()
    answer = ask(gate, **body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def text_of(gate: Gate, path: str, stack: str = "") -> str:
    query = {"path": path, "stack": stack}
    answer = httpx.get(f"{gate.url}/v1/playground/file", params=query, headers=gate.bearer("human"))
    return str(answer.json()["text"])


def disruption(gate: Gate) -> str:
    """Data by which a set capacity disrupts."""
    data = json.loads(text_of(gate, "data/disruption.json"))
    data["disruption"]["disrupting"]["autoscaling:SetDesiredCapacity"] = "starts and stops what runs"
    return json.dumps(data, indent=2) + "\n"


def allowed(gate: Gate) -> str:
    gate.release_all()
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    [newest, *_] = reversed(gate.records(stage=Stage.DECIDED))
    return newest.mutation_id


def test_edited_data_are_tried_on_a_recorded_decision(gate: Gate) -> None:
    mutation, before = allowed(gate), len(gate.records())
    found = tried(gate, mutation=mutation, policies={"data/disruption.json": disruption(gate)})
    decision = found["decision"]
    assert (decision["before"], decision["after"], decision["rule"]) == ("allow", "hold", decision["new"][0]["rule"])
    assert decision["new"][0]["source"].startswith("guardrails/disruption.rego:")
    assert (found["replay"], found["contracts"]) == (None, "")
    assert len(gate.records()) == before
    assert tried(gate, mutation=mutation)["decision"]["after"] == "allow"  # nothing of it is in force


def test_edited_contracts_are_tried_and_last_week_is_replayed(gate: Gate) -> None:
    mutation = allowed(gate)
    contract = text_of(gate, FILE, "kafka").replace("max_step = 4", STRICTER)
    since = (datetime.now(UTC) - timedelta(days=7)).isoformat()
    found = tried(gate, mutation=mutation, contracts={"stack": "kafka", "files": {FILE: contract}}, since=since)
    assert (found["decision"]["after"], found["decision"]["rule"]) == ("deny", "bounds.max_step")
    assert any(each["rule"] == "bounds.max_step" for each in found["replay"]["groups"])
    assert "What contracts said" not in found["history"]


def test_a_call_that_nobody_sent_is_tried_as_whoever_would_send_it(gate: Gate) -> None:
    gate.release_all()
    before = len(gate.records())
    found = tried(gate, call={**CALL, "actor": "a-new-agent", "kind": "agent"})
    assert (found["decision"]["before"], found["decision"]["kind"]) == ("allow", "agent")
    too_much = {**CALL, "parameters": {**CALL["parameters"], "DesiredCapacity": 60}}
    found = tried(gate, call={**too_much, "kind": "agent"}, contracts={"stack": "kafka"})
    assert (found["decision"]["before"], found["decision"]["after"]) == ("deny", "deny")
    assert "bounds.max" in {each["rule"] for each in found["decision"]["old"]}
    assert len(gate.records()) == before


def test_the_patch_applies(gate: Gate, tmp_path: Path) -> None:
    old = text_of(gate, "data/disruption.json")
    contract = text_of(gate, FILE, "kafka")
    assert contract == (gate.stack / FILE).read_text()
    found = tried(
        gate,
        policies={"data/disruption.json": disruption(gate), "data/own.json": '{"own": {}}'},
        contracts={"stack": "kafka", "files": {FILE: contract.replace("max_step = 4", STRICTER)}},
    )
    copy = tmp_path / "copy"
    for path, text in (("policies/data/disruption.json", old), (FILE, contract)):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(text)
    repository(copy)
    (tmp_path / "edit.patch").write_text(found["patch"])
    git(copy, "apply", "--verbose", str(tmp_path / "edit.patch"))
    assert STRICTER in (copy / FILE).read_text()
    assert json.loads((copy / "policies/data/disruption.json").read_text()) == json.loads(disruption(gate))
    assert (copy / "policies/data/own.json").read_text() == '{"own": {}}'


def test_mistakes_get_their_sentence(gate: Gate) -> None:
    mutation = allowed(gate)
    wrong: tuple[tuple[dict[str, Any], int, str], ...] = (
        ({"mutation": "mut_none"}, 404, "There is no decision about mut_none"),
        ({"mutation": mutation, "call": CALL}, 400, "not both"),
        ({"policies": {"../x.rego": ""}}, 400, "is not the name of a rule or of data"),
        ({"policies": {"guardrails/x_test.rego": ""}}, 400, "is not the name of a rule or of data"),
        ({"policies": {"data/disruption.json": "{"}}, 400, "disruption.json"),
        ({"contracts": {"stack": "shop"}}, 404, "no stack 'shop'"),
        ({"contracts": {"files": {FILE: "contract {"}}}, 400, f"{FILE}:2: This is not HCL"),
        ({"contracts": {"ref": "no-such-branch"}}, 400, "no-such-branch"),
        ({"call": {**CALL, "operation": "DescribeAutoScalingGroups", "parameters": {}}}, 400, "changes nothing"),
        ({"nonsense": 1}, 400, "nonsense"),
    )
    for body, status, words in wrong:
        application: Any = gate.app._app
        application.state.ports.playground.pace._asked.clear()
        answer = ask(gate, **body)
        assert (answer.status_code, words in answer.text) == (status, True), (body, answer.text)


def test_agents_and_services_use_it_for_nothing(gate: Gate) -> None:
    for actor in ("agent", "service", "reconciler"):
        assert ask(gate, actor).status_code == 403
        for path in ("files", "file?path=guardrails.rego"):
            answer = httpx.get(f"{gate.url}/v1/playground/{path}", headers=gate.bearer(actor))
            assert answer.status_code == 403, path
    assert ask(gate, "pipeline").status_code == 200


def test_each_caller_has_so_many_trials_a_minute(gate: Gate) -> None:
    tried(gate)
    codes = [ask(gate).status_code for _ in range(TRIALS)]
    assert (codes[0], codes[-1]) == (200, 429)
    assert ask(gate, "pipeline").status_code == 200  # the share of another
    application: Any = gate.app._app
    application.state.ports.playground.pace._asked.clear()


@pytest.mark.opa
def test_edited_rules_are_compiled_and_stopped(gate: Gate) -> None:
    mutation = allowed(gate)
    files = httpx.get(f"{gate.url}/v1/playground/files", headers=gate.bearer("human")).json()
    assert files["compiles"]
    assert {"guardrails/motive.rego", "data/priorities.json"} <= {*files["policies"]}
    assert files["contracts"] == {"kafka": [FILE, "modules/worker/worker.sentinel.hcl"]}
    rule = RULE.replace("COND", 'input.caller.kind == "agent"')
    found = tried(gate, mutation=mutation, policies={"guardrails/own.rego": rule})
    assert (found["decision"]["after"], found["decision"]["rule"]) == ("deny", "OWN-1")
    assert found["decision"]["new"][-1]["source"].startswith("guardrails/own.rego:")
    assert_stopped(gate, mutation, ENDLESS)
    answer = ask(gate, policies={"guardrails/own.rego": rule.replace("caller.kind", "caller.kindd")})
    assert (answer.status_code, "guardrails/own.rego" in answer.json()["detail"]) == (400, True)
    assert not (shipped() / "guardrails" / "own.rego").exists()


@pytest.mark.long
@pytest.mark.opa
def test_a_greedy_rule_is_stopped_as_an_endless_one_is(gate: Gate) -> None:
    assert_stopped(gate, allowed(gate), "count(numbers.range(1, 30000000)) == -1")


def assert_stopped(gate: Gate, mutation: str, condition: str) -> None:
    found = tried(gate, mutation=mutation, policies={"guardrails/own.rego": RULE.replace("COND", condition)})
    assert found["decision"]["after"] == "deny"
    stopped = ("they took too long", "they were aborted (out of memory")  # whichever limit the machine reaches first
    assert any(limit in found["decision"]["new"][0]["reason"] for limit in stopped)


ENDLESS = "some x in numbers.range(1, 20000)\n\tsome y in numbers.range(1, 20000)\n\tx * y == -1"

RULE = """package sentinel.rules.own

# METADATA
# title: A rule that is tried
# custom:
#   id: OWN-1
#   severity: high
findings contains {
	"id": "OWN-1",
	"verdict": "deny",
	"message": "It is tried.",
	"address": "",
	"attribute": "",
} if {
	COND
}

concerned := set()
"""
