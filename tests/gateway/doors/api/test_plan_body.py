"""The body of a plan, as a client sends it."""

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange, change_to_json
from gateway.doors.api.request_bodies import PlanBody

CHANGE = PlannedChange(
    address='module.a["x"].aws_sqs_queue.q',
    resource_type="aws_sqs_queue",
    action=PlannedAction.REPLACE,
    previous="aws_sqs_queue.q",
    values={"tags.a": "1", "policy": {"a": [1]}},
    secrets=("name",),
    unknown=("kms_master_key_id",),
)


def test_what_a_client_sends_is_the_plan_that_it_read() -> None:
    plan = Plan(changes=(CHANGE,), terraform_version="1.9.8")
    body = {"changes": [change_to_json(CHANGE)], "terraform_version": "1.9.8"}
    assert PlanBody.model_validate(body).plan() == plan


@pytest.mark.parametrize(
    "address", ["data.aws_sqs_queue.q", "aws_sns_topic.q", "aws_sqs_queue{name=q}", "module.a", "aws_sqs_queue.q\n"]
)
@pytest.mark.parametrize("member", ["address", "previous"])
def test_an_address_is_one_of_a_resource_of_the_type(address: str, member: str) -> None:
    body = PlanBody.model_validate({"changes": [{**change_to_json(CHANGE), member: address}]})
    with pytest.raises(Malformed, match="is not the address of a resource of type aws_sqs_queue"):
        body.plan()
