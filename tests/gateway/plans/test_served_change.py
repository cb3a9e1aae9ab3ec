"""What a call of a session does for the plan, by its values, its name and what it leaves out."""

from typing import Any

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, ValueForm
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import SessionChange
from gateway.plans.planned_values import PlannedResource
from gateway.plans.served_change import lacks_kept, lost_members, names_what_goes, unserved

RECORDED: dict[str, Json] = {
    "id": "1",
    "delay_seconds": 5,
    "policy": "p",
    "groups": ["a", "b"],
    "user": [{"name": "app"}, {"name": "old"}],
    "tags": {"owner": "shop"},
}


def resource(kind: str = "aws_sqs_queue", free: frozenset[str] = frozenset(), **values: Json) -> PlannedResource:
    """A recorded resource with these planned values."""
    planned: dict[str, Json] = {name.replace("__", "."): value for name, value in values.items()}
    change = SessionChange(
        address=f"{kind}.a", resource_type=kind, action=PlannedAction.UPDATE, values=planned, free=free
    )
    return PlannedResource(change, RECORDED)


def row(operation: str, service: str = "sqs", **members: Any) -> DerivedRow:
    """A row of the operation."""
    usual: dict[str, Any] = {
        "actions": frozenset({EffectAction.SET}),
        "origin": Origin.TRACED,
        "confidence": Confidence.ATTRIBUTES,
        "identity": {"Id": AttributeSource(attribute="id")},
    }
    return DerivedRow(service=service, operation=operation, resource_type="aws_sqs_queue", **(usual | members))


def why(known: DerivedRow, planned: PlannedResource, *given: str, unexplained: tuple[str, ...] = ()) -> str:
    """Why a call that gives these parameters serves nothing."""
    call = Call(service=known.service, operation=known.operation)
    return unserved(call, known, planned, {"Id", *given}, [(each, (each,), None) for each in unexplained])


@pytest.mark.parametrize(
    ("operation", "values", "serves"),
    [
        ("StopDelay", {"delay_seconds": 1}, True),
        ("StopDelays", {"delay_seconds": 1}, True),
        ("StopDelay", {"tags__note": "x"}, False),
        ("StopDelay", {"policy": "q"}, False),
        ("DeleteTags", {"tags__delay": "x"}, True),
        ("StopDelay", {"tags__delay": "x"}, False),
        ("StopQueue", {"policy": "q"}, True),
        ("StopQueue", {"tags__note": "x"}, False),
        ("DeleteQueuePolicy", {"policy": "q"}, True),
        ("ResetStatus", {"tags__status": "x"}, False),
    ],
)
def test_a_call_that_says_only_which_resource_is_known_by_its_name(
    operation: str, values: dict[str, Any], serves: bool
) -> None:
    assert bool(why(row(operation), resource(**values))) is not serves


@pytest.mark.parametrize(
    ("operation", "values", "serves"),
    [
        ("AdminDisableQueue", {"enabled": False}, True),
        ("EnableQueue", {"is_enabled": True}, True),
        ("EnableQueue", {"disabled": False}, True),
        ("AdminDisableQueue", {"enabled": True}, False),
        ("AdminDisableQueue", {"policy": "q"}, False),
        ("DisableQueueLogging", {"enabled": False}, False),
        ("EnableQueue", {"tags__enabled": True}, False),
    ],
)
def test_a_resource_is_switched_in_the_planned_direction_only(
    operation: str, values: dict[str, Any], serves: bool
) -> None:
    assert bool(why(row(operation, origin=Origin.MODEL), resource(**values))) is not serves


def test_only_the_provider_stops_a_resource_for_another_change() -> None:
    assert why(row("StopQueue", origin=Origin.MODEL), resource(policy="q"))


def test_what_is_given_serves_or_writes_again_what_is_there() -> None:
    delay = {"Delay": AttributeSource(attribute="delay_seconds")}
    assert not why(row("StopIt", attributes=delay), resource(delay_seconds=1), "Delay")
    assert why(row("StopIt", attributes=delay), resource(policy="q"), "Delay")
    assert not why(row("UpdateIt", attributes=delay), resource(policy="q"), "Delay")
    assert why(row("UpdateIt", attributes=delay), resource(policy="q"))
    assert not why(row("StopIt"), resource(policy="q"), unexplained=("policy",))
    assert why(row("StopIt"), resource(name="q"), unexplained=("name",)), "a name tells which, and not what for"


