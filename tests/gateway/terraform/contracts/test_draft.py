"""A draft of a contract: bounds from what was seen, nothing for agents besides, and no secret."""

from typing import Any

from gateway.terraform.contracts.draft import draft_contract, seen_changes

GROUP, TABLE = "aws_autoscaling_group.g", 'aws_dynamodb_table.t["a"]'


def decided(
    address: str, attribute: str, value: Any, before: Any, *, carried_out: bool = True, **more: Any
) -> dict[str, Any]:
    """A decision's body."""
    effect = {
        "address": address,
        "attribute": attribute,
        "action": "set",
        "changes": True,
        "value": value,
        "before": before,
    }
    return {"decision": {"carried_out": carried_out}, "effects": [effect | more]}


def draft(*bodies: dict[str, Any]) -> str:
    """The draft of a stack of three resources."""
    addresses = [GROUP, TABLE, "module.m.aws_sqs_queue.q", GROUP, "data.aws_ami.x"]
    return draft_contract("shop", "team", addresses, seen_changes(bodies), {"aws_dynamodb_table"})


def test_numbers_have_the_bounds_that_were_seen() -> None:
    outside = {"address": GROUP, "attribute": "max_size", "live": 9, "declared": 4}
    text = draft(decided(GROUP, "size", 8, 4), decided(GROUP, "size", 2, 8), outside)
    assert 'attribute "size" { # changed 2 times\n      min = 2\n      max = 8\n' in text
    assert 'attribute "max_size" { # changed 1 time\n      min = 4\n      max = 9\n' in text


def test_few_texts_are_a_list_and_everything_else_is_mutable() -> None:
    text = draft(
        decided(TABLE, "billing_mode", "PROVISIONED", "PAY_PER_REQUEST"), decided(TABLE, "tags", {"a": 1}, None)
    )
    assert 'one_of = ["PAY_PER_REQUEST", "PROVISIONED"]' in text
    assert 'mutable          = ["tags"]' in text
    assert "prevent_delete   = true" in text


def test_what_was_refused_secret_or_elsewhere_is_not_proposed() -> None:
    text = draft(
        decided(GROUP, "size", 8, 4, carried_out=False),
        decided(GROUP, "token", "x", None, sensitive=True),
        decided(GROUP, "key", {"hmac_sha256": "00"}, None),
        decided("module.m.aws_sqs_queue.q", "delay_seconds", 3, 0),
    )
    assert "managed_by_agent" not in text
    assert "aws_sqs_queue" not in text
    assert 'resource "aws_dynamodb_table" "t"' in text
