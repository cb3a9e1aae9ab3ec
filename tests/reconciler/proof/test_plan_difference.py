"""What a plan showed before the edit is not held against it; what the edit itself moves is always new."""

from typing import Any

import pytest

from reconciler.model import Wanted
from reconciler.proof.plan_difference import new_changes
from reconciler.terraform.plan import TerraformPlan, read_plan

WANTED = Wanted(address="aws_x.a", attribute="size", value=6)
UPDATE = ("update",)


def _entry(
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    *,
    address: str = "aws_x.b",
    actions: tuple[str, ...] = UPDATE,
    unknown: dict[str, Any] | None = None,
) -> dict[str, Any]:
    change = {"actions": list(actions), "before": before, "after": after, "after_unknown": unknown or {}}
    return {"address": address, "mode": "managed", "change": change}


def _plan(*entries: dict[str, Any]) -> TerraformPlan:
    return read_plan({"resource_changes": list(entries)})


def _new(before: TerraformPlan | None, after: TerraformPlan, wanted: Wanted = WANTED) -> list[tuple[str, str]]:
    return [(change.address, change.attribute) for change in new_changes(after.changes, after, before, [wanted])]


DRIFT = _entry({"size": 5}, {"size": 3})
CREATE: dict[str, Any] = {"actions": ("create",)}
REPLACE: dict[str, Any] = {"actions": ("delete", "create")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (DRIFT, DRIFT),
        # What is live may move between the two plans; no edit moves it.
        (DRIFT, _entry({"size": 7}, {"size": 3})),
        (_entry({"a": 1}, {"a": 2}, unknown={"etag": True}), _entry({"a": 1}, {"a": 2}, unknown={"etag": True})),
        (_entry(None, {"a": 1}, **CREATE), _entry(None, {"a": 1}, **CREATE)),
        (_entry({"a": 1}, None, actions=("delete",)), _entry({"a": 1}, None, actions=("delete",))),
        # Fewer differences than before are none that are new.
        (_entry({"a": 1, "b": 1}, {"a": 2, "b": 2}), _entry({"a": 1, "b": 1}, {"a": 2, "b": 1})),
    ],
)
def test_what_was_there_before_is_not_new(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert _new(_plan(before), _plan(after)) == []


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        # It differed before, and the edit makes it differ in another way.
        (DRIFT, _entry({"size": 5}, {"size": 4}), "size"),
        (DRIFT, _entry({"size": 5}, {"size": 3}, **REPLACE), "size"),
        (DRIFT, _entry({"size": 5, "b": 1}, {"size": 3, "b": 2}), "b"),
        # Values that a list of changes does not show.
        (DRIFT, _entry({"size": 5, "arn": "x"}, {"size": 3}, unknown={"arn": True}), "arn"),
        (DRIFT, _entry({"size": 5, "tags_all": {}}, {"size": 3, "tags_all": {"a": "b"}}), "tags_all"),
        (_entry(None, {"a": 1}, **CREATE), _entry(None, {"a": 2}, **CREATE), "a"),
        (_entry(None, {"a": 1}, **CREATE), _entry(None, {}, unknown={"a": True}, **CREATE), "a"),
        (_entry({"a": 1}, {"a": None}), _entry({"a": 1}, {}, unknown={"a": True}), "a"),
    ],
)
def test_what_the_edit_moves_is_new_although_its_resource_was_not_clean(
    before: dict[str, Any], after: dict[str, Any], new: str
) -> None:
    assert _new(_plan(before), _plan(after)) == [("aws_x.b", new)]


def test_after_a_clean_plan_everything_is_new() -> None:
    assert _new(None, _plan(DRIFT)) == [("aws_x.b", "size")]


@pytest.mark.parametrize("attribute", ["size", "size.part", "*"])
def test_what_the_edit_was_made_for_is_never_excused(attribute: str) -> None:
    plan = _plan(_entry({"size": 9}, {"size": 4}, address="aws_x.a"))
    assert _new(plan, plan, Wanted(address="aws_x.a", attribute=attribute, value=6)) == [("aws_x.a", "size")]


def test_another_tag_of_the_edited_resource_may_have_drifted() -> None:
    live = {"tags": {"owner": "y", "x": "live"}, "tags_all": {"owner": "y", "x": "live"}}
    old = {"tags": {"owner": "o", "x": "code"}, "tags_all": {"owner": "o", "x": "code"}}
    new = {"tags": {"owner": "y", "x": "code"}, "tags_all": {"owner": "y", "x": "code"}}
    worse = new | {"tags_all": {"owner": "y", "x": "code", "z": "1"}}
    wanted = Wanted(address="aws_x.a", attribute="tags.owner", value="y")
    before, after, moved = (_plan(_entry(live, code, address="aws_x.a")) for code in (old, new, worse))
    assert _new(before, after, wanted) == []
    assert _new(before, moved, wanted) == [("aws_x.a", "tags_all")]
