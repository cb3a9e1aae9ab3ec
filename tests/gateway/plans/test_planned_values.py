"""What an apply may give to an attribute."""

import hashlib
import json
from typing import Any

import pytest

from gateway.core.derived_rows import ValueForm
from gateway.core.model.json import Json
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import SessionChange
from gateway.plans.planned_values import PlannedResource, as_map, fits_body, is_body, same, same_in_form


def resource(
    action: PlannedAction = PlannedAction.UPDATE, recorded: dict[str, Json] | None = None, **members: Any
) -> PlannedResource:
    """A planned change of a queue."""
    change = SessionChange(address="aws_sqs_queue.a", resource_type="aws_sqs_queue", action=action, **members)
    return PlannedResource(change, recorded or {})


def allow(**statement: Json) -> str:
    """A policy with one statement."""
    return json.dumps({"Statement": [{"Effect": "Allow", **statement}]})


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (5, "5", True),
        (True, "true", True),
        (None, "", True),
        ([], None, True),
        (0, None, True),
        (7, None, False),
        (["a", "b"], ["b", "a"], True),
        (["a"], "a", True),
        ({"a": 1, "b": None}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        (allow(Action=["a", "b"]), allow(Action=["b", "a"]), True),
        (allow(Action="a"), allow(Action="*"), False),
        # In a document nothing is left out: without its condition a statement allows more.
        (allow(Condition={"Bool": {"x": False}}), allow(), False),
        (allow(Principal=[]), allow(), False),
        ("{not a document", "{not a document", True),
        ("-----BEGIN X-----\na\n-----END X-----\n", "-----BEGIN X-----\na\n-----END X-----", True),
        ("-----BEGIN X-----\na\n-----END X-----", "-----BEGIN X-----\nb\n-----END X-----", False),
        ("name ", "name", False),
    ],
)
def test_values_are_compared_by_what_they_say(one: Json, other: Json, expected: bool) -> None:
    assert same(one, other) is expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([{"Name": "email", "Value": "a"}], {"email": "a"}),
        ([{"key": "a", "value": 1}, {"key": "b", "value": None}], {"a": 1, "b": None}),
        ([{"Name": "a", "Value": "1"}, {"Name": "a", "Value": "2"}], None),
        ([{"Name": "a", "Value": "1", "Also": "2"}], None),
        ([{"Name": "a", "name": "b"}], None),
        (["a"], None),
        ([], None),
        ("a", None),
    ],
)
def test_a_list_of_pairs_is_the_map_that_it_writes(pairs: Json, expected: Json) -> None:
    assert as_map(pairs) == (pairs if expected is None else expected)


def test_a_change_gives_the_planned_value_and_leaves_the_others() -> None:
    change = resource(recorded={"delay_seconds": 1, "max_message_size": 1024}, values={"delay_seconds": 5})
    assert change.fits("delay_seconds", "5")
    assert not change.fits("delay_seconds", 6)
    assert change.fits("max_message_size", 1024)
    assert not change.fits("max_message_size", 2048)
    assert not change.fits("max_message_size", None)


def test_a_block_is_planned_member_by_member() -> None:
    change = resource(PlannedAction.CREATE, values={"versioning.enabled": True, "versioning.mfa_delete": False})
    assert change.fits("versioning.enabled", True)
    assert change.fits("versioning", [{"enabled": True}])
    assert not change.fits("versioning", [{"enabled": True, "mfa_delete": True}])


def test_a_value_that_the_plan_does_not_tell_is_free() -> None:
    change = resource(PlannedAction.CREATE, values={"rule.name": "a"}, free=frozenset({"password", "rule.arn"}))
    assert change.fits("password", "anything")
    assert change.fits("rule", [{"name": "a", "arn": "any"}])
    assert not change.fits("rule", [{"name": "b", "arn": "any"}])


def test_a_list_is_reached_in_steps() -> None:
    change = resource(recorded={"rules": ["a", "b"]}, values={"rules": ["b", "c"]})
    for step in (["b"], ["a", "b", "c"], ["b", "c"]):
        assert change.fits("rules", step)
    assert not change.fits("rules", ["b", "d"])


def test_what_is_deleted_may_only_be_switched_off() -> None:
    change = resource(PlannedAction.DELETE, recorded={"status": "Enabled", "policy": "p"})
    assert change.fits("status", "Suspended")
    assert change.fits("policy", "p")
    assert change.fits("policy", "")
    assert not change.fits("policy", "other")


