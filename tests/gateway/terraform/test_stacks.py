"""Stacks: lookup by address and identity, contracts in the context of their module, and all-or-nothing reloading."""

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Ambiguous, CodeInvalid
from gateway.model.masking import PER_RUN
from gateway.model.verdict import Mode
from gateway.settings import StackSettings
from gateway.terraform.stacks import Stack, Stacks
from tests.kit.growth import work

KAFKA = Path(__file__).parents[2] / "cases" / "stacks" / "kafka"
GROUP = "aws_autoscaling_group.kafka_consumer"


@dataclass(frozen=True)
class Source:
    path: Path
    name: str = "kafka"
    state: Path | None = None
    mode: Mode = Mode.ENFORCE
    account: str = ""
    region: str = ""
    protected_branch: str = ""
    workspace: str = ""
    backend_config: Mapping[str, str] = field(default_factory=dict)


def load(*sources: Source) -> Stacks:
    return Stacks.load(sources, default_mode=Mode.ENFORCE)


@pytest.fixture(scope="module")
def kafka() -> Stack:
    return load(Source(KAFKA)).all[0]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(KAFKA, tmp_path / "stack"))


def touch(path: Path, text: str) -> None:
    """Write a text, with a modification time that differs."""
    path.write_text(text)
    stamp = time.time_ns() + 1_000_000_000
    os.utime(path, ns=(stamp, stamp))


def test_settings_are_a_source(copy: Path) -> None:
    stacks = Stacks.load([StackSettings(name="kafka", path=copy, mode=Mode.OBSERVE)], default_mode=Mode.ENFORCE)

    assert stacks.default_name == "kafka"
    assert stacks.all[0].mode is Mode.OBSERVE
    assert stacks.default_mode is Mode.ENFORCE


def test_the_case_stack_has_no_warnings(kafka: Stack) -> None:
    assert kafka.warnings == ()


@pytest.mark.parametrize(
    ("resource_type", "identity", "expected"),
    [
        ("aws_autoscaling_group", {"name": "kafka-consumer-processor-asg"}, GROUP),
        ("aws_security_group", {"id": "sg-0abc1234"}, "aws_security_group.kafka_consumer"),
        ("aws_sqs_queue", {"url": "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-1"}, "aws_sqs_queue.shard[1]"),
        ("aws_sqs_queue", {"name": "kafka-archive-hot"}, 'module.archive["hot"].aws_sqs_queue.this'),
        ("aws_sqs_queue", {"name": "kafka-consumer-audit"}, "aws_sqs_queue.audit"),
        ("aws_sqs_queue", {"name": "kafka-consumer-audit", "visibility_timeout_seconds": "60"}, "aws_sqs_queue.audit"),
        ("aws_sqs_queue", {"name": "nobody"}, None),
        ("aws_sqs_queue", {}, None),
        ("aws_caller_identity", {"id": "123456789012"}, None),
    ],
)  # fmt: skip
def test_a_resource_is_located_in_the_state_or_else_in_the_code(
    kafka: Stack, resource_type: str, identity: Mapping[str, str], expected: str | None
) -> None:
    assert kafka.locate(resource_type, identity) == expected


def test_what_fits_several_is_ambiguous(kafka: Stack) -> None:
    with pytest.raises(Ambiguous, match="fits"):
        kafka.locate("aws_sqs_queue", {"delay_seconds": "0"})


def test_children_are_found_by_their_foreign_key(kafka: Stack) -> None:
    found = kafka.find("aws_autoscaling_policy", "autoscaling_group_name", "kafka-consumer-processor-asg")

    assert found == ("aws_autoscaling_policy.scale_up_lag",)


def test_the_account_is_that_of_the_recorded_resources(copy: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(KAFKA, tmp_path / "other"))
    state = other / "terraform.tfstate"
    state.write_text(state.read_text().replace("123456789012", "999999999999"))

    assert load(Source(copy)).accounts() == {"123456789012"}
    assert load(Source(copy), Source(other, name="other")).accounts() == {"123456789012", "999999999999"}
    assert load().accounts() == frozenset()


def test_what_the_state_records_is_known_and_secrets_are_not(kafka: Stack) -> None:
    assert (kafka.recorded(GROUP) or {})["desired_capacity"] == 4
    assert (kafka.recorded("aws_db_instance.reports") or {})["password"] == PER_RUN.mask("correct horse battery staple")
    assert kafka.recorded("aws_sqs_queue.audit") is None


