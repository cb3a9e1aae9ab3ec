"""`sentinel contract check` on a directory, on a branch, and on the stacks of the settings."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kit.gate import Gate
from tests.kit.git import commit, repository
from tests.kit.stacks import KAFKA

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
Document = Callable[..., tuple[int, Any]]
MISTAKE = 'contract "typo" {\n  resource "aws_sqs_queue" "kafka_rety" {\n    prevent_delete = true\n  }\n}\n'


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    return Path(shutil.copytree(KAFKA, tmp_path / "stack"))


def test_right_contracts_pass(stack: Path, document: Document, sentinel: Callable[..., Any]) -> None:
    code, found = document("contract", "check", str(stack))
    assert (code, [each["mistakes"] for each in found["stacks"]]) == (0, [[]])
    assert "the contracts are right" in sentinel("contract", "check", str(stack)).stdout


def test_a_contract_for_what_no_stack_has_fails(stack: Path, document: Document) -> None:
    (stack / "typo.sentinel.hcl").write_text(MISTAKE.replace("kafka_rety", "no_such_queue"))
    code, found = document("contract", "check", str(stack))
    [mistake] = found["stacks"][0]["mistakes"]
    assert (code, "typo.sentinel.hcl:2" in mistake) == (1, True)


def test_a_branch_is_checked_as_it_is_committed(stack: Path, document: Document, sentinel: Callable[..., Any]) -> None:
    repository(stack)
    commit(stack, "right")
    (stack / "typo.sentinel.hcl").write_text(MISTAKE.replace("aws_sqs_queue", "aws_sqs_queu"))
    assert document("contract", "check", str(stack), "--ref", "HEAD")[0] == 0
    done = sentinel("contract", "check", str(stack))
    assert (done.exit_code, "did you mean 'aws_sqs_queue'?" in done.stdout) == (1, True)
    code, reply = document("contract", "check", str(stack), "--ref", "no-such-branch")
    assert (code, "no-such-branch" in reply["detail"]) == (1, True)


def test_the_stacks_of_the_settings_are_checked(stack: Path, elsewhere: Path, document: Document) -> None:
    (elsewhere / "sentinel.toml").write_text(f'[[stacks]]\nname = "kafka"\npath = "{stack}"\n')
    (stack / "typo.sentinel.hcl").write_text(MISTAKE.replace("aws_sqs_queue", "aws_sqs_queu"))
    code, found = document("contract", "check")
    assert (code, found["stacks"][0]["stack"]) == (1, "kafka")


def test_a_draft_proposes_what_was_changed_and_passes_the_check(
    gate: Gate, speak_as: Callable[..., None], stack: Path, document: Document, sentinel: Callable[..., Any]
) -> None:
    for wanted in (6, 8):
        gate.client("autoscaling").set_desired_capacity(
            AutoScalingGroupName="kafka-consumer-processor-asg", DesiredCapacity=wanted
        )
    speak_as(gate, "human")
    for file in stack.glob("*.sentinel.hcl"):
        file.unlink()
    text = sentinel("contract", "init", str(stack), "--name", "kafka", "--owner", "team-a").stdout
    assert '  resource "aws_autoscaling_group" "kafka_consumer" {\n    managed_by_agent = true\n' in text
    assert '    attribute "desired_capacity" { # changed ' in text
    assert "max = 8" in text
    (stack / "kafka.sentinel.hcl").write_text(text)
    assert document("contract", "check", str(stack))[0] == 0
    offline = sentinel("contract", "init", str(stack), "--offline").stdout
    assert "managed_by_agent" not in offline
    gate.release_all()


def test_a_contract_is_explained_for_one_resource(
    stack: Path, document: Document, sentinel: Callable[..., Any]
) -> None:
    group = "aws_autoscaling_group.kafka_consumer"
    code, found = document("contract", "explain", group, str(stack))
    limits = {(each["attribute"], each["name"]): each["limit"] for each in found["bounds"]}
    assert (code, found["managed_by_agent"], found["owner"]) == (0, True, "team-streaming")
    assert (limits["desired_capacity", "max_step"], limits["desired_capacity", "max"]) == (4, 16)
    text = " ".join(sentinel("contract", "explain", group, str(stack)).stdout.split())
    assert "Agents may set desired_capacity, max_size." in text
    assert "max_step of desired_capacity is 4 (kafka.sentinel.hcl:11)." in text
    assert "Agents may not delete it, and may invoke nothing." in text
    table = " ".join(sentinel("contract", "explain", "aws_dynamodb_table.offsets", str(stack)).stdout.split())
    assert "Agents may not touch it: the block at kafka.sentinel.hcl:" in table
    assert "Nobody deletes it." in table
    none = sentinel("contract", "explain", "aws_autoscaling_group.kafka_consumr", str(stack))
    assert (none.exit_code, f"Did you mean {group}" in " ".join(none.output.split())) == (1, True)
