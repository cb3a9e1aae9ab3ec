"""Ids come from the event's values, alone or as the provider says that it wants them together."""

import pytest

from reconciler.adoption.import_ids import ids_of_form, single_ids, tried_together
from reconciler.changes.event_values import event_values
from tests.reconciler.adoption.conftest import event, schema

_ALIAS = event_values(
    event("lambda:CreateAlias20150331", {"functionName": "fn", "name": "live", "functionVersion": "1"}).call
)


def test_what_the_reply_names_comes_first_and_documents_and_times_are_no_ids() -> None:
    call = event(
        "ec2:CreateVpc",
        {"cidrBlock": "10.0.0.0/8", "clientToken": "t", "name": "main", "policy": '{"a": 1}', "vpcName": "2026-11-20 10:00:00"},
        {"vpc": {"vpcId": "vpc-1", "dhcpOptionsId": "dopt-1"}},
    ).call  # fmt: skip
    found = single_ids(event_values(call), "aws_vpc", schema(name="optional", cidr_block="required"))
    assert found[0] == "vpc-1"
    assert set(found) == {"vpc-1", "dopt-1", "main", "10.0.0.0/8"}


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("FUNCTION_NAME/ALIAS", "fn/live"),
        ("<function-name>:<alias>", "fn:live"),
        ("'function-name,alias'", "fn,live"),
        ("FUNCTION_NAME/ALIAS or FUNCTION_NAME:QUALIFIER/ALIAS", "fn/live"),
        ("function-name/alias (e.g. shop/prod), where both are names", "fn/live"),
        ("<function-name>/<alias>/...", "fn/live"),
    ],
)
def test_a_form_is_filled_by_the_names_of_its_parts(form: str, first: str) -> None:
    assert ids_of_form(form, _ALIAS)[0] == first


def test_a_name_that_the_call_gives_as_an_arn_of_the_account_is_the_name() -> None:
    def put(account: str) -> str:
        bus = f"arn:aws:events:eu-west-1:{account}:event-bus/shop"
        asked = {"rule": "placed", "eventBusName": bus, "targets": [{"id": "orders", "arn": "arn:aws:sqs:::orders"}]}
        values = event_values(event("events:PutTargets", asked).call)
        return ids_of_form("EVENTBUSNAME/RULENAME/TARGETID or RULENAME/TARGETID", values)[0]

    assert put("123456789012") == "shop/placed/orders"
    assert put("210987654321") == "arn:aws:events:eu-west-1:210987654321:event-bus/shop/placed/orders"


def test_a_form_whose_parts_nobody_knows_is_not_filled_by_guessing() -> None:
    assert ids_of_form("ZONE/RECORD", _ALIAS) == ()


def test_the_account_is_a_part_that_the_call_need_not_say() -> None:
    made = {"databaseName": "shop", "tableInput": {"name": "orders"}}
    values = event_values(event("glue:CreateTable", made).call)
    assert ids_of_form("catalog-id:database-name:table-name", values)[0] == "123456789012:shop:orders"


def test_a_last_part_that_may_be_left_out_is() -> None:
    values = event_values(event("route53:ChangeResourceRecordSets", {"hostedZoneId": "/hostedzone/Z1", "changeBatch": {"changes": [{"action": "CREATE", "resourceRecordSet": {"name": "a.example.", "type": "A"}}]}}).call)  # fmt: skip
    assert ids_of_form("ZONEID_RECORDNAME_TYPE_SET-IDENTIFIER (e.g. Z4_dev_NS_dev)", values)[0] == "Z1_a.example._A"


def test_without_a_form_required_values_are_tried_together_and_the_account_with_them() -> None:
    values = event_values(event("glue:CreateDatabase", {"databaseInput": {"name": "logs"}}).call)
    found = tried_together(values, "aws_glue_catalog_database", schema(name="required"))
    assert "123456789012:logs" in found
    asg = event_values(event("autoscaling:PutScheduledUpdateGroupAction", {"autoScalingGroupName": "g", "scheduledActionName": "n"}).call)  # fmt: skip
    types = schema(autoscaling_group_name="required", scheduled_action_name="required")
    assert tried_together(asg, "aws_autoscaling_schedule", types, "asg-name/action-name")[0] == "g/n"
