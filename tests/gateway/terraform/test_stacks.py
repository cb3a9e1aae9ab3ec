"""Several stacks together: lookup over all of them, equal addresses, and all-or-nothing reloading."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from gateway.core.errors import Ambiguous, CodeInvalid
from gateway.core.model.masking import PER_RUN
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.terraform.stacks import Stacks
from tests.kit.growth import work
from tests.kit.stacks import GROUP, KAFKA, Source, load

NAMED = {"name": "kafka-consumer-processor-asg"}


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


def test_the_account_is_that_of_the_recorded_resources(copy: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(KAFKA, tmp_path / "other"))
    state = other / "terraform.tfstate"
    state.write_text(state.read_text().replace("123456789012", "999999999999"))

    assert load(Source(path=copy)).accounts() == {"123456789012"}
    assert load(Source(path=copy), Source(path=other, name="other")).accounts() == {"123456789012", "999999999999"}
    assert load().accounts() == frozenset()


def test_a_secret_in_the_code_is_not_shown(copy: Path) -> None:
    (copy / "secret.auto.tfvars").write_text('reports_password = "hunter2 hunter2"\n')
    stack = load(Source(path=copy)).all[0]

    assert stack.declared("aws_db_instance.reports", "password") == PER_RUN.mask("hunter2 hunter2")


def test_no_state_is_an_empty_state(copy: Path) -> None:
    (copy / "terraform.tfstate").unlink()
    stack = load(Source(path=copy)).all[0]

    assert stack.recorded(GROUP) is None
    assert stack.locate("aws_autoscaling_group", {"name": "kafka-consumer-processor-asg"}) == GROUP
    after = {"desired_capacity": 3}
    bounds = {f"{b.attribute} {b.name}": b.limit for b in stack.contract(GROUP).evaluate(after, {})}
    assert bounds["desired_capacity max"] == 16, "a resource that is not in the state is as declared"


def test_a_stack_does_not_load_without_valid_contracts(copy: Path) -> None:
    (copy / "kafka.sentinel.hcl").write_text('contract "x" {\n  resource "a" "b" {\n    managed = true\n  }\n}\n')

    with pytest.raises(CodeInvalid, match=r"^kafka\.sentinel\.hcl:3: There is no attribute 'managed'"):
        load(Source(path=copy))
    with pytest.raises(CodeInvalid, match="no such directory"):
        load(Source(path=copy / "nowhere"))
    with pytest.raises(CodeInvalid, match="Two stacks"):
        load(Source(path=KAFKA), Source(path=KAFKA))
    with pytest.raises(CodeInvalid, match="cannot be read"):
        load(Source(path=KAFKA, state=copy))


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


@pytest.fixture
def twins(copy: Path) -> Stacks:
    """Two stacks with the same code in two accounts, so that all addresses are equal."""
    state = copy / "terraform.tfstate"
    state.write_text(state.read_text().replace("123456789012", "222222222222"))
    return load(
        Source(path=KAFKA, name="one", account="123456789012"), Source(path=copy, name="two", account="222222222222")
    )


def test_an_address_of_two_stacks_is_named_with_its_stack(twins: Stacks) -> None:
    found = [twins.locate("aws_autoscaling_group", NAMED, account) for account in ("123456789012", "222222222222")]
    assert found == [f"one:{GROUP}", f"two:{GROUP}"]
    assert [twins.declaring(address) for address in found if address] == list(twins.all)
    assert twins.place(f"two:{GROUP}").account == "222222222222"
    assert twins.find("aws_sqs_queue", "name", "kafka-retry") == tuple(
        f"{name}:module.retry.aws_sqs_queue.this" for name in ("one", "two")
    )
    assert twins.warnings == ()


def test_without_its_stack_such_an_address_is_ambiguous(twins: Stacks) -> None:
    assert twins.default_name == ""
    with pytest.raises(Ambiguous, match=f"in the stacks one and two. Say which: one:{GROUP}, for example"):
        twins.declaring(GROUP)
    with pytest.raises(Ambiguous):
        twins.locate("aws_autoscaling_group", NAMED)
    assert twins.locate("aws_autoscaling_group", NAMED, "333333333333") is None
    assert twins.declaring(f"three:{GROUP}") is None


def test_the_declared_value_of_an_ambiguous_address_is_not_known(twins: Stacks) -> None:
    declared = twins.declared_value(f"two:{GROUP}", "max_size")
    assert declared is not None
    assert declared == twins.all[1].declared(GROUP, "max_size")
    assert twins.declared_value(GROUP, "max_size") is None
    assert twins.declared_value("aws_sqs_queue.nobody", "name") is None


def test_an_address_is_named_with_its_stack_only_while_another_has_it(twins: Stacks, copy: Path) -> None:
    path = copy / "main.tf"
    touch(path, path.read_text() + 'resource "aws_sqs_queue" "new" {\n  name = "new"\n}\n')
    assert twins.refresh()
    assert twins.locate("aws_sqs_queue", {"name": "new"}) == "aws_sqs_queue.new"
    (copy / "terraform.tfstate").unlink()
    for code in copy.glob("*.tf"):
        touch(code, "")
    (copy / "kafka.sentinel.hcl").unlink()
    assert twins.refresh()
    assert twins.problems == ()
    assert twins.locate("aws_autoscaling_group", NAMED) == GROUP


def test_a_snapshot_does_not_compare_the_addresses_again(twins: Stacks) -> None:
    assert [stack.shared for stack in twins.snapshot().all] == [stack.shared for stack in twins.all]
    assert work(twins.snapshot) < 1_000


def test_stacks_find_what_any_of_them_has() -> None:
    stacks = load(Source(path=KAFKA))

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
    stacks = load(Source(path=copy))
    before = stacks.all[0]

    assert stacks.refresh() is False
    assert stacks.all[0] is before


def test_a_changed_value_is_seen_and_the_revision_moves(copy: Path) -> None:
    stacks = load(Source(path=copy))
    old, revision = stacks.all[0], stacks.revision
    touch(copy / "terraform.tfvars", (copy / "terraform.tfvars").read_text().replace("consumers = 4", "consumers = 6"))

    assert stacks.refresh() is True
    assert stacks.all[0].declared(GROUP, "desired_capacity") == 6
    assert old.declared(GROUP, "desired_capacity") == 4, "the old stack stays one version"
    assert stacks.revision != revision
    assert stacks.refresh() is False


def test_a_changed_state_is_seen_without_reading_the_code_again(copy: Path) -> None:
    stacks = load(Source(path=copy))
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
    stacks = load(Source(path=copy))
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
        ("terraform.tfstate", "", "kafka: terraform.tfstate:1: The state file is empty"),
        ("new.sentinel.hcl", 'contract "kafka" {\n  resource "a" "b" {\n  }\n}\n', "kafka: new.sentinel.hcl:2: The contract 'kafka' is already in kafka.sentinel.hcl."),
    ],
)  # fmt: skip
def test_a_broken_version_keeps_the_last_good_one_and_is_a_problem(
    copy: Path, file: str, text: str, expected: str
) -> None:
    stacks = load(Source(path=copy))
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
    stacks = load(Source(path=copy))
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
    stack = load(Source(path=tmp_path)).all[0]
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
        load(Source(path=copy))
    stack = load(Source(path=copy, state=copy / "terraform.tfstate")).all[0]
    assert stack.recorded(GROUP) is not None


def test_a_stack_that_moves_its_state_away_keeps_its_last_version(copy: Path) -> None:
    stacks = load(Source(path=copy))
    touch(copy / "backend.tf", REMOTE)
    stacks.refresh()
    assert 'keeps its state in backend "gcs"' in stacks.problems[0]
    assert stacks.all[0].recorded(GROUP) is not None


CREATING = """
provider "aws" { region = "eu-west-1" }
module "shop" {
  source   = "./service"
  for_each = toset(["web", "api"])
  name     = each.key
}
"""
SERVICE = """
variable "name" {}
resource "aws_ecs_cluster" "main" {
  name = "cluster-${var.name}"
}
resource "aws_ecs_service" "main" {
  name    = var.name
  cluster = aws_ecs_cluster.main.id
}
resource "aws_cloudwatch_event_rule" "nightly" {
  name                = "nightly-${var.name}"
  schedule_expression = "rate(1 day)"
}
resource "aws_cloudwatch_event_target" "nightly" {
  rule      = aws_cloudwatch_event_rule.nightly.name
  target_id = "jobs"
  arn       = "arn:aws:sqs:eu-west-1:123456789012:jobs"
}
"""


@pytest.mark.parametrize(
    ("resource_type", "identity", "address"),
    [
        ("aws_ecs_service", {"name": "web", "cluster": "cluster-web"}, 'module.shop["web"].aws_ecs_service.main'),
        ("aws_ecs_service", {"name": "web", "cluster": "cluster-api"}, None),
        ("aws_ecs_service", {"name": "web", "cluster": "another"}, None),
        ("aws_ecs_service", {"name": "another", "cluster": "cluster-web"}, None),
        (
            "aws_cloudwatch_event_target",
            {"rule": "nightly-api", "event_bus_name": "default", "target_id": "jobs"},
            'module.shop["api"].aws_cloudwatch_event_target.nightly',
        ),
        (
            "aws_cloudwatch_event_target",
            {"rule": "nightly-api", "event_bus_name": "orders", "target_id": "jobs"},
            None,
        ),
    ],
)
def test_a_resource_of_a_module_is_known_while_it_is_created(
    tmp_path: Path, resource_type: str, identity: dict[str, str], address: str | None
) -> None:
    """A part of its name is that of another resource, which AWS has not made yet."""
    (tmp_path / "service").mkdir()
    (tmp_path / "main.tf").write_text(CREATING)
    (tmp_path / "service" / "main.tf").write_text(SERVICE)

    assert load(Source(path=tmp_path)).locate(resource_type, identity) == address


def test_two_that_leave_their_names_to_the_provider_are_not_told_apart(tmp_path: Path) -> None:
    role = 'resource "aws_iam_role" "{}" {{\n  name_prefix        = "jobs-"\n  assume_role_policy = "{{}}"\n}}\n'
    generated = {"name": "jobs-20261123080912345600000001"}
    (tmp_path / "main.tf").write_text(role.format("one"))
    assert load(Source(path=tmp_path)).locate("aws_iam_role", generated) == "aws_iam_role.one"
    (tmp_path / "main.tf").write_text(role.format("one") + role.format("two"))
    assert load(Source(path=tmp_path)).locate("aws_iam_role", generated) is None
