"""Four actions and no other: each is judged by the plan that would do it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.drift_book import ForeignDrift
from reconciler.healing.classify import HealAction, choose

ASG = "aws_autoscaling_group.web"
DRIFT = ForeignDrift(id="fgn_1", at=datetime(2026, 1, 2, tzinfo=UTC), stack="shop", address=ASG, attribute="max_size", resource_type="aws_autoscaling_group")  # fmt: skip


def _plan(actions: list[str], before: Any = None, after: Any = None, address: str = ASG) -> dict[str, Any]:
    change = {"actions": actions, "before": before or {"max_size": 9}, "after": after or {"max_size": 8}}
    return {"resource_changes": [{"address": address, "mode": "managed", "change": change}]}


def _human(drift: ForeignDrift) -> ForeignDrift:
    return replace(drift, decided_by="ann")


def test_nothing_to_do() -> None:
    assert choose({}, DRIFT, state_changes=False).action is HealAction.NOOP
    assert choose(_plan(["no-op"]), DRIFT, state_changes=False).action is HealAction.NOOP
    assert not choose({}, DRIFT, state_changes=False).refused


def test_an_old_state_is_refreshed() -> None:
    assert choose(_plan(["no-op"]), DRIFT, state_changes=True).action is HealAction.REFRESH_STATE


def test_the_drifted_value_alone_is_set_back() -> None:
    assert choose(_plan(["update"]), DRIFT, state_changes=True).action is HealAction.REVERT_DRIFT
    nested = replace(DRIFT, attribute="max_size.deep")
    assert choose(_plan(["update"]), nested, state_changes=True).action is HealAction.REVERT_DRIFT


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (_plan(["update"], {"max_size": 9, "min_size": 3}, {"max_size": 8, "min_size": 1}), "also change min_size"),
        (_plan(["update"], address="aws_sqs_queue.other"), "also change aws_sqs_queue.other"),
        (_plan(["delete"]), "delete"),
        (_plan(["create"]), "create"),
        (_plan(["delete", "create"]), "does not list it"),
        (_plan(["forget"]), "forget"),
        ({**_plan(["update"]), "errored": True}, "not complete"),
        ({**_plan(["update"]), "deferred_changes": [{}]}, "not complete"),
    ],
)
def test_whatever_is_more_than_that_is_refused(document: dict[str, Any], says: str) -> None:
    for drift in (DRIFT, _human(DRIFT)):
        choice = choose(document, drift, state_changes=True)
        assert choice.refused
        assert choice.action is HealAction.NOOP
        assert says in choice.reason


def test_a_resource_is_replaced_only_if_it_is_listed_and_a_human_decided() -> None:
    document = _plan(["create", "delete"])
    assert choose(document, _human(DRIFT), state_changes=True, replaceable=["aws_autoscaling_group.*"]).action is HealAction.REPLACE_INSTANCE  # fmt: skip
    assert choose(document, DRIFT, state_changes=True, replaceable=[ASG]).refused
    assert choose(document, _human(DRIFT), state_changes=True, replaceable=["aws_instance.*"]).refused


@pytest.mark.parametrize(
    "resource_type", ["aws_iam_role", "aws_kms_key", "aws_dynamodb_table", "aws_s3_bucket", "aws_db_instance"]
)
def test_rights_keys_and_data_need_a_human(resource_type: str) -> None:
    drift = replace(DRIFT, resource_type=resource_type)
    assert choose(_plan(["update"]), drift, state_changes=True).refused
    assert choose(_plan(["update"]), _human(drift), state_changes=True).action is HealAction.REVERT_DRIFT


def test_what_only_protects_a_bucket_needs_none() -> None:
    drift = replace(DRIFT, resource_type="aws_s3_bucket_public_access_block")
    assert choose(_plan(["update"]), drift, state_changes=True).action is HealAction.REVERT_DRIFT
