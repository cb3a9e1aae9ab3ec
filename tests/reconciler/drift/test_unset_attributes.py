"""A value that no plan shows is drift if somebody set it; what moved on its own, mirrors another resource or is ignored is not."""

from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler.changes.cloudtrail import Event
from reconciler.drift.unset_attributes import drift_of_unset_attributes
from reconciler.model import DriftOrigin, Wanted
from reconciler.terraform.plan import ResourceChange, TerraformPlan

_PROTECTED = ResourceChange(address="aws_instance.a", attribute="disable_api_termination", live=True, other=False)
_TOKENS = ResourceChange(
    address="aws_instance.a", attribute="metadata_options.http_tokens", live="required", other="optional"
)
_HOPS = ResourceChange(address="aws_instance.a", attribute="metadata_options.http_hops", live=2, other=1)
_GROUPS = ResourceChange(address="aws_instance.a", attribute="vpc_security_group_ids", live=["sg-1"], other=["sg-2"])


def _event(*keys: str, actor: str = "ada", event: str = "ec2:ModifyInstanceAttribute") -> Event:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return Event(
        origin=DriftOrigin(actor=actor, event=event, at=at), names=frozenset({"i-12345"}), keys=frozenset(keys)
    )


def _plan(*drift: ResourceChange, **more: Any) -> TerraformPlan:
    given: dict[str, Any] = {"changes": (), "drift": drift, "configured": {}, "outputs": (), "objects": {}}
    live = {"id": "i-12345", "arn": "arn:aws:ec2:eu-west-1:1:instance/i-12345"}
    given |= {"drifted": {change.address: live for change in drift}}
    return TerraformPlan(**(given | more))


@pytest.mark.parametrize(
    ("changes", "keys", "value"),
    [
        ((_PROTECTED,), ["instanceid", "disableapitermination"], True),
        ((_TOKENS,), ["httptokens"], [{"http_tokens": "required"}]),
        ((_TOKENS, _HOPS), ["httptokens", "httphops"], [{"http_tokens": "required", "http_hops": 2}]),
        ((_GROUPS,), ["groups"], ["sg-1"]),
    ],
)
def test_what_somebody_set_is_drift(changes: tuple[ResourceChange, ...], keys: list[str], value: Any) -> None:
    (drift,), _ = drift_of_unset_attributes(_plan(*changes), [_event(*keys)], ())
    assert drift.wanted == Wanted(address="aws_instance.a", attribute=changes[0].top, value=value)
    assert drift.origin is not None
    assert drift.origin.actor == "ada"


@pytest.mark.parametrize(
    ("operation", "found"), [("events:DisableRule", ["state"]), ("events:PutRule", []), ("events:DisabledRule", [])]
)
def test_a_call_that_says_in_its_name_what_it_sets_sets_a_switch(operation: str, found: list[str]) -> None:
    address = "aws_cloudwatch_event_rule.a"
    changes = [
        ResourceChange(address=address, attribute="state", live="DISABLED", other="ENABLED"),
        ResourceChange(address=address, attribute="is_enabled", live=False, other=True),
        ResourceChange(address=address, attribute="description", live="b", other="a"),
    ]
    plan = _plan(*changes, drifted={address: {"id": "i-12345", "arn": "arn:aws:events:eu-west-1:1:rule/a"}})
    drifts, _ = drift_of_unset_attributes(plan, [_event("name", event=operation)], ())
    assert [drift.wanted.attribute for drift in drifts] == found


def test_what_the_code_sets_to_null_is_not_set() -> None:
    plan = _plan(_PROTECTED, configured={"aws_instance.a": frozenset({"disable_api_termination"})})
    found, _ = drift_of_unset_attributes(plan, [_event("disableapitermination")], (), {_PROTECTED.top_key})
    assert [drift.wanted.top_key for drift in found] == [_PROTECTED.top_key]


@pytest.mark.parametrize(
    ("plan", "events", "ignored"),
    [
        (_plan(_PROTECTED), [], ()),
        (_plan(_PROTECTED), [_event("httptokens")], ()),
        (_plan(_PROTECTED), [_event("disableapitermination", actor="autoscaling.amazonaws.com")], ()),
        (_plan(_PROTECTED), [_event("disableapitermination")], {("aws_instance.a", "disable_api_termination")}),
        (_plan(_PROTECTED), [_event("disableapitermination")], {("aws_instance.a", "all")}),
        (_plan(_PROTECTED, changes=(_PROTECTED,)), [_event("disableapitermination")], ()),
        (_plan(_PROTECTED, configured={"aws_instance.a": frozenset({"disable_api_termination"})}), [_event("disableapitermination")], ()),
        (_plan(ResourceChange(address="aws_s3_bucket.a", attribute="policy", live="x")), [_event("policy", event="s3:PutBucketPolicy")], ()),
        (_plan(ResourceChange(address="aws_instance.a", attribute="*", actions=("delete",))), [_event("*")], ()),
        (_plan(ResourceChange(address="aws_instance.a", attribute="user_data", live="x", sensitive=True)), [_event("httptokens")], ()),
    ],
)  # fmt: skip
def test_what_is_not(plan: TerraformPlan, events: list[Event], ignored: Any) -> None:
    assert drift_of_unset_attributes(plan, events, ignored) == ([], [])


def test_a_secret_that_somebody_set_is_named_without_its_value() -> None:
    secret = ResourceChange(address="aws_instance.a", attribute="user_data.key", live="hush", sensitive=True)
    _, (left,) = drift_of_unset_attributes(_plan(secret, _PROTECTED), [_event("userdata")], ())
    assert (left.wanted.top_key, left.wanted.value) == (("aws_instance.a", "user_data"), None)
    assert "ada set it (ec2:ModifyInstanceAttribute)." in left.reason