@pytest.mark.parametrize(
    ("address", "attribute", "expected"),
    [
        (GROUP, "desired_capacity", 4),
        (GROUP, "launch_template.version", "$Latest"),
        (GROUP, "launch_template.id", None),
        (GROUP, "nothing", None),
        (GROUP, "*", None),
        ('aws_cloudwatch_log_group.consumer["ingest"]', "retention_in_days", 14),
        ('module.archive["hot"].aws_sqs_queue.this', "name", "kafka-archive-hot"),
        ("aws_security_group.kafka_consumer", "tags.owner", "streaming"),
        ("aws_sqs_queue.nobody", "name", None),
        ("aws_sqs_queue{name=x}", "name", None),
    ],
)
def test_what_the_code_declares(kafka: Stack, address: str, attribute: str, expected: object) -> None:
    assert kafka.declared(address, attribute) == expected


def test_a_secret_in_the_code_is_not_shown(copy: Path) -> None:
    (copy / "secret.auto.tfvars").write_text('reports_password = "hunter2 hunter2"\n')
    stack = load(Source(copy)).all[0]

    assert stack.declared("aws_db_instance.reports", "password") == PER_RUN.mask("hunter2 hunter2")


def bounds_of(stack: Stack, address: str, change: Mapping[str, Any] | None = None) -> dict[tuple[str, str], Any]:
    before = stack.recorded(address) or {}
    bounds = stack.contract(address).evaluate({**before, **(change or {})}, before)
    return {(bound.attribute, f"{bound.name} {bound.source}"): bound.unknown or bound.limit for bound in bounds}


def test_bounds_are_evaluated_for_the_state_after_the_change(kafka: Stack) -> None:
    assert bounds_of(kafka, GROUP, {"max_size": 12}) == {
        ("desired_capacity", "min kafka.sentinel.hcl:9"): 2,
        ("desired_capacity", "max kafka.sentinel.hcl:10"): 12,
        ("desired_capacity", "max_step kafka.sentinel.hcl:11"): 4,
        ("max_size", "max kafka.sentinel.hcl:15"): 16,
        ("", "condition kafka.sentinel.hcl:67"): True,
        ("", "condition main.tf:21"): True,
        ("desired_capacity", "condition variables.tf:10"): True,
    }


def test_the_contract_of_a_module_is_evaluated_in_the_module(kafka: Stack) -> None:
    assert bounds_of(kafka, "module.retry.aws_sqs_queue.this") == {
        ("visibility_timeout_seconds", "min kafka.sentinel.hcl:44"): 0,
        ("visibility_timeout_seconds", "max kafka.sentinel.hcl:45"): 900,
        ("visibility_timeout_seconds", "max modules/worker/worker.sentinel.hcl:9"): 120,
        ("visibility_timeout_seconds", "condition modules/worker/main.tf:9"): True,
    }
    archive = bounds_of(kafka, 'module.archive["hot"].aws_sqs_queue.this')
    assert archive["visibility_timeout_seconds", "max modules/worker/worker.sentinel.hcl:9"] == 600


def test_a_contract_says_what_holds_for_its_resource(kafka: Stack) -> None:
    group, table = kafka.contract(GROUP), kafka.contract("aws_dynamodb_table.offsets")

    assert (group.owner, group.managed_by_agent, group.source) == ("team-streaming", True, "kafka.sentinel.hcl:5")
    assert group.bounded == ("desired_capacity", "max_size")
    assert (table.managed_by_agent, table.critical, table.prevent_delete) == (False, True, True)
    assert kafka.contract("aws_security_group.kafka_consumer").immutable == ("name",)
    assert kafka.contract("aws_sqs_queue.audit").mutable == ("tags.owner",)


def test_a_resource_without_contract_has_an_empty_one(kafka: Stack) -> None:
    for address in ("aws_iam_role.rebalancer", "aws_sqs_queue{name=x}", "aws_nothing.x"):
        contract = kafka.contract(address)
        assert (contract.managed_by_agent, contract.source, contract.evaluate({}, {})) == (False, "", ())


def test_dependants_come_with_their_place_and_weight(kafka: Stack) -> None:
    found = kafka.dependants("aws_iam_role.rebalancer")

    assert [(d.address, d.direct, d.critical, d.managed_by_agent, d.source) for d in found] == [
        ("aws_lambda_function.rebalancer", True, True, False, "main.tf:61")
    ]
    near, *far = kafka.dependants("aws_security_group.kafka_consumer")
    assert (near.address, near.direct) == ("aws_launch_template.kafka_consumer", True)
    assert [(d.address, d.direct) for d in far] == [
        (GROUP, False),
        ("aws_autoscaling_policy.scale_up_lag", False),
        ("aws_cloudwatch_metric_alarm.lag", False),
    ]


def test_no_state_is_an_empty_state(copy: Path) -> None:
    (copy / "terraform.tfstate").unlink()
    stack = load(Source(copy)).all[0]

    assert stack.recorded(GROUP) is None
    assert stack.locate("aws_autoscaling_group", {"name": "kafka-consumer-processor-asg"}) == GROUP
    after = {"desired_capacity": 3}
    bounds = {f"{b.attribute} {b.name}": b.limit for b in stack.contract(GROUP).evaluate(after, {})}
    assert bounds["desired_capacity max"] == 16, "a resource that is not in the state is as declared"


