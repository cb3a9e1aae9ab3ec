"""`managed_by_agent` with one bound granted every delete and every invoke.

The attack: an agent that may set one bounded attribute of a queue deletes the queue, drains it message by message, purges it, or
deletes an alarm or the whole group. What must hold: nothing of this reaches AWS unless every block of a contract that matches the
resource says `allow_delete`, or names the operation in `allow_invoke`; the denial says which block does not, and what to add there.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
RETRY = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-retry"
GROUP = "sg-0abc1234"
LOGS = "/kafka/consumer/ingest"
ENTRIES = [{"Id": str(number), "ReceiptHandle": f"r{number}"} for number in range(10)]

Attack = Callable[[Gate], Any]


@pytest.fixture(autouse=True)
def clean(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each attack sees only what it sends, and leaves no claim behind."""
    gate = request.getfixturevalue("granted" if "granted" in request.fixturenames else "gate")
    gate.upstream.asked.clear()
    yield
    gate.release_all()


DELETES: dict[str, Attack] = {
    "a queue": lambda gate: gate.client("sqs").delete_queue(QueueUrl=QUEUE),
    "a queue of a module": lambda gate: gate.client("sqs").delete_queue(QueueUrl=RETRY),
    "an alarm": lambda gate: gate.client("cloudwatch").delete_alarms(AlarmNames=["HighConsumerLagAlarm"]),
    "an alarm beside one that nothing declares": lambda gate: gate.client("cloudwatch").delete_alarms(
        AlarmNames=["HighConsumerLagAlarm", "other"]
    ),
    "the group": lambda gate: gate.client("autoscaling").delete_auto_scaling_group(
        AutoScalingGroupName=ASG, ForceDelete=True
    ),
    "a security group": lambda gate: gate.client("ec2").delete_security_group(GroupId=GROUP),
    "a security group by name": lambda gate: gate.client("ec2").delete_security_group(GroupName="kafka-consumer"),
    "a log group": lambda gate: gate.client("logs").delete_log_group(logGroupName=LOGS),
}
INVOKES: dict[str, Attack] = {
    "purging a queue": lambda gate: gate.client("sqs").purge_queue(QueueUrl=QUEUE),
    "draining a queue": lambda gate: gate.client("sqs").delete_message_batch(QueueUrl=QUEUE, Entries=ENTRIES),
    "draining a queue one by one": lambda gate: gate.client("sqs").delete_message(QueueUrl=QUEUE, ReceiptHandle="r"),
    "taking messages": lambda gate: gate.client("sqs").receive_message(QueueUrl=QUEUE, MaxNumberOfMessages=10),
    "hiding messages": lambda gate: gate.client("sqs").change_message_visibility(
        QueueUrl=QUEUE, ReceiptHandle="r", VisibilityTimeout=43200
    ),
    "forging messages": lambda gate: gate.client("sqs").send_message(QueueUrl=RETRY, MessageBody="x"),
    "silencing an alarm": lambda gate: gate.client("cloudwatch").set_alarm_state(
        AlarmName="HighConsumerLagAlarm", StateValue="OK", StateReason="x"
    ),
    "stopping the group's processes": lambda gate: gate.client("autoscaling").suspend_processes(
        AutoScalingGroupName=ASG, ScalingProcesses=["Terminate"]
    ),
    "replacing the group's instances": lambda gate: gate.client("autoscaling").start_instance_refresh(
        AutoScalingGroupName=ASG
    ),
    "detaching the group's instances": lambda gate: gate.client("autoscaling").detach_instances(
        AutoScalingGroupName=ASG, InstanceIds=["i-1"], ShouldDecrementDesiredCapacity=True
    ),
}


@pytest.mark.parametrize("attack", DELETES.values(), ids=DELETES.keys())
def test_an_agent_deletes_nothing_that_no_contract_lets_it_delete(gate: Gate, attack: Attack) -> None:
    with pytest.raises(ClientError):
        attack(gate)
    assert gate.upstream.asked == []
    assert not gate.run(gate.ledger.claims())


@pytest.mark.parametrize("attack", INVOKES.values(), ids=INVOKES.keys())
def test_an_agent_invokes_nothing_that_no_contract_lets_it_invoke(gate: Gate, attack: Attack) -> None:
    with pytest.raises(ClientError):
        attack(gate)
    assert gate.upstream.asked == []
    assert not gate.run(gate.ledger.claims())


@pytest.mark.parametrize(
    ("attack", "words"),
    [
        (DELETES["a queue"], ("may not delete aws_sqs_queue.shard[0]", "sentinel.hcl:", "`allow_delete = true`")),
        (INVOKES["draining a queue"], ("invoke sqs:DeleteMessageBatch", '`allow_invoke = ["DeleteMessageBatch"]`')),
    ],
)
def test_the_denial_says_which_block_to_change_and_how(gate: Gate, attack: Attack, words: tuple[str, ...]) -> None:
    with pytest.raises(ClientError) as caught:
        attack(gate)
    message = caught.value.response["Error"]["Message"]
    assert [word for word in words if word not in message] == []


def test_an_approval_does_not_lift_what_the_contract_withholds(gate: Gate) -> None:
    with pytest.raises(ClientError) as caught:
        gate.client("sqs").purge_queue(QueueUrl=QUEUE)
    assert "sentinel approve" not in caught.value.response["Error"]["Message"]


# With grants ----------------------------------------------------------------------------------------------------------

GRANTS = """
contract "grants" {
  resource "aws_sqs_queue" "shard" {
    managed_by_agent = true
    allow_invoke     = ["sqs:SendMessage", "ReceiveMessage"]
  }
}
"""


@pytest.fixture(scope="module")
def granted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway whose owners let agents send and receive on the shards: both blocks that match them name these operations."""
    gate = Gate(directory=tmp_path_factory.mktemp("granted"))
    _edit(gate.stack / "kafka.sentinel.hcl", 'mutable          = ["tags.owner"]', 'mutable      = ["tags.owner"]\n    allow_invoke = ["SendMessage", "sqs:ReceiveMessage", "PurgeQueue"]\n    allow_delete = true')  # fmt: skip
    (gate.stack / "grants.sentinel.hcl").write_text(GRANTS)
    with gate:
        yield gate


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_what_every_matching_block_grants_is_applied(granted: Gate) -> None:
    granted.client("sqs").send_message(QueueUrl=QUEUE, MessageBody="x")
    assert granted.upstream.asked == ["SendMessage"]


WITHHELD: dict[str, Attack] = {
    "what only one of two blocks names": INVOKES["purging a queue"],
    "what neither block names": INVOKES["draining a queue"],
    "deleting where only one of two blocks says so": DELETES["a queue"],
    "invoking where the module's own block names nothing": INVOKES["forging messages"],
    "deleting where the module's own block says nothing": DELETES["a queue of a module"],
    "another kind of resource": INVOKES["silencing an alarm"],
}


@pytest.mark.parametrize("attack", WITHHELD.values(), ids=WITHHELD.keys())
def test_what_one_matching_block_withholds_never_reaches_aws(granted: Gate, attack: Attack) -> None:
    with pytest.raises(ClientError):
        attack(granted)
    assert granted.upstream.asked == []
