"""What changes between before and after, leaf by leaf, without secrets."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.plan import Plan, PlannedAction
from gateway.effects.schema import known_schemas
from gateway.plans.document import LARGEST_PLAN, PlannedDifference, read_plan

TYPES = ("aws_sqs_queue", "aws_lambda_function", "aws_dynamodb_table", "aws_db_instance", "aws_security_group", "aws_ecs_task_definition")  # fmt: skip
SCHEMAS = known_schemas(TYPES)


def differ(kind: str, before: Any, after: Any, **marks: Any) -> tuple[Any, list[str], list[str]]:
    """Values, secrets and unknown attributes."""
    found = PlannedDifference(
        resource_type=kind, schema=SCHEMAS.get(kind), before=before, after=after, **marks
    ).differences()
    return found.values, found.secrets, found.unknown


@pytest.mark.parametrize(
    ("kind", "before", "after", "values"),
    [
        ("aws_sqs_queue", {"delay_seconds": 1, "name": "a"}, {"delay_seconds": 2, "name": "a"}, {"delay_seconds": 2}),
        ("aws_sqs_queue", {"tags": {"a": "1", "b": "2"}}, {"tags": {"a": "1", "c": "3"}}, {"tags.b": None, "tags.c": "3"}),
        ("aws_sqs_queue", {"tags": None}, {"tags": {"a": "1"}}, {"tags.a": "1"}),
        ("aws_sqs_queue", {"id": "x", "arn": "y", "tags_all": {}}, {"id": "z", "arn": "w", "tags_all": {"a": "1"}}, {}),
        ("aws_sqs_queue", {"url": "x"}, {"url": "computed, so never set"}, {}),
        ("aws_dynamodb_table", {"point_in_time_recovery": [{"enabled": True}]}, {"point_in_time_recovery": [{"enabled": False}]}, {"point_in_time_recovery.enabled": False}),
        ("aws_dynamodb_table", {"point_in_time_recovery": [{"enabled": True}]}, {"point_in_time_recovery": []}, {"point_in_time_recovery.enabled": None}),
        ("aws_dynamodb_table", {"attribute": [{"name": "a"}]}, {"attribute": [{"name": "b"}]}, {"attribute": [{"name": "b"}]}),
        ("aws_security_group", {"ingress": [{"from_port": 1}]}, {"ingress": [{"from_port": 2}]}, {"ingress": [{"from_port": 2}]}),
        ("aws_security_group", {"ingress": [{"from_port": 1}]}, {"ingress": []}, {"ingress": []}),
        ("random_id", {"byte_length": 2, "block": [{"a": 1}]}, {"byte_length": 4, "block": [{"a": 2}]}, {"byte_length": 4, "block": [{"a": 2}]}),
    ],
)  # fmt: skip
def test_the_leaves_that_a_call_would_set_differ(kind: str, before: Any, after: Any, values: Any) -> None:
    assert differ(kind, before, after) == (values, [], [])


def test_what_is_created_is_set_where_it_has_a_value() -> None:
    after = {"name": "a", "delay_seconds": 0, "policy": None, "tags": {}, "kms_master_key_id": ""}
    assert differ("aws_sqs_queue", None, after) == ({"name": "a", "delay_seconds": 0}, [], [])


@pytest.mark.parametrize(
    ("kind", "attribute", "value", "marks"),
    [
        ("aws_db_instance", "password", "hunter2-plain", {}),
        ("aws_db_instance", "identifier", "named-by-a-secret", {"after_sensitive": {"identifier": True}}),
        ("aws_db_instance", "identifier", "was-a-secret", {"before_sensitive": {"identifier": True}}),
        ("aws_db_instance", "identifier", "all-are-secret", {"after_sensitive": True}),
        ("aws_lambda_function", "environment", [{"variables": {"A": "value"}}], {}),
        ("aws_sqs_queue", "redrive_policy", '{"password": "hunter2-plain"}', {}),
        ("aws_security_group", "ingress", [{"description": "x"}], {"after_sensitive": {"ingress": [{"description": True}]}}),
    ],
)  # fmt: skip
def test_a_secret_is_named_and_not_told(kind: str, attribute: str, value: Any, marks: Any) -> None:
    values, secrets, unknown = differ(kind, {}, {attribute: value}, **marks)
    assert (values, len(secrets), unknown) == ({}, 1, [])


def test_a_part_of_a_block_that_is_no_secret_is_told_beside_one_that_is() -> None:
    values, secrets, _ = differ(
        "aws_dynamodb_table",
        {"ttl": [{"attribute_name": "a", "enabled": False}]},
        {"ttl": [{"attribute_name": "b", "enabled": True}]},
        after_sensitive={"ttl": [{"attribute_name": True}]},
    )
    assert (values, secrets) == ({"ttl.enabled": True}, ["ttl.attribute_name"])


def test_container_definitions_are_told_with_their_environment_masked() -> None:
    definitions = json.dumps(
        [{"name": "a", "image": "i", "environment": [{"name": "TOKEN", "value": "hunter2-plain"}]}]
    )
    values, secrets, _ = differ("aws_ecs_task_definition", {}, {"container_definitions": definitions})
    assert not secrets
    assert "hunter2" not in values["container_definitions"]
    assert '"image":"i"' in values["container_definitions"]


def test_what_only_aws_chooses_is_unknown_only_if_the_code_asks_for_it() -> None:
    marks: dict[str, Any] = {
        "after_unknown": {"role": True, "image_uri": True, "arn": True},
        "written": frozenset({"role"}),
    }
    assert differ("aws_lambda_function", {"role": "a"}, {}, **marks) == ({}, [], ["role"])
    marks["written"] = None
    assert sorted(differ("aws_lambda_function", {"role": "a"}, {}, **marks)[2]) == ["image_uri", "role"]


def test_a_part_of_a_block_is_unknown_alone() -> None:
    found = differ(
        "aws_dynamodb_table",
        {"ttl": [{"attribute_name": "a", "enabled": False}]},
        {"ttl": [{"enabled": True}]},
        after_unknown={"ttl": [{"attribute_name": True}]},
    )
    assert found == ({"ttl.enabled": True}, [], ["ttl.attribute_name"])


def entry(address: str, actions: list[str], before: Any = None, after: Any = None, **more: Any) -> dict[str, Any]:
    """One entry of `resource_changes`."""
    kind = address.split(".")[-2]
    change = {"actions": actions, "before": before, "after": after, **more.pop("change", {})}
    return {"address": address, "mode": "managed", "type": kind, "change": change, **more}


def document(*entries: dict[str, Any], **more: Any) -> bytes:
    """A plan in JSON."""
    return json.dumps(
        {"format_version": "1.2", "terraform_version": "1.9.8", "resource_changes": entries, **more}
    ).encode()


def test_a_plan_of_terraform_itself_is_read_without_its_secrets() -> None:
    """`terraform show -json` of Terraform 1.x with provider 5.100: a variable that is a secret, modules with keys, unknown references."""
    source = (Path(__file__).parents[2] / "cases" / "plans" / "created.json").read_bytes()
    assert b"hunter2-from-a-variable" in source
    plan = read_plan(source)
    assert "hunter2" not in repr(plan)
    assert "4711" not in repr(plan)
    changes = {change.address: change for change in plan.changes}
    assert set(changes["aws_db_instance.reports"].secrets) == {"password", "tags.secret"}
    assert changes["aws_db_instance.reports"].values["tags.owner"] == "team-data"
    assert changes["aws_lambda_function.f"].secrets == ("environment.variables",)
    assert changes["aws_lambda_function.f"].unknown == ("role",)
    assert changes['module.jobs["b.c"].aws_sqs_queue.this'].unknown == ("kms_master_key_id",)
    assert len(plan.changes) == 8


def test_changes_are_read_and_what_changes_nothing_is_left_out() -> None:
    plan = read_plan(
        document(
            entry("aws_sqs_queue.same", ["no-op"], {"name": "a"}, {"name": "a"}),
            entry("aws_sqs_queue.forgotten", ["forget"], {"name": "a"}),
            entry("aws_sqs_queue.kept", ["update"], {"delay_seconds": 1}, {"delay_seconds": 2}),
            entry("aws_sqs_queue.gone", ["delete"], {"delay_seconds": 1}),
            entry("aws_sqs_queue.new", ["create"], None, {"name": "b"}),
            entry("aws_sqs_queue.swapped", ["create", "delete"], {"name": "c"}, {"name": "d"}, previous_address="aws_sqs_queue.old"),
            {**entry("data.aws_region.here", ["read"], None, {"name": "x"}), "mode": "data"},
        )
    )  # fmt: skip
    assert [(each.address, each.action, dict(each.values)) for each in plan.changes] == [
        ("aws_sqs_queue.kept", PlannedAction.UPDATE, {"delay_seconds": 2}),
        ("aws_sqs_queue.gone", PlannedAction.DELETE, {}),
        ("aws_sqs_queue.new", PlannedAction.CREATE, {"name": "b"}),
        ("aws_sqs_queue.swapped", PlannedAction.REPLACE, {"name": "d"}),
    ]
    assert (plan.changes[3].previous, plan.terraform_version) == ("aws_sqs_queue.old", "1.9.8")


def test_what_the_code_of_a_module_asks_for_is_found_by_its_block() -> None:
    configuration = {
        "root_module": {
            "module_calls": {
                "a": {
                    "module": {"resources": [{"address": "aws_sqs_queue.b", "expressions": {"kms_master_key_id": {}}}]}
                }
            }
        }
    }
    unknown = {"kms_master_key_id": True, "policy": True}
    plan = read_plan(
        document(
            entry('module.a["x"].aws_sqs_queue.b[0]', ["update"], {}, {}, change={"after_unknown": unknown}),
            configuration=configuration,
        )
    )
    assert plan.changes[0].unknown == ("kms_master_key_id",)


def test_what_terraform_marks_never_leaves() -> None:
    marks = {"after_sensitive": {"tags": {"key": True}}}
    plan = read_plan(
        document(entry("aws_sqs_queue.a", ["update"], {}, {"tags": {"key": "hunter2", "b": "c"}}, change=marks))
    )
    assert (dict(plan.changes[0].values), plan.changes[0].secrets) == ({"tags.b": "c"}, ("tags.key",))
    assert "hunter2" not in repr(plan)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no plan in Terraform's JSON format 1"),
        (b'{"format_version": "2.0"}', "no plan in Terraform's JSON format 1"),
        (document(errored=True), "could not complete"),
        (document({"address": "x"}), "cannot be read"),
        (document(entry("aws_sqs_queue.a b", ["update"], {}, {})), "cannot be read"),
        (document(entry("aws_sqs_queue.a", ["explode"], {}, {})), "does explode to aws_sqs_queue.a"),
        (document(entry("aws_sqs_queue.a", ["update"], {}, {"tags": {f"k{n}": "v" for n in range(1000)}})), "1000 with"),
        (document(*(entry(f"aws_sqs_queue.a{n}", ["update"], {}, {"policy": "x" * 3000}) for n in range(100))), "characters are the most"),
        (b" " * (LARGEST_PLAN + 1), "bytes, and"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused_in_a_sentence(source: bytes, sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence) as refused:
        read_plan(source)
    assert len(str(refused.value)) < 500


def configured(*resources: dict[str, Any], **providers: Any) -> dict[str, Any]:
    """The configuration of a plan."""
    return {"root_module": {"resources": list(resources)}, "provider_config": providers}


def test_what_the_code_does_not_give_is_named_as_computed() -> None:
    block = {"address": "aws_sqs_queue.a", "expressions": {"delay_seconds": {}}, "provider_config_key": "aws"}
    unknown = {"after_unknown": {"name": True, "delay_seconds": True}}
    source = document(entry("aws_sqs_queue.a", ["create"], None, {}, change=unknown), configuration=configured(block))
    [change] = read_plan(source).changes
    assert (change.unknown, change.computed) == (("delay_seconds",), ("name",))


@pytest.mark.parametrize(
    ("region", "variables", "expected"),
    [
        ({"constant_value": "eu-west-1"}, {}, "eu-west-1"),
        ({"references": ["var.where"]}, {"where": {"value": "us-east-2"}}, "us-east-2"),
        ({"references": ["local.where"]}, {}, ""),
        ({"constant_value": "not a region"}, {}, ""),
        ({}, {}, ""),
    ],
)
def test_the_region_is_that_of_the_provider(region: Any, variables: Any, expected: str) -> None:
    block = {"address": "aws_sqs_queue.a", "expressions": {}, "provider_config_key": "aws.west"}
    providers = {"aws.west": {"expressions": {"region": region}}}
    source = document(
        entry("aws_sqs_queue.a", ["create"], None, {"name": "a"}),
        configuration=configured(block, **providers),
        variables=variables,
    )
    assert read_plan(source).changes[0].region == expected


def test_tags_of_the_provider_are_told_without_secrets() -> None:
    every = {"team": "shop", "managed": "terraform", "secret": "marked-as-secret"}
    marks = {"after_sensitive": {"tags_all": {"secret": True}}}
    after = {"tags": {"team": "shop"}, "tags_all": every}
    [change] = read_plan(document(entry("aws_sqs_queue.a", ["create"], None, after, change=marks))).changes
    assert change.tags == {"managed": "terraform"}


def test_an_identifying_attribute_that_the_code_gives_is_told() -> None:
    block = {"address": "aws_cloudwatch_event_target.a", "expressions": {"arn": {}}, "provider_config_key": "aws"}
    after = {"arn": "arn:aws:sqs:us-east-1:1:q", "rule": "r"}
    source = document(entry("aws_cloudwatch_event_target.a", ["create"], None, after), configuration=configured(block))
    assert read_plan(source).changes[0].values == after


def test_the_order_of_changes_does_not_matter_to_the_digest() -> None:
    one, other = (entry(f"aws_sqs_queue.{name}", ["create"], None, {"name": name}) for name in "ab")
    assert read_plan(document(one, other)).digest == read_plan(document(other, one)).digest


@pytest.mark.parametrize("actions", [["delete", "create"], ["create", "delete"]])
def test_a_replacement_is_given_every_value_again(actions: list[str]) -> None:
    before, after = {"name": "old", "delay_seconds": 5}, {"name": "new", "delay_seconds": 5}
    [change] = read_plan(document(entry("aws_sqs_queue.a", actions, before, after))).changes
    assert (change.action, change.values) == (PlannedAction.REPLACE, after)


def marked(password: str, code: str, key: bytes = b"k") -> dict[str, str]:
    """The marks of a database with this password and a name that only the apply knows."""
    change = {
        "actions": ["create"],
        "before": None,
        "after": {"password": password},
        "after_unknown": {"identifier": True},
    }
    entry = {"address": "aws_db_instance.a", "type": "aws_db_instance", "mode": "managed", "change": change}
    expressions = {"password": {"references": ["var.p"]}, "identifier": {"references": [code]}}
    block = {"address": "aws_db_instance.a", "expressions": expressions}
    source = {
        "format_version": "1.2",
        "resource_changes": [entry],
        "configuration": {"root_module": {"resources": [block]}},
    }
    [found] = read_plan(json.dumps(source).encode(), mark_key=key).changes
    assert (found.secrets, found.unknown) == (("password",), ("identifier",))
    assert password not in repr(found)
    return dict(found.marks)


def test_what_is_not_told_has_marks_that_only_the_key_can_make() -> None:
    usual = marked("hunter2-plain", "random_id.a.hex")
    assert usual == marked("hunter2-plain", "random_id.a.hex")
    assert {len(mark) for mark in usual.values()} == {64}
    assert usual["password"] != marked("hunter3-plain", "random_id.a.hex")["password"]
    assert usual["identifier"] != marked("hunter2-plain", "random_id.b.hex")["identifier"]
    assert usual["password"] == marked("hunter2-plain", "random_id.b.hex")["password"]
    other = marked("hunter2-plain", "random_id.a.hex", b"other")
    assert not set(other.values()) & set(usual.values())
    assert marked("hunter2-plain", "random_id.a.hex", b"") == {}


def test_plans_that_differ_in_a_secret_or_in_code_known_after_the_apply_are_two_plans() -> None:
    """An approval is bound to the digest: of a client without a key nobody can tell such plans apart, and with one nobody reads the secret."""
    kind = "aws_db_instance"

    def plan(password: str, reference: str, key: bytes = b"key") -> Plan:
        after = {"identifier": "d", "password": password}
        block = {"address": f"{kind}.d", "expressions": {"password": {}, "kms_key_id": {"references": [reference]}}}
        change = {"after_unknown": {"kms_key_id": True}, "after_sensitive": {"password": True}}
        source = document(entry(f"{kind}.d", ["create"], None, after, change=change), configuration=configured(block))
        return read_plan(source, mark_key=key)

    one = plan("first", "aws_kms_key.a.arn")
    assert one.changes[0].marks.keys() == {"password", "kms_key_id"}
    assert plan("first", "aws_kms_key.a.arn").digest == one.digest
    others = (
        plan("second", "aws_kms_key.a.arn"),
        plan("first", "aws_kms_key.b.arn"),
        plan("first", "aws_kms_key.a.arn", b"x"),
    )
    assert len({one.digest, *(each.digest for each in others)}) == 4
    assert not any(secret in repr(each) for each in (one, *others) for secret in ("first", "second"))
    assert plan("first", "aws_kms_key.a.arn", b"").digest == plan("second", "aws_kms_key.b.arn", b"").digest