def test_tags_are_of_the_code_of_the_provider_or_kept() -> None:
    change = resource(
        recorded={"tags": {"old": "1"}, "tags_all": {"old": "1", "managed": "x"}},
        values={"tags.team": "shop"},
        tags={"managed": "terraform"},
    )
    assert change.fits("tags", {"team": "shop", "managed": "terraform", "old": "1"})
    assert change.fits("tags.team", "shop")
    assert not change.fits("tags.old", None)
    assert not change.fits("tags", {"team": "shop", "managed": "terraform"})
    assert change.fits("tags.managed", None), "its value changes"
    assert not change.fits("tags.team", "other")
    assert not change.fits("tags", {"owner": "intruder"})


def test_tags_that_leave_the_code_or_the_provider_may_go() -> None:
    recorded: dict[str, Json] = {
        "tags": {"old": "1", "owner": "shop"},
        "tags_all": {"old": "1", "owner": "shop", "managed": "x"},
    }
    change = resource(recorded=recorded, values={"tags.old": None})
    assert change.fits("tags.old", None)
    assert change.fits("tags.managed", None), "the provider's default tags have it no more"
    assert not change.fits("tags.owner", None)
    assert change.fits("tags", {"owner": "shop"})
    assert not change.fits("tags", {})
    whole = resource(recorded=recorded, values={"tags": {"owner": "shop"}})
    assert (whole.fits("tags.old", None), whole.fits("tags.owner", None)) == (True, False)


def test_a_list_keeps_on_the_way_what_is_in_it_before_and_after() -> None:
    change = resource(recorded={"groups": ["sg-1", "sg-2"]}, values={"groups": ["sg-1", "sg-3"]})
    assert change.fits("groups", ["sg-1"])
    assert change.fits("groups", ["sg-1", "sg-2", "sg-3"])
    assert not change.fits("groups", ["sg-2"])
    assert not change.fits("groups", ["sg-3"])


@pytest.mark.parametrize(
    ("given", "attribute", "form", "expected"),
    [
        ("ABC", "abc", ValueForm.CASE, True),
        (True, False, ValueForm.NEGATED, True),
        (True, True, ValueForm.NEGATED, False),
        ("arn:aws:sqs:us-east-1:1:orders", "orders", ValueForm.ARN, True),
        ("arn:aws:sqs:us-east-1:1:others", "orders", ValueForm.ARN, False),
        (b"hello", "hello", ValueForm.BASE64, True),
        ("true", True, ValueForm.TEXT, True),
        ('{"a": 1}', '{"a":1}', ValueForm.JSON, True),
        (1, 2, ValueForm.SAME, False),
    ],
)
def test_a_parameter_has_the_attributes_value_in_its_form(
    given: object, attribute: Json, form: ValueForm, expected: bool
) -> None:
    assert same_in_form(given, attribute, form) is expected


def test_a_replacement_gets_again_what_the_plan_does_not_change() -> None:
    recorded: dict[str, Json] = {"name": "old", "display_name": "d", "tags": {"team": "shop"}}
    change = resource(PlannedAction.REPLACE, recorded=recorded, values={"name": "new", "policy": None})
    assert change.fits("name", "new")
    assert change.fits("display_name", "d")
    assert change.fits("tags", {"team": "shop"})
    assert not change.fits("display_name", "other")
    assert not change.fits("name", "old")


def test_an_upload_is_what_plan_or_state_say_of_its_content() -> None:
    def head(text: str, digest: str | None = "") -> dict[str, Json]:
        said = hashlib.sha256(text.encode()).hexdigest() if digest == "" else digest
        return {"bytes": len(text.encode()), "sha256": said}

    assert is_body(head("a"))
    assert not is_body({"Bytes": 1})
    made = resource(PlannedAction.CREATE, values={"content": "first"})
    assert fits_body(made, head("first"))
    assert fits_body(made, head("first", None)), "the client signs no digest"
    assert not fits_body(made, head("other"))
    assert not fits_body(made, head("longer", None))
    assert fits_body(resource(recorded={"content": "first"}, values={"cache_control": "x"}), head("first"))
    assert fits_body(resource(PlannedAction.CREATE, values={"content_base64": "Zmlyc3Q="}), head("first"))
    assert fits_body(resource(PlannedAction.CREATE, values={"source": "file.txt"}), head("what no plan tells"))
    assert not fits_body(resource(PlannedAction.CREATE, values={"key": "k"}), head("x")), "an object without content"
