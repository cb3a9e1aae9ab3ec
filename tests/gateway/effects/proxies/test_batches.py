"""A batch has the effects of its entries; one entry that is not understood makes the whole batch not understood."""

import json
from typing import Any

import botocore.session
import pytest

from gateway.aws.models.generate_proxies import build, table_text
from gateway.core.errors import CallTooLarge
from gateway.effects.proxies.sdk_models import SHIPPED, batches
from tests.gateway.effects.proxies.conftest import Understand, inner_effects

BOTOCORE: Any = botocore.session
DELETED = "aws_autoscaling_schedule{autoscaling_group_name=g,scheduled_action_name=%s}"


def test_a_list_of_names_is_one_call_for_each(understand: Understand) -> None:
    parameters = {"AutoScalingGroupName": "g", "ScheduledActionNames": ["a", "b"]}
    found = understand("autoscaling", "BatchDeleteScheduledAction", parameters)
    by = "autoscaling:DeleteScheduledAction"
    assert inner_effects(found) == [(DELETED % name, "*", "delete", None, by) for name in ("a", "b")]
    assert not any(each.implied for each in found.effects)


def test_an_entry_has_what_the_batch_says_for_all(understand: Understand) -> None:
    entries = [{"ScheduledActionName": "a", "MinSize": 1}, {"ScheduledActionName": "b", "MaxSize": 2}]
    found = understand(
        "autoscaling",
        "BatchPutScheduledUpdateGroupAction",
        {"AutoScalingGroupName": "g", "ScheduledUpdateGroupActions": entries},
    )
    sizes = {(each.address, each.attribute): each.value for each in found.effects}
    assert (sizes[DELETED % "a", "min_size"], sizes[DELETED % "b", "max_size"]) == (1, 2)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([{"ScheduledActionName": "a", "MinSize": 1, "New": 1}], "parameter New"),
        ([{"ScheduledActionName": "a", "MinSize": 1}] * 2, "repeats another one"),
        ([{"ScheduledActionName": "a", "MinSize": 1}, {"ScheduledActionName": "a", "MinSize": 2}], "two of its calls"),
        ([], "has no entries"),
        (["a"], "in an unknown form"),
        (None, "has no entries"),
    ],
)
def test_a_part_that_is_not_understood_makes_the_batch_not_understood(
    understand: Understand, entries: object, reason: str
) -> None:
    found = understand(
        "autoscaling",
        "BatchPutScheduledUpdateGroupAction",
        {"AutoScalingGroupName": "g", "ScheduledUpdateGroupActions": entries},
    )
    assert found.effects == ()
    assert reason in found.not_understood


def test_a_batch_of_calls_that_are_held_is_held(understand: Understand) -> None:
    found = understand("ssm", "CreateAssociationBatch", {"Entries": [{"Name": "AWS-RunShellScript"}]})
    assert found.effects == ()
    assert "a document decides" in found.not_understood


def test_a_batch_with_more_calls_than_are_judged_is_refused(understand: Understand) -> None:
    names = [f"n{number}" for number in range(201)]
    with pytest.raises(CallTooLarge, match="more than 200 calls"):
        understand(
            "autoscaling",
            "BatchDeleteScheduledAction",
            {"AutoScalingGroupName": "g", "ScheduledActionNames": names},
        )


@pytest.mark.slow
def test_the_shipped_table_is_what_the_generator_makes() -> None:
    assert table_text(build()) == SHIPPED.read_text(), (
        "run `python -m gateway.aws.models.generate_proxies` and review the diff"
    )


def test_every_batch_and_its_single_operation_exist() -> None:
    session = BOTOCORE.get_session()
    for (service, operation), batch in batches().items():
        model = session.get_service_model(service)
        members = model.operation_model(operation).input_shape.members
        single = model.operation_model(batch.single).input_shape.members
        assert members[batch.entries].type_name == "list"
        assert not batch.parameter or batch.parameter in single
        assert not batch.label or batch.label not in single
    assert len(batches()) >= 50
    assert json.loads(SHIPPED.read_bytes())["sdk_names"]["sfn"] == "stepfunctions"
