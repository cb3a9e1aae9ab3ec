"""The run task, whole: a signed request, the plan fetched from HCP Terraform, judged, and the result reported."""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.records.record import Stage
from gateway.core.settings import Settings
from gateway.core.settings.run_task import RunTaskSettings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.gateway.plans.test_document import document, entry
from tests.kit.gate import Gate
from tests.kit.hcp import KEY, TOKEN, HcpStub, serving, signed

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ASG = "aws_autoscaling_group.kafka_consumer"
ROUTINE = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)


async def _key(data: Path) -> str:
    """The id of a pipeline's key in a new ledger."""
    settings = Settings(data=data)
    async with open_sealed_ledger(settings) as ledger:
        ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
        key = await ring.issue(actor="terraform", kind=ActorKind.PIPELINE, motive=ROUTINE, lasts=timedelta(days=1))
    return key.id


@pytest.fixture(scope="module")
def hcp() -> Iterator[HcpStub]:
    with serving(HcpStub()) as stub:
        yield stub


@pytest.fixture(scope="module")
def tasked(hcp: HcpStub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with a run task, whose runs apply as `terraform`."""
    directory = tmp_path_factory.mktemp("tasked")
    (directory / "data").mkdir()
    key_id = asyncio.run(_key(directory / "data"))
    settings = RunTaskSettings.model_validate({"hmac_key": KEY, "key_id": key_id, "hosts": [hcp.host]})
    with Gate(directory=directory, run_task=settings) as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(hcp: HcpStub) -> None:
    hcp.behaviour = "ok"
    hcp.plan = document(entry(ASG, ["update"], {"desired_capacity": 6}, {"desired_capacity": 4}))
    hcp.asked.clear()
    hcp.results.clear()
    hcp.reported.clear()


def post(gate: Gate, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
    """Send a request of the run task."""
    reply = httpx.post(f"{gate.url}/v1/run-tasks/hcp", content=body, headers=headers, timeout=300)
    return reply.status_code, reply.json()


def result(gate: Gate, hcp: HcpStub, task: str, **members: Any) -> tuple[dict[str, Any], list[Any]]:
    """What HCP Terraform is told: the attributes and the outcomes."""
    assert post(gate, *signed(hcp.request(task, **members))) == (200, {"run_task": "taken"})
    assert hcp.reported.wait(300)
    data = hcp.results[-1]["data"]
    assert data["type"] == "task-results"
    return data["attributes"], data.get("relationships", {"outcomes": {"data": []}})["outcomes"]["data"]


def test_a_plan_that_would_undo_a_hotfix_fails_the_run(tasked: Gate, hcp: HcpStub) -> None:
    group = "kafka-consumer-processor-asg"
    tasked.client("autoscaling", "agent").set_desired_capacity(AutoScalingGroupName=group, DesiredCapacity=6)
    try:
        attributes, outcomes = result(tasked, hcp, "taskrs-undo")
    finally:
        tasked.release_all()
    assert (attributes["status"], "1 denial" in attributes["message"]) == ("failed", True)
    whole, denied = (each["attributes"] for each in outcomes)
    assert "### Sentinel" in whole["body"]
    assert denied["outcome-id"] == "SEN-A001-1"
    assert denied["tags"]["Status"] == [{"label": "Denied", "level": "error"}]
    # The plan is fetched with the token of the run, and judged as the actor's that applies it.
    assert hcp.asked[0] == ("GET", "/api/v2/plans/plan-1/json-output", TOKEN)
    assert [method for method, *_ in hcp.asked] == ["GET", "GET", "PATCH"]
    [record] = tasked.records(stage=Stage.PLAN_CHECKED, actor="terraform")
    text = json.dumps(record.body.members)
    assert '"origin": "hcp acme/kafka-prod run-1"' in text
    assert TOKEN not in text
    assert '"motivation": "routine"' in text


def test_a_plan_that_passes_passes_the_run_once(tasked: Gate, hcp: HcpStub) -> None:
    attributes, _ = result(tasked, hcp, "taskrs-pass")
    assert attributes == {"status": "passed", "message": "The plan of stack kafka (1 resources) would pass."}
    asked = len(hcp.asked)
    # HCP Terraform, or somebody else with the bytes, sends the same request again: nothing is asked or told.
    assert post(tasked, *signed(hcp.request("taskrs-pass"))) == (200, {"run_task": "repeated"})
    assert len(hcp.asked) == asked


def test_setting_the_run_task_up_is_verified_and_asks_nobody(tasked: Gate, hcp: HcpStub) -> None:
    body, headers = signed({"payload_version": 1, "stage": "test", "access_token": "test-token"})
    assert post(tasked, body, headers) == (200, {"run_task": "verified"})
    assert not hcp.asked


@pytest.mark.parametrize(
    ("members", "behaviour", "sentence"),
    [
        ({"stage": "pre_plan", "plan_json_api_url": None}, "ok", "run it at post_plan or pre_apply, not at pre_plan"),
        ({}, "missing", "answered 404"),
        ({}, "loop", "redirected too often"),
        ({}, "away", "which is not among `run_task.hosts`"),
    ],
)
def test_what_cannot_be_judged_fails_the_run(
    tasked: Gate, hcp: HcpStub, members: dict[str, Any], behaviour: str, sentence: str
) -> None:
    hcp.behaviour = behaviour
    attributes, _ = result(tasked, hcp, f"taskrs-{behaviour}-{len(members)}", **members)
    assert (attributes["status"], sentence in attributes["message"]) == ("failed", True), attributes


def test_a_plan_that_is_none_fails_the_run(tasked: Gate, hcp: HcpStub) -> None:
    hcp.plan = b"<html>"
    attributes, _ = result(tasked, hcp, "taskrs-html")
    assert (attributes["status"], "not JSON" in attributes["message"]) == ("failed", True)


def test_a_request_that_is_not_signed_is_recorded_and_not_read(tasked: Gate, hcp: HcpStub) -> None:
    body, headers = signed(hcp.request("taskrs-2"))
    for wrong in ({}, {"X-Tfc-Task-Signature": "0" * 128}, signed(hcp.request("taskrs-2"), "another-key-of-theirs")[1]):
        assert post(tasked, body, {"Content-Type": "application/json", **wrong})[0] == 401
    assert post(tasked, body + b" ", headers)[0] == 401
    assert not hcp.asked
    assert "run task is not signed" in str(tasked.records(stage=Stage.TURNED_AWAY)[-1].body.members["reason"])


@pytest.mark.parametrize("name", ["plan_json_api_url", "task_result_callback_url"])
@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/x",
        "http://169.254.169.254/latest",
        "http://127.0.0.1:1/x",
        "https://app.terraform.io@evil.example/x",
        "file:///etc/passwd",
    ],
)
def test_nobody_outside_chooses_a_host(tasked: Gate, hcp: HcpStub, name: str, url: str) -> None:
    status, reply = post(tasked, *signed(hcp.request("taskrs-3", **{name: url})))
    assert (status, reply["code"]) == (403, "not_allowed")
    assert not hcp.asked


def test_a_request_too_large_is_refused(tasked: Gate, hcp: HcpStub) -> None:
    body, headers = signed(hcp.request("taskrs-4", run_message="x" * 70_000))
    assert post(tasked, body, headers)[0] == 413


def test_a_gateway_without_a_run_task_has_none(gate: Gate, hcp: HcpStub) -> None:
    status, reply = post(gate, *signed(hcp.request("taskrs-5")))
    assert (status, "run_task.hmac_key" in reply["detail"]) == (404, True)
