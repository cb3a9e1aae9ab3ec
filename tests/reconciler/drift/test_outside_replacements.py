"""What took the place of a resource is said as long as that one is in the state; what follows from it is judged afterwards."""

from datetime import UTC, datetime
from typing import Any

from gateway.model.json import Json
from reconciler.drift.cloudtrail import Event, events_of
from reconciler.drift.foreign import OutsideChange
from reconciler.drift.outside_replacements import replaced_by_events, with_replacements
from reconciler.terraform.plan import ResourceChange, TerraformPlan, read_plan

WEB, LOGS = "aws_security_group.web", "aws_cloudwatch_log_group.l"
AT = datetime(2026, 1, 2, tzinfo=UTC)
LIVE: dict[str, Json] = {"import_id": "sg-2", "replaces": "sg-1"}


def _plan(old: str = "sg-1") -> TerraformPlan:
    """The group is gone, and a tag elsewhere names it."""

    def entry(address: str, actions: list[str], before: Any, after: Any, unknown: Any = None) -> dict[str, Any]:
        change = {"actions": actions, "before": before, "after": after, "after_unknown": unknown or {}}
        return {"address": address, "mode": "managed", "change": change}

    return read_plan(
        {
            "resource_drift": [entry(WEB, ["delete"], {"id": old, "name": "web"}, None)],
            "resource_changes": [
                entry(WEB, ["create"], None, {"name": "web"}),
                entry(LOGS, ["update"], {"tags": {"g": "sg-2"}}, {"tags": {}}, {"tags": {"g": True}}),
            ],
        }
    )


def _events() -> tuple[Event, ...]:
    record = {
        "eventSource": "ec2.amazonaws.com",
        "eventName": "CreateSecurityGroup",
        "eventTime": AT.isoformat(),
        "userIdentity": {"type": "IAMUser", "userName": "mallory"},
        "requestParameters": {"groupName": "web", "groupDescription": "second"},
        "responseElements": {"groupId": "sg-2"},
    }
    return events_of([record], "here").events


FOUND = tuple(
    OutsideChange(change=ResourceChange(address=address, attribute=attribute), origin=None)
    for address, attribute in ((WEB, "*"), (LOGS, "tags"))
)


def test_events_say_what_took_its_place_and_who_did_it() -> None:
    ((replaced, origin),) = replaced_by_events(_plan(), _events())
    assert (replaced.address, replaced.old_id, origin.actor) == (WEB, "sg-1", "mallory")
    (found,) = with_replacements(_plan(), FOUND, _events(), {})
    assert (found.change.live, found.change.other, found.change.address) == (LIVE, "sg-1", WEB)
    assert found.origin is not None


def test_without_events_it_stays_gone() -> None:
    assert with_replacements(_plan(), FOUND, (), {}) == FOUND


def test_what_was_found_before_stays_after_the_events_are_gone() -> None:
    (found,) = with_replacements(_plan(), FOUND, (), {(WEB, "*"): LIVE})
    assert found.change.live == LIVE
    both = with_replacements(_plan(), FOUND, (), {(WEB, "*"): LIVE, (LOGS, "tags"): {}})
    assert [each.change.address for each in both] == [WEB, LOGS]


def test_another_resource_in_the_state_is_another_story() -> None:
    assert with_replacements(_plan("sg-9"), FOUND, (), {(WEB, "*"): LIVE}) == FOUND