def test_a_stack_does_not_load_without_valid_contracts(copy: Path) -> None:
    (copy / "kafka.sentinel.hcl").write_text('contract "x" {\n  resource "a" "b" {\n    managed = true\n  }\n}\n')

    with pytest.raises(CodeInvalid, match=r"^kafka\.sentinel\.hcl:3: There is no attribute 'managed'"):
        load(Source(copy))
    with pytest.raises(CodeInvalid, match="no such directory"):
        load(Source(copy / "nowhere"))
    with pytest.raises(CodeInvalid, match="Two stacks"):
        load(Source(KAFKA), Source(KAFKA))
    with pytest.raises(CodeInvalid, match="cannot be read"):
        load(Source(KAFKA, state=copy))


# Several stacks -----------------------------------------------------------------------------------------------------


def test_a_contract_may_name_what_the_schema_or_the_state_has_and_nothing_else(copy: Path) -> None:
    path, state = copy / "kafka.sentinel.hcl", copy / "terraform.tfstate"
    path.write_text(path.read_text().replace("self.max_size\n", "self.max_sizzle\n", 1))
    with pytest.raises(
        CodeInvalid, match=r"kafka\.sentinel\.hcl:\d+: aws_autoscaling_group has no attribute 'max_sizzle'; did"
    ):
        load(Source(path=copy))
    state.write_text(state.read_text().replace('"max_size"', '"max_sizzle"'))  # as if of a newer provider
    assert load(Source(path=copy)).all


def test_an_address_in_two_stacks_is_ambiguous_and_warned_of(copy: Path) -> None:
    state = copy / "terraform.tfstate"
    state.write_text(state.read_text().replace("123456789012", "222222222222"))
    stacks = load(Source(KAFKA, name="one", account="123456789012"), Source(copy, name="two", account="222222222222"))

    assert stacks.default_name == ""
    with pytest.raises(Ambiguous, match="in the stacks one and two"):
        stacks.declaring(GROUP)
    with pytest.raises(Ambiguous):
        stacks.locate("aws_autoscaling_group", {"name": "kafka-consumer-processor-asg"})
    assert stacks.locate("aws_autoscaling_group", {"name": "kafka-consumer-processor-asg"}, "123456789012") == GROUP
    assert stacks.locate("aws_autoscaling_group", {"name": "kafka-consumer-processor-asg"}, "333333333333") is None
    assert any(f"{GROUP} is in the stacks one and two" in warning for warning in stacks.warnings)


def test_stacks_find_what_any_of_them_has() -> None:
    stacks = load(Source(KAFKA))

    assert stacks.declaring(GROUP) is stacks.all[0]
    assert stacks.declaring("aws_sqs_queue.audit") is stacks.all[0]
    assert stacks.declaring("aws_sqs_queue.nobody") is None
    assert (stacks.recorded(GROUP) or {})["max_size"] == 16
    assert stacks.recorded("aws_sqs_queue.nobody") is None
    assert stacks.find("aws_sqs_queue", "name", "kafka-retry") == ("module.retry.aws_sqs_queue.this",)


def test_there_may_be_no_stacks() -> None:
    stacks = load()

    assert (stacks.all, stacks.default_name, stacks.declaring("a.b"), stacks.refresh()) == ((), "", None, False)


# Reloading ----------------------------------------------------------------------------------------------------------


def test_nothing_changed_is_nothing_reloaded(copy: Path) -> None:
    stacks = load(Source(copy))
    before = stacks.all[0]

    assert stacks.refresh() is False
    assert stacks.all[0] is before


def test_a_changed_value_is_seen_and_the_revision_moves(copy: Path) -> None:
    stacks = load(Source(copy))
    old, revision = stacks.all[0], stacks.revision
    touch(copy / "terraform.tfvars", (copy / "terraform.tfvars").read_text().replace("consumers = 4", "consumers = 6"))

    assert stacks.refresh() is True
    assert stacks.all[0].declared(GROUP, "desired_capacity") == 6
    assert old.declared(GROUP, "desired_capacity") == 4, "the old stack stays one version"
    assert stacks.revision != revision
    assert stacks.refresh() is False


def test_a_changed_state_is_seen_without_reading_the_code_again(copy: Path) -> None:
    stacks = load(Source(copy))
    old = stacks.all[0]
    state = json.loads((copy / "terraform.tfstate").read_text())
    state["resources"] = [each for each in state["resources"] if each["type"] != "aws_sqs_queue"]
    touch(copy / "terraform.tfstate", json.dumps(state))

    assert stacks.refresh() is True
    assert stacks.all[0].recorded("aws_sqs_queue.shard[0]") is None
    assert stacks.all[0].code is old.code
    assert stacks.all[0].revision != old.revision


