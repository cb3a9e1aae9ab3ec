"""Two stacks with the same code in one gateway: each change concerns the stack whose resource it names, and no other."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gateway.core.records.record import Stage
from gateway.core.settings import StackSettings
from tests.kit.gate import STACK, Gate

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/{}-shard-0"


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    directory = tmp_path_factory.mktemp("twins")
    twin = Path(shutil.copytree(STACK, directory / "twin"))
    state = twin / "terraform.tfstate"
    text = state.read_text()
    for before in ("/", ":", '"'):
        text = text.replace(f"{before}kafka-", f"{before}prod-")
    state.write_text(text)
    with Gate(directory, more_stacks=(StackSettings(name="prod", path=twin),)) as running:
        yield running


def _set(gate: Gate, actor: str, of: str, seconds: int) -> None:
    gate.client("sqs", actor).set_queue_attributes(
        QueueUrl=QUEUE.format(of), Attributes={"VisibilityTimeout": str(seconds)}
    )


def test_actors_of_two_stacks_do_not_contend_for_what_is_called_alike(gate: Gate) -> None:
    _set(gate, "agent", "kafka", 40)
    _set(gate, "rival", "prod", 50)
    decided = gate.records(stage=Stage.DECIDED)
    assert [(record.actor, record.stack) for record in decided] == [("agent", "kafka"), ("rival", "prod")]
    claims = httpx.get(f"{gate.url}/v1/claims", headers=gate.bearer("human")).json()["claims"]
    assert {(claim["actor"], claim["address"]) for claim in claims} == {
        ("agent", "kafka:aws_sqs_queue.shard[0]"),
        ("rival", "prod:aws_sqs_queue.shard[0]"),
    }
    blame = {"address": "prod:aws_sqs_queue.shard[0]", "attribute": "visibility_timeout_seconds"}
    assert httpx.get(f"{gate.url}/v1/blame", params=blame, headers=gate.bearer("human")).json()["actor"] == "rival"


def test_actors_of_one_stack_do(gate: Gate) -> None:
    gate.release_all()
    _set(gate, "agent", "prod", 60)
    with pytest.raises(Exception, match=r"prod:aws_sqs_queue\.shard\[0\] is held by agent"):
        _set(gate, "rival", "prod", 70)
