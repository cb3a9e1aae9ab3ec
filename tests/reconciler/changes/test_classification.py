"""From mutations and plans to wanted values: what is written, what stays out of code, what a human must look at."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.model.masking import PER_RUN
from gateway.core.model.mutation import Effect, EffectAction
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.classification import classify_foreign_drift, classify_mutation
from reconciler.model import DriftOrigin, Wanted, is_gone
from reconciler.terraform.plan import PlannedValue, ResourceChange, TerraformPlan

AT = datetime(2026, 1, 2, tzinfo=UTC)
GROUP = "aws_autoscaling_group.web"
GENERATED = "web-20261123080912345600000001"


def _applied(*effects: Effect, **changes: Any) -> AppliedMutation:
    given: dict[str, Any] = {"id": "mut_1", "seq": 1, "stack": "shop", "actor": "a", "at": AT, "operation": "x:Y"}
    given |= {"effects": effects, "settled_at": AT}
    return AppliedMutation(**(given | changes))


def _effect(attribute: str = "desired_capacity", **changes: Any) -> Effect:
    given: dict[str, Any] = {"address": GROUP, "attribute": attribute, "action": EffectAction.SET, "value": 6}
    return Effect(**(given | {"resource_type": "aws_autoscaling_group"} | changes))


def test_what_was_set_is_wanted() -> None:
    classified = classify_mutation(_applied(_effect()), superseded={})
    assert classified.wanted == (Wanted(address=GROUP, attribute="desired_capacity", value=6),)
    assert not classified.kept_out
    assert not classified.left


@pytest.mark.parametrize(
    ("effect", "changes", "reason"),
    [
        (_effect("master_password", sensitive=True, value=PER_RUN.mask("x")), {}, "secret"),
        (_effect("master_password", value="in clear, by an earlier version"), {}, "secret"),
        (
            _effect("environment.variables", value={"A": "1"}, resource_type="aws_lambda_function"),
            {"kind": "pipeline"},
            "secret",
        ),
        (_effect(), {"wanted_seconds": 60.0}, "60 seconds only"),
        (_effect(), {"puts_back": "mut_0"}, "puts mut_0 back"),
        (_effect("status", resource_type="aws_iam_access_key"), {}, "controller owns"),
        (_effect(action=EffectAction.CREATE, attribute="*"), {"kind": "pipeline"}, "Terraform itself"),
        (_effect(declared=False), {"kind": "pipeline"}, "Terraform itself"),
        (
            _effect("name", value=GENERATED, identity={"name": GENERATED}, action=EffectAction.CREATE),
            {"kind": "human"},
            "generated the name",
        ),
    ],
)
def test_what_does_not_belong_in_code_stays_out(effect: Effect, changes: dict[str, Any], reason: str) -> None:
    classified = classify_mutation(_applied(effect, **changes), superseded={})
    assert not classified.wanted
    assert not classified.left
    assert reason in classified.kept_out[0].reason


def test_what_only_restates_a_default_needs_no_edit() -> None:
    restated = frozenset({(GROUP, "enabled")})
    classified = classify_mutation(
        _applied(_effect(), _effect("enabled", value=True), restated=restated), superseded={}
    )
    assert [want.attribute for want in classified.wanted] == ["desired_capacity"]
    assert not classified.kept_out
    assert not classified.left


def test_a_secret_is_not_even_shown_as_a_digest() -> None:
    classified = classify_mutation(
        _applied(_effect("master_password", sensitive=True, value=PER_RUN.mask("x"))), superseded={}
    )
    assert classified.kept_out[0].wanted.value is None


def test_the_later_of_two_is_written() -> None:
    classified = classify_mutation(_applied(_effect()), superseded={(GROUP, "desired_capacity"): "mut_2"})
    assert "mut_2" in classified.kept_out[0].reason


@pytest.mark.parametrize(
    ("effect", "reason"),
    [
        (_effect("*", action=EffectAction.CREATE, declared=False), "was created"),
        (_effect("*", action=EffectAction.DELETE, declared=False), "was deleted"),
        (_effect(declared=False), "No block"),
    ],
)
def test_what_belongs_in_code_and_cannot_be_written_is_left(effect: Effect, reason: str) -> None:
    classified = classify_mutation(_applied(effect), superseded={})
    assert reason in classified.left[0].reason


def test_what_was_deleted_leaves_the_code_unless_that_is_for_a_time_only() -> None:
    deletion = _effect("*", action=EffectAction.DELETE)
    (wanted,) = classify_mutation(_applied(deletion), superseded={}).wanted
    assert (wanted.address, is_gone(wanted)) == (GROUP, True)
    assert classify_mutation(_applied(deletion, wanted_seconds=60.0), superseded={}).wanted == ()


MAY_HOLD = {
    "a function's environment": _effect("environment.variables", value={"A": PER_RUN.mask("1")}, sensitive=True, resource_type="aws_lambda_function"),
    "the same in clear, by an earlier version": _effect("environment.variables", value={"A": "1"}, resource_type="aws_lambda_function"),
    "one variable": _effect("environment.variables.A", value="1", resource_type="aws_lambda_function"),
    "container definitions": _effect("container_definitions", value="[]", sensitive=True, resource_type="aws_ecs_task_definition"),
    "user data": _effect("user_data", value="IyEvYmluL3No", resource_type="aws_launch_template"),
    "a connection string in a description": _effect("description", value="postgres://app:hunter2@db/app"),
    "what the code marks as sensitive": _effect(value=PER_RUN.mask(6), sensitive=True),
    "a tag that is named as a password": _effect("tags", value={"db_password": "hunter2"}),
}  # fmt: skip


@pytest.mark.parametrize("effect", MAY_HOLD.values(), ids=MAY_HOLD.keys())
def test_what_may_hold_a_secret_is_left_to_a_human_without_its_value(effect: Effect) -> None:
    classified = classify_mutation(_applied(effect, kind="agent"), superseded={})
    assert not classified.wanted
    (left,) = classified.left
    assert "may hold a secret" in left.reason
    assert left.wanted.value is None
    assert "hunter2" not in repr(classified)


def test_what_is_only_invoked_needs_no_edit() -> None:
    assert classify_mutation(_applied(_effect("*", action=EffectAction.INVOKE)), superseded={}) == classify_mutation(
        _applied(), superseded={}
    )


def _plan(
    *changes: ResourceChange,
    drift: tuple[ResourceChange, ...] | None = None,
    sets: frozenset[str] = frozenset({"size"}),
) -> TerraformPlan:
    return TerraformPlan(
        changes=changes, drift=changes if drift is None else drift, configured={"aws_x.a": sets}, outputs=(), objects={}
    )


SIZE = ResourceChange(address="aws_x.a", attribute="size", live=6, other=4)
SUSPENDED = ResourceChange(address=GROUP, attribute="suspended_processes", live=["x"])


def test_what_moved_and_the_plan_would_change_back_is_drift() -> None:
    origin = DriftOrigin(actor="mallory", event="x:Y", at=AT)
    (drift,), left = classify_foreign_drift(_plan(SIZE), {("aws_x.a", "size"): origin})
    assert drift.wanted == Wanted(address="aws_x.a", attribute="size", value=6)
    assert (drift.before, drift.origin, left) == (4, origin, ())


def test_what_somebody_sets_is_theirs_though_a_controller_sets_it_too() -> None:
    origin = DriftOrigin(actor="ada", event="autoscaling:SuspendProcesses", at=AT)
    (drift,), left = classify_foreign_drift(_plan(SUSPENDED), {(GROUP, "suspended_processes"): origin})
    assert (drift.wanted.value, left) == (["x"], ())
    assert classify_mutation(_applied(_effect("suspended_processes", value=["x"])), superseded={}).wanted


def test_what_the_state_has_and_aws_has_not_leaves_the_code() -> None:
    create, gone = (
        ResourceChange(address="aws_x.a", attribute="*", actions=(action,)) for action in ("create", "delete")
    )
    (drift,), left = classify_foreign_drift(_plan(create, drift=(gone,)), {})
    assert (drift.wanted.address, is_gone(drift.wanted), left) == ("aws_x.a", True, ())


def test_of_what_is_imported_only_known_values_are_wanted() -> None:
    changes = tuple(ResourceChange(address="aws_x.a", attribute=name, live="l", other=None) for name in ("arn", "size"))
    planned = {"aws_x.a": {"arn": PlannedValue(live="l", unknown=True), "size": PlannedValue(live="l", after="o")}}
    plan = replace(_plan(*changes), imports=("aws_x.a",), planned=planned)
    drifts, left = classify_foreign_drift(plan, {})
    assert ([drift.wanted.attribute for drift in drifts], left) == (["size"], ())


def test_code_that_is_ahead_is_not_drift() -> None:
    drifts, (left,) = classify_foreign_drift(_plan(SIZE, drift=()), {})
    assert not drifts
    assert "code is ahead" in left.reason


def test_what_code_leaves_unset_waits_for_what_it_may_only_mirror() -> None:
    mirror = ResourceChange(address="aws_x.a", attribute="inline", live=1, other=None)
    assert [drift.wanted.attribute for drift in classify_foreign_drift(_plan(SIZE, mirror), {})[0]] == ["size"]
    assert [drift.wanted.attribute for drift in classify_foreign_drift(_plan(mirror), {})[0]] == ["inline"]


@pytest.mark.parametrize(
    ("change", "origin", "reason"),
    [
        (ResourceChange(address="aws_x.a", attribute="*", actions=("create",)), None, "would create"),
        (ResourceChange(address="aws_x.a", attribute="*", actions=("delete",)), None, "would delete"),
        (ResourceChange(address="aws_x.a", attribute="*", actions=("create", "forget")), None, "not drift of a value"),
        (ResourceChange(address="aws_x.a", attribute="p", live="s3cret", other="x", sensitive=True), None, "secret"),
        (SUSPENDED, None, "controller owns"),
        (SUSPENDED, DriftOrigin(actor="ada", event="autoscaling:CreateOrUpdateTags", at=AT), "controller owns"),
        (
            SUSPENDED,
            DriftOrigin(actor="autoscaling.amazonaws.com", event="autoscaling:SuspendProcesses", at=AT),
            "AWS service",
        ),
        (SIZE, DriftOrigin(actor="autoscaling.amazonaws.com", event="x:Y", at=AT), "AWS service"),
    ],
)
def test_what_cannot_be_written_is_left(change: ResourceChange, origin: DriftOrigin | None, reason: str) -> None:
    origins = {(change.address, change.attribute): origin} if origin else {}
    drifts, (left,) = classify_foreign_drift(_plan(change), origins)
    assert not drifts
    assert reason in left.reason
    assert "s3cret" not in repr(left)
