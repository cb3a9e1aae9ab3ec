"""A whole gateway with derived rows: what these know passes no check that hand-made rows would have to pass."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core import derived_rows
from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, file_text
from gateway.core.model.mutation import EffectAction
from gateway.core.records.record import Stage
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-retry"
CALL = {"QueueUrl": QUEUE, "Label": "x", "AWSAccountIds": ["999999999999"], "Actions": ["SendMessage"]}
ROWS = tuple(
    DerivedRow(
        service="sqs",
        operation=operation,
        resource_type="aws_sqs_queue",
        actions=frozenset({EffectAction.SET}),
        origin=Origin.MODEL,
        confidence=confidence,
        identity={"QueueUrl": AttributeSource(attribute="url")},
    )
    for operation, confidence in (("AddPermission", Confidence.RESOURCE), ("RemovePermission", Confidence.TYPE))
)


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    rows = tmp_path_factory.mktemp("rows")
    (rows / "sqs.json").write_text(file_text("sqs", {}, ROWS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived_rows, "DIRECTORY", Path(rows))
        derived_rows._lines.cache_clear()
        with Gate(tmp_path_factory.mktemp("gate")) as running:
            yield running
    derived_rows._lines.cache_clear()


def refused(gate: Gate, actor: str, operation: str, **parameters: Any) -> str:
    """The text of the refusal."""
    with pytest.raises(ClientError) as error:
        getattr(gate.client("sqs", actor), operation)(**parameters)
    return str(error.value)


@pytest.mark.parametrize("actor", ["human", "pipeline", "service"])
def test_a_touched_resource_whose_attributes_guardrails_judge_is_held(gate: Gate, actor: str) -> None:
    """`AddPermission` opens the queue to another account, which no attribute of the call shows."""
    text = refused(gate, actor, "add_permission", **CALL)

    assert "SEN-C002" in text
    assert "exposure" in text
    assert "sentinel apply" in text
    effects = gate.records(stage=Stage.DECIDED)[-1].body.members["effects"]
    assert [(each["attribute"], each["action"], each["basis"]) for each in effects] == [("*", "invoke", "resource")]


def test_an_agent_needs_the_operation_in_its_contract(gate: Gate) -> None:
    own = {**CALL, "QueueUrl": QUEUE.replace("kafka-retry", "kafka-shard-0")}

    assert "bounds.invoke_not_allowed" in refused(gate, "agent", "add_permission", **own)


def test_a_queue_of_another_account_is_not_understood(gate: Gate) -> None:
    foreign = {**CALL, "QueueUrl": QUEUE.replace("123456789012", "999999999999")}

    assert "bounds.not_understood" in refused(gate, "human", "add_permission", **foreign)


def test_a_hold_because_only_the_type_is_known_says_so_and_how_to_go_on(gate: Gate) -> None:
    text = refused(gate, "human", "remove_permission", QueueUrl=QUEUE, Label="x")

    assert "only the type of what it changes is known (aws_sqs_queue)" in text
    assert "sentinel apply" in text
    assert "sentinel effects learn" in text
