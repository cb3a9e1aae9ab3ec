"""A plan's JSON is read without losing a change and without inventing one."""

from typing import Any

import pytest

from reconciler.terraform.plan import ResourceChange, read_plan, without_keys


def _entry(address: str = "aws_x.a", actions: tuple[str, ...] = ("update",), **change: Any) -> dict[str, Any]:
    return {
        "address": address,
        "mode": "managed",
        "change": {"actions": list(actions), "before": {}, "after": {}} | change,
    }


def _changes(*entries: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change.address, change.attribute) for change in read_plan({"resource_changes": list(entries)}).changes]


def test_an_update_is_its_smallest_paths() -> None:
    before = {"size": 6, "tags": {"a": "1"}, "tags_all": {"a": "1"}, "same": None}
    after = {"size": 4, "tags": {}, "tags_all": {}, "same": ""}
    (size, tags) = read_plan({"resource_changes": [_entry(before=before, after=after)]}).changes
    assert (size.attribute, size.live, size.other) == ("size", 6, 4)
    assert (tags.attribute, tags.live, tags.other) == ("tags.a", "1", None)


@pytest.mark.parametrize("actions", [("create",), ("delete",), ("forget",), ("create", "forget")])
def test_other_actions_are_about_the_whole(actions: tuple[str, ...]) -> None:
    assert _changes(_entry(actions=actions, before=None, after={"a": 1})) == [("aws_x.a", "*")]


def test_a_replacement_lists_which_attributes_differ() -> None:
    entry = _entry(
        actions=("delete", "create"), before={"name": "a", "id": "1"}, after={"name": "b"}, after_unknown={"id": True}
    )
    assert _changes(entry) == [("aws_x.a", "name")]


@pytest.mark.parametrize(
    "change",
    [
        {"before": {"a": None}, "after": {"a": ""}},
        {"before": {"a": 1}, "after": {"a": 1}, "after_unknown": {"b": True}},
        {"before": {"tags_all": {"a": "1"}}, "after": {"tags_all": {}}},
    ],
)
def test_what_terraform_would_change_is_never_nothing(change: dict[str, Any]) -> None:
    assert len(_changes(_entry(**change))) == 1


def test_data_sources_and_what_stays_are_no_changes() -> None:
    data = _entry(actions=("read",)) | {"mode": "data"}
    assert _changes(data, _entry(actions=("no-op",), before={"a": 1}, after={"a": 2})) == []


def test_a_secret_is_marked_wherever_the_mark_stands() -> None:
    one = _entry(before={"a": 1}, after={"a": 2}, before_sensitive={"a": True})
    two = _entry("aws_x.b", before={"a": [{"b": 1}]}, after={"a": [{"b": 2}]}, after_sensitive={"a": [{"b": True}]})
    three = _entry("aws_x.c", before={"a": 1}, after={"a": 2}, after_sensitive=False, before_sensitive={"a": False})
    plan = read_plan({"resource_changes": [one, two, three]})
    assert [change.sensitive for change in plan.changes] == [True, True, False]


def test_a_plain_setting_that_the_code_marks_is_sensitive() -> None:
    def sensitive(marks: Any) -> list[bool]:
        before, after = ([{"variables": {"MODE": mode, "DB": "x"}}] for mode in ("on", "off"))
        entry = _entry(
            "aws_lambda_function.a", before={"environment": before}, after={"environment": after}, after_sensitive=marks
        )
        return [change.sensitive for change in read_plan({"resource_changes": [entry]}).changes]

    assert sensitive({"environment": [{"variables": {"DB": True}}]}) == [False]
    assert sensitive({"environment": [{"variables": {"MODE": True}}]}) == [True]
    assert sensitive({"environment": [{"variables": True}]}) == [True]
    assert sensitive({"environment": True}) == [True]
    assert sensitive(True) == [True]


def test_drift_has_live_and_recorded_the_other_way_round() -> None:
    plan = read_plan({"resource_drift": [_entry(before={"a": 2}, after={"a": 5})]})
    assert plan.drift == (ResourceChange(address="aws_x.a", attribute="a", live=5, other=2),)


def test_what_the_code_sets_is_known_through_modules_and_keys() -> None:
    module = {"resources": [{"address": "aws_y.b", "expressions": {"name": {}}}], "module_calls": {}}
    root = {
        "resources": [{"address": "aws_x.a", "expressions": {"size": {}}}],
        "module_calls": {"m": {"module": module}},
    }
    plan = read_plan({"configuration": {"root_module": root}})
    assert plan.sets(ResourceChange(address="aws_x.a[0]", attribute="size"))
    assert plan.sets(ResourceChange(address='module.m["a.b"].aws_y.b', attribute="name"))
    assert not plan.sets(ResourceChange(address="aws_x.a", attribute="name"))


def test_outputs_that_follow_are_named() -> None:
    outputs = {"size": {"actions": ["update"]}, "name": {"actions": ["no-op"]}}
    assert read_plan({"output_changes": outputs}).outputs == ("size",)


def test_an_address_without_keys() -> None:
    assert without_keys('module.a["x]\\"y"].aws_b.c[0]') == "module.a.aws_b.c"
