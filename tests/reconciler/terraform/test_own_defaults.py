"""An import that sets nothing but attributes that only Terraform has changes the state alone."""

from typing import Any

import pytest

from reconciler.terraform.own_defaults import sets_own_defaults
from reconciler.terraform.plan import read_plan
from reconciler.terraform.state_update import beyond_state, imported_in

_BEFORE = {"topic_arn": "arn:t", "confirmation_timeout_in_minutes": None, "endpoint_auto_confirms": None, "raw": False}


def _entry(
    after: dict[str, Any], *, importing: bool = True, kind: str = "aws_sns_topic_subscription"
) -> dict[str, Any]:
    change = {"actions": ["update"], "before": _BEFORE, "after": {**_BEFORE, **after}, "after_unknown": {}}
    change |= {"importing": {"id": "x"}} if importing else {}
    return {"address": f"{kind}.a", "mode": "managed", "type": kind, "change": change}


_DEFAULTS = {"confirmation_timeout_in_minutes": 1, "endpoint_auto_confirms": False}


def test_such_a_plan_is_clean_and_may_be_applied_to_the_state() -> None:
    document = {"resource_changes": [_entry(_DEFAULTS)]}
    assert sets_own_defaults(_entry(_DEFAULTS))
    assert beyond_state(document) == ()
    assert imported_in(document) == {"aws_sns_topic_subscription.a"}
    assert read_plan(document).changes == ()
    assert read_plan(document).imports == ("aws_sns_topic_subscription.a",)


def test_what_the_code_says_of_them_is_applied_to_the_state_too() -> None:
    entry = _entry({"confirmation_timeout_in_minutes": 5, "endpoint_auto_confirms": True})
    assert sets_own_defaults(entry)
    assert imported_in({"resource_changes": [entry]}) == {"aws_sns_topic_subscription.a"}


def test_a_value_that_is_live_is_never_such_a_default() -> None:
    """What can be read was set by somebody: a plan that would change it is a change."""
    entry = _entry(_DEFAULTS)
    entry["change"]["before"] = {**_BEFORE, "confirmation_timeout_in_minutes": 5}
    assert not sets_own_defaults(entry)


@pytest.mark.parametrize(
    "entry",
    [
        _entry(_DEFAULTS, importing=False),
        _entry({**_DEFAULTS, "raw": True}),
        _entry({}),
        _entry(_DEFAULTS, kind="aws_autoscaling_group"),
    ],
)
def test_every_other_change_counts(entry: dict[str, Any]) -> None:
    assert not sets_own_defaults(entry)
    assert beyond_state({"resource_changes": [entry]})
