"""Reading `terraform show -json`: what it changes, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.effects.plan_document import LARGEST_PLAN, read_plan
from gateway.errors import Malformed
from gateway.model.plan import PlannedAction


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
