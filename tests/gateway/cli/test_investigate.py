"""`sentinel records`, `blame`, `claims`, against a running gateway."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.data_plane import PassedCalls
from gateway.core.model.data_treatment import DataTreatment
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from tests.kit.gate import ASG, KEYS, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Document = Callable[..., tuple[int, Any]]
Speak = Callable[..., None]
WHAT = "aws_autoscaling_group.kafka_consumer.desired_capacity"


@pytest.fixture(autouse=True)
def recorded_changes(gate: Gate, speak_as: Speak) -> None:
    """An applied change and a refused one in the ledger, after the records of the keys; the commands run as the human."""
    if not gate.records(stage=Stage.DECIDED):
        gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
        rival = gate.client("autoscaling", "rival", ("cost", 'budget; text="[red]cheaper[/red]"'))
        with pytest.raises(rival.exceptions.ClientError):
            rival.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=3)
    speak_as(gate, "human")


FILTERS: dict[str, tuple[tuple[str, ...], int]] = {
    "all": ((), 3 + len(KEYS)),
    "actor": (("--actor", "agent"), 2 + 1),
    "actor nobody": (("--actor", "[bold]x"), 0),
    "intent": (("--intent", "cost"), 1),
    "motivation": (("--motivation", "incident"), 1),
    "resource": (("--resource", "aws_autoscaling_group"), 2),
    "stage": (("--stage", "settled"), 1),
    "verdict": (("--verdict", "deny"), 1),
    "an age": (("--since", "1h"), 3 + len(KEYS)),
    "a time": (("--since", "2020-01-01T00:00:00Z"), 3 + len(KEYS)),
    "a time to come": (("--since", "2999-01-01T00:00:00Z"), 0),
    "a day of this machine's zone": (("--since", "2020-01-01"), 3 + len(KEYS)),
    "until": (("--until", "2020-01-01"), 0),
    "until now": (("--until", "2999-01-01"), 3 + len(KEYS)),
    "key": (("--key", "the agent's"), 1),
    "another key": (("--key", "SNTLNOBODY"), 0),
    "refused": (("--refused",), 1),
    "no evidence": (("--no-evidence",), 1),
    "limit": (("--limit", "1"), 1),
}


@pytest.mark.parametrize(("options", "found"), FILTERS.values(), ids=FILTERS)
def test_records_are_found(gate: Gate, options: Sequence[str], found: int, document: Document) -> None:
    code, reply = document("records", *(gate.keys["agent"].id if each == "the agent's" else each for each in options))
    assert (code, len(reply["records"])) == (0, found)


def test_records_as_a_table(sentinel: Callable[..., Any], document: Document) -> None:
    (refused,) = document("records", "--verdict", "deny")[1]["records"]
    (rule,) = {each["rule"] for each in refused["body"]["decision"]["findings"] if each["verdict"] == "deny"}
    done = sentinel("records", "--each")
    assert done.exit_code == 0
    newest, _, change, *_, oldest = done.stdout.splitlines()[2:]
    assert newest.split()[0] == str(3 + len(KEYS))
    assert oldest.split()[0] == "1"
    assert "key_issued" in oldest
    assert "SNTL" in oldest
    assert f"autoscaling:SetDesiredCapacity {WHAT}: 4 → 6" in change
    assert "availability/incident" in change
    assert f"autoscaling:SetDesiredCapacity {WHAT}: 6 → 3" in newest
    assert "deny" in newest
    assert f"  {rule}: " in newest
    assert "is held by agent, whose claim outranks" in newest


def test_the_records_of_a_change_are_one_line(sentinel: Callable[..., Any]) -> None:
    _, change, *_, oldest = sentinel("records").stdout.splitlines()[2:]
    assert change.split()[0] == f"{1 + len(KEYS)}–{2 + len(KEYS)}"
    assert "decided › settled" in change
    assert f"autoscaling:SetDesiredCapacity {WHAT}: 4 → 6" in change
    assert "key_issued" in oldest


def test_no_records_prints_so(sentinel: Callable[..., Any]) -> None:
    assert sentinel("records", "--actor", "nobody").stdout == "No records.\n"


def test_an_agent_sees_its_own(gate: Gate, speak_as: Speak, document: Document) -> None:
    speak_as(gate, "rival")
    assert {record["actor"] for record in document("records")[1]["records"]} == {"rival"}


def test_claims(sentinel: Callable[..., Any], document: Document) -> None:
    code, reply = document("claims", "--address", "aws_autoscaling_group.kafka_consumer")
    assert (code, [claim["value"] for claim in reply["claims"]]) == (0, [6])
    line = sentinel("claims").stdout.splitlines()[2]
    assert WHAT in line
    assert "open" in line
    assert reply["claims"][0]["mutation_id"] in line, "what `sentinel release` takes"
    assert sentinel("claims", "--actor", "rival").stdout == "No claims.\n"
    assert sentinel("claims", "--all").exit_code == 0


def test_blame_shows_the_history(sentinel: Callable[..., Any], document: Document) -> None:
    code, reply = document("blame", WHAT)
    assert (code, reply["actor"], reply["value"], reply["evidence"]) == (0, "agent", 6, ["A-1"])
    shown = sentinel("blame", WHAT).stdout
    assert shown.startswith(WHAT)
    for word in ("agent", "availability", "incident", "A-1"):
        assert word in shown
    assert sentinel("blame", *WHAT.rsplit(".", 1)).stdout == shown, "the attribute may be a word of its own"


BAD = {
    "no attribute": (("blame", "aws_instance"), "malformed"),
    "one word": (("blame", "x"), "malformed"),
    "nothing": (("blame", ""), "malformed"),
    "markup": (("blame", "[red]a[/red].b.c"), "malformed"),
    "nobody set it": (("blame", "aws_instance.web.ami"), "not_found"),
    "not a time": (("records", "--since", "yesterday"), "malformed"),
    "no age": (("records", "--since", "0h"), "motive"),
}


@pytest.mark.parametrize(("command", "code"), BAD.values(), ids=BAD)
def test_bad_input_is_an_error(command: tuple[str, ...], code: str, document: Document) -> None:
    ended, reply = document(*command)
    assert (ended, reply["code"]) == (1, code)


def test_modules_and_instances_are_addresses(document: Document) -> None:
    code, reply = document("blame", 'module.a["x.y"].aws_sqs_queue.q["k.1"].tags.Name')
    assert (code, reply["code"]) == (1, "not_found")
    assert 'aws_sqs_queue.q["k.1"].tags.Name' in reply["detail"]


@pytest.mark.parametrize(
    "address", ["prod:aws_sqs_queue.q", 'prod:module.a["x.y"].aws_sqs_queue.q[0]', "aws_security_group{id=sg-1}"]
)
def test_an_address_is_taken_as_lists_show_it(address: str, document: Document) -> None:
    code, reply = document("blame", f"{address}.tags.Name")
    assert (code, reply["code"]) == (1, "not_found")
    assert f"{address}.tags.Name" in reply["detail"]


def test_calls_that_passed_are_shown_with_their_number(gate: Gate, sentinel: Callable[..., Any]) -> None:
    now = SystemClock().now()
    passed = PassedCalls(
        caller=Caller(actor="shop", kind=ActorKind.SERVICE, key_id="SNTLSHOP"),
        service="sqs",
        operation="SendMessage",
        stack="kafka",
        treatment=DataTreatment.PASS,
        count=380,
        errors=2,
        since=now,
        until=now,
    )
    gate.run(gate.ledger.record_passed([passed], now))
    shown = sentinel("records", "--stage", "passed").stdout
    assert "sqs:SendMessage" in shown
    assert "380 times, 2 errors" in shown