def test_what_a_call_takes_away_by_itself_is_not_kept() -> None:
    takes = row("DeletePolicy", clears=frozenset({"policy"}))
    assert "policy" in why(takes, resource(tags__note="x"))
    assert not why(takes, resource(policy=None))
    assert not why(takes, resource(policy="q")), "it is set again by the next call"
    assert not why(takes, resource(free=frozenset({"policy"})))


def test_what_a_call_writes_as_a_whole_leaves_nothing_out() -> None:
    given = {"Delay": AttributeSource(attribute="delay_seconds"), "Policy": AttributeSource(attribute="policy")}
    whole = row("UpdateUserPool", service="cognito-idp", attributes=given)
    assert "policy" in why(whole, resource(delay_seconds=1), "Delay")
    assert not why(whole, resource(delay_seconds=1), "Delay", "Policy")
    assert not why(row("UpdateThing", attributes=given), resource(delay_seconds=1), "Delay"), "nobody knows"


@pytest.mark.parametrize(
    ("operation", "parameter", "names"),
    [
        ("RemoveSource", "Id", True),
        ("ModifyEndpoint", "RemoveGroups", True),
        ("UpdateMonitor", "ResourcesToRemove", True),
        ("UpdateTable", "Updates.Delete.Region", True),
        ("UpdateControl", "Sources.Id", False),
        ("UpdateRemoval", "Removal", False),
    ],
)
def test_which_parameters_name_what_goes(operation: str, parameter: str, names: bool) -> None:
    assert names_what_goes(operation, parameter) is names


def test_a_member_that_stays_is_lost() -> None:
    assert [*lost_members(resource(groups=["a"]), "groups", ["a"])] == ["groups"]
    assert not [*lost_members(resource(groups=["a"]), "groups", ["b"])]
    assert [*lost_members(resource(policy="q"), "groups", ["b"])] == ["groups"]
    assert not [*lost_members(resource(group_list=["a"]), "groups", ["b"])], "it follows from what is called alike"
    assert [*lost_members(resource(user=[{"name": "app"}]), "user.name", ["app"])] == ["user.name"]
    assert not [*lost_members(resource(user=[{"name": "app"}]), "user.name", ["old"])]
    assert [*lost_members(resource(policy="q"), "tags", [{"Key": "owner"}, "new"])] == ["tags.owner"]


def test_a_list_that_is_written_lacks_what_stays() -> None:
    same = ValueForm.SAME
    assert lacks_kept(resource(groups=["a", "c"]), "groups", ["c"], same)
    assert not lacks_kept(resource(groups=["a", "c"]), "groups", ["a"], same)
    assert lacks_kept(resource(policy="q"), "groups", ["a"], same)
    assert not lacks_kept(resource(free=frozenset({"groups"})), "groups", ["c"], same)
    assert lacks_kept(resource(policy="q"), "tags", [{"note": "x"}], same)
    assert not lacks_kept(resource(policy="q"), "tags", [{"owner": "shop"}], same)
    assert not lacks_kept(resource(policy="q"), "tags", [{"Key": "owner", "Value": "shop"}], same)


@pytest.mark.parametrize(
    ("path", "value", "serves"),
    [
        (("UserUpdate", "Name"), "new", True),
        (("UserUpdate", "NameForAll"), "new", True),
        (("UserUpdate", "Name"), "old", False),
        (("UserUpdate", "Name"), "other", False),
        (("UserUpdate", "Size"), "new", False),
    ],
)
def test_a_parameter_of_which_no_row_tells_serves_by_a_new_value_under_the_name_of_what_changes(
    path: tuple[str, ...], value: str, *, serves: bool
) -> None:
    planned = resource(user=[{"user_name": "app"}, {"user_name": "new"}])
    call = Call(service="sqs", operation="UpdateIt")
    bare = row("UpdateIt", origin=Origin.MODEL, confidence=Confidence.RESOURCE)
    given = {"Id", path[0], ".".join(path)}
    assert bool(unserved(call, bare, planned, given, [("size", path, value)])) is not serves