def test_a_state_that_appears_is_seen(copy: Path) -> None:
    text = (copy / "terraform.tfstate").read_text()
    (copy / "terraform.tfstate").unlink()
    stacks = load(Source(copy))
    touch(copy / "terraform.tfstate", text)

    assert stacks.refresh() is True
    assert stacks.all[0].recorded(GROUP)


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("kafka.sentinel.hcl", 'contract "x" {\n  resource "a" "b" {\n    managed = 1\n', "kafka: kafka.sentinel.hcl:"),
        ("modules/worker/worker.sentinel.hcl", "oops = 1\n", "kafka: modules/worker/worker.sentinel.hcl:1"),
        ("main.tf", 'resource "a" {\n', "kafka: main.tf:"),
        ("terraform.tfstate", '{"version": 4,', "kafka: terraform.tfstate:1"),
        ("new.sentinel.hcl", 'contract "kafka" {\n  resource "a" "b" {\n  }\n}\n', "kafka: new.sentinel.hcl:2: The contract 'kafka' is already in kafka.sentinel.hcl."),
    ],
)  # fmt: skip
def test_a_broken_version_keeps_the_last_good_one_and_is_a_problem(
    copy: Path, file: str, text: str, expected: str
) -> None:
    stacks = load(Source(copy))
    good = stacks.all[0]
    was = (copy / file).read_text() if (copy / file).exists() else None
    touch(copy / file, text)

    assert stacks.refresh() is True
    assert stacks.all[0] is good
    problems = list(stacks.problems)
    assert len(problems) == 1
    assert problems[0].startswith(expected)
    assert stacks.refresh() is False, "the same broken version is not read again and again"
    assert list(stacks.problems) == problems

    if was is None:
        (copy / file).unlink()
    else:
        touch(copy / file, was)
    assert stacks.refresh() is True
    assert not stacks.problems
    assert stacks.all[0] is not good


def test_a_stack_whose_directory_vanishes_keeps_its_contracts(copy: Path) -> None:
    stacks = load(Source(copy))
    good = stacks.all[0]
    shutil.rmtree(copy)

    assert stacks.refresh() is True
    assert stacks.all[0] is good
    assert "no such directory" in stacks.problems[0]


# Growth -------------------------------------------------------------------------------------------------------------


_LOOK_UP_LINES = 300
"""Lines that one look-up may run, whatever the size of the state."""


def large_state(count: int) -> str:
    resources = [
        {"mode": "managed", "type": "aws_sqs_queue", "name": f"q{at}", "instances": [{"attributes": {"id": f"id-{at}", "name": f"name-{at}", "url": f"u{at}"}}]}
        for at in range(count)
    ]  # fmt: skip
    return json.dumps({"version": 4, "resources": resources})


@pytest.mark.parametrize("count", [100, 10_000])
def test_look_ups_stay_flat_with_ten_thousand_resources(tmp_path: Path, count: int) -> None:
    (tmp_path / "main.tf").write_text("")
    (tmp_path / "c.sentinel.hcl").write_text('contract "c" {\n  resource "aws_sqs_queue" "*" {\n    managed_by_agent = true\n  }\n}\n')  # fmt: skip
    (tmp_path / "terraform.tfstate").write_text(large_state(count))
    stack = load(Source(tmp_path)).all[0]
    stack.locate("aws_sqs_queue", {"name": "name-1"})

    def look_up(at: int) -> None:
        address = stack.locate("aws_sqs_queue", {"name": f"name-{at}"})
        assert address == f"aws_sqs_queue.q{at}"
        assert stack.contract(address).managed_by_agent
        assert stack.dependants(address) == ()

    look_up(0)
    assert work(lambda: look_up(count // 2)) < _LOOK_UP_LINES
    assert work(lambda: look_up(count - 1)) < _LOOK_UP_LINES


REMOTE = 'terraform {\n  backend "gcs" {}\n}\n'


def test_a_stack_whose_state_is_elsewhere_does_not_start_unless_the_settings_name_a_file(copy: Path) -> None:
    (copy / "backend.tf").write_text(REMOTE)
    with pytest.raises(CodeInvalid, match=r'backend.tf:2: The stack kafka keeps its state in backend "gcs"'):
        load(Source(copy))
    stack = load(Source(copy, state=copy / "terraform.tfstate")).all[0]
    assert stack.recorded(GROUP) is not None


def test_a_stack_that_moves_its_state_away_keeps_its_last_version(copy: Path) -> None:
    stacks = load(Source(copy))
    touch(copy / "backend.tf", REMOTE)
    stacks.refresh()
    assert 'keeps its state in backend "gcs"' in stacks.problems[0]
    assert stacks.all[0].recorded(GROUP) is not None
