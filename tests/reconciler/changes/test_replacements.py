"""A resource takes the place of one that is gone only if that is certain."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.classification import classify_mutation
from reconciler.changes.event_creations import Created
from reconciler.changes.replacements import (
    as_replacement,
    at_deleted_address,
    creates_resource,
    deleted_addresses,
    earlier_creation,
    replaced_in_code,
    replaced_resources,
)
from reconciler.terraform.plan import TerraformPlan, read_plan
from tests.kit import nouns

WEB = "aws_security_group.web"


def _gone(address: str, **attributes: Json) -> dict[str, Any]:
    return {
        "address": address,
        "mode": "managed",
        "change": {"actions": ["delete"], "before": {"id": "sg-1"} | attributes, "after": None},
    }


def _plan(*gone: dict[str, Any], created: bool = True) -> TerraformPlan:
    changes = [{**each, "change": {"actions": ["create"], "before": None, "after": {"name": "x"}}} for each in gone]
    return read_plan({"resource_drift": list(gone), "resource_changes": changes if created else []})


def _created(import_id: str = "sg-2", kind: str = "aws_security_group", **attributes: Json) -> Created:
    return Created(resource_type=kind, import_id=import_id, attributes=attributes, name="")


def _found(plan: TerraformPlan, *created: Created) -> dict[str, str]:
    return {each.address: each.created.import_id for each in replaced_resources(plan, created)}


def test_the_same_name_and_type_with_another_id_is_a_replacement() -> None:
    (found,) = replaced_resources(_plan(_gone(WEB, name="web")), [_created(name="web", description="new")])
    assert (found.address, found.old_id, found.created.import_id) == (WEB, "sg-1", "sg-2")


def test_what_has_no_name_is_known_by_its_name_tag() -> None:
    plan = _plan(_gone("aws_instance.a", tags={"Name": "a"}, subnet_id="s"))
    assert _found(plan, _created("i-2", "aws_instance", tags={"Name": "a"}, subnet_id="s")) == {"aws_instance.a": "i-2"}
    assert _found(plan, _created("i-2", "aws_instance", tags={"Name": "b"}, subnet_id="s")) == {}
    assert _found(plan, _created("i-2", "aws_instance", tags={"Name": "a"}, subnet_id="t")) == {}


@pytest.mark.parametrize(
    "created",
    [
        _created(name="other"),
        _created("sg-1", name="web"),
        _created(kind="aws_lb", name="web"),
        _created(description="without a name"),
    ],
)
def test_anything_else_is_none(created: Created) -> None:
    assert _found(_plan(_gone(WEB, name="web")), created) == {}


def test_two_that_could_be_meant_are_left_and_the_last_of_two_counts() -> None:
    assert _found(_plan(_gone(WEB, name="web"), _gone(f"{WEB}2", name="web")), _created(name="web")) == {}
    assert _found(_plan(_gone(WEB, name="web")), _created(name="web"), _created("sg-3", name="web")) == {WEB: "sg-3"}


def test_what_belonged_to_it_is_found_by_the_new_id() -> None:
    rule = "aws_vpc_security_group_ingress_rule"
    at_22 = {"ip_protocol": "tcp", "from_port": 22, "to_port": 22, "cidr_ipv4": "10.0.0.0/8"}
    plan = _plan(_gone(WEB, name="web"), _gone(f"{rule}.ssh", **(at_22 | {"id": "sgr-1", "security_group_id": "sg-1"})))  # type: ignore[arg-type]
    made = _created("sgr-2", rule, security_group_id="sg-2", **at_22)  # type: ignore[arg-type]
    assert _found(plan, made, _created(name="web")) == {WEB: "sg-2", f"{rule}.ssh": "sgr-2"}
    assert _found(plan, made) == {}, "the group is not known to be another one"


def test_what_the_plan_does_not_create_again_is_not_replaced() -> None:
    assert _found(_plan(_gone(WEB, name="web"), created=False), _created(name="web")) == {}


def test_an_import_in_the_code_says_what_took_the_place() -> None:
    plan = _plan(_gone(WEB, name="web"), _gone("aws_lb.a"))
    (found,) = replaced_in_code(plan, {WEB: "sg-2", "aws_lb.a": "sg-1", "aws_lb.b": "lb-2"})
    assert (found.address, found.old_id, found.created.import_id) == (WEB, "sg-1", "sg-2")
    assert replaced_in_code(_plan(_gone(WEB, name="web"), created=False), {WEB: "sg-2"}) == ()


AT = datetime(2026, 1, 2, tzinfo=UTC)
WEB_OF_MADE_AGAIN, OTHER, NEW = "aws_instance.web", "aws_instance.other", "aws_instance{call=1}"
RECORDED: dict[str, dict[str, Json]] = {
    WEB_OF_MADE_AGAIN: {"id": "i-1", "tags": {"Name": "web"}, "subnet_id": "s"},
    OTHER: {"id": "i-9", "tags": {"Name": "other"}, "subnet_id": "s"},
}


def _effect(address: str, attribute: str, action: EffectAction, value: Json = None, *, declared: bool = True) -> Effect:
    identity = {} if declared else {"call": "1"}
    return nouns.effect(address, attribute, value, action=action, identity=identity, declared=declared)


def _applied(mutation: str, *effects: Effect, **changes: Json) -> AppliedMutation:
    applied = AppliedMutation(
        id=mutation, seq=1, stack="shop", actor="a", at=AT, operation="ec2:X", effects=effects, settled_at=AT
    )
    return replace(applied, **changes)  # type: ignore[arg-type]


DELETION = _applied("mut_d", _effect(WEB_OF_MADE_AGAIN, WHOLE, EffectAction.DELETE))
VALUES: dict[str, Json] = {"ami": "ami-2", "subnet_id": "s", "tags.Name": "web"}
CREATION = _applied(
    "mut_c",
    _effect(NEW, WHOLE, EffectAction.CREATE, declared=False),
    *(_effect(NEW, name, EffectAction.CREATE, value, declared=False) for name, value in VALUES.items()),
    made="i-2",
)


def test_what_was_created_after_the_deletion_is_at_its_address() -> None:
    told = at_deleted_address(CREATION, {WEB_OF_MADE_AGAIN: "mut_d"}, RECORDED)
    assert ({each.address for each in told.effects}, told.together) == ({WEB_OF_MADE_AGAIN}, ("mut_d",))
    classified = classify_mutation(told, superseded={})
    ((address, created),) = classified.again
    assert created is not None
    assert (address, created.import_id) == (WEB_OF_MADE_AGAIN, "i-2")
    assert {each.attribute: each.value for each in classified.wanted} == VALUES


@pytest.mark.parametrize(
    ("deleted", "recorded", "made"),
    [
        ({}, RECORDED, "i-2"),
        ({OTHER: "mut_d"}, RECORDED, "i-2"),
        ({WEB_OF_MADE_AGAIN: "mut_d"}, {}, "i-2"),
        ({WEB_OF_MADE_AGAIN: "mut_d"}, RECORDED, ""),
        ({WEB_OF_MADE_AGAIN: "mut_d"}, RECORDED, "i-1"),
        (
            {WEB_OF_MADE_AGAIN: "mut_d", OTHER: "mut_e"},
            {WEB_OF_MADE_AGAIN: RECORDED[WEB_OF_MADE_AGAIN], OTHER: RECORDED[WEB_OF_MADE_AGAIN]},
            "i-2",
        ),
    ],
)
def test_without_certainty_it_is_another_resource(
    deleted: dict[str, str], recorded: dict[str, dict[str, Json]], made: str
) -> None:
    told = at_deleted_address(replace(CREATION, made=made), deleted, recorded)
    assert (told.effects, told.together) == (CREATION.effects, ())


def test_a_creation_before_the_deletion_becomes_the_same_replacement() -> None:
    before = earlier_creation(DELETION, [DELETION, CREATION], RECORDED)
    assert before is not None
    assert (before.creation.id, before.address) == ("mut_c", WEB_OF_MADE_AGAIN)
    told = as_replacement(DELETION, before, RECORDED)
    assert (told.id, told.together, told.made) == ("mut_d", ("mut_c",), "i-2")
    assert {each.address for each in told.effects} == {WEB_OF_MADE_AGAIN}
    assert earlier_creation(DELETION, [CREATION, replace(CREATION, id="mut_e")], RECORDED) is None, (
        "which one is not certain"
    )
    assert earlier_creation(CREATION, [CREATION], RECORDED) is None


def test_what_is_wanted_for_a_time_or_done_by_terraform_is_no_part_of_it() -> None:
    assert (deleted_addresses(DELETION), creates_resource(CREATION)) == ((WEB_OF_MADE_AGAIN,), True)
    for changes in ({"wanted_seconds": timedelta(hours=1).total_seconds()}, {"kind": "pipeline"}):
        assert deleted_addresses(replace(DELETION, **changes)) == ()
        assert not creates_resource(replace(CREATION, **changes))
    assert not creates_resource(DELETION)


def test_a_deletion_that_was_created_again_since_is_superseded() -> None:
    classified = classify_mutation(DELETION, superseded={(WEB_OF_MADE_AGAIN, WHOLE): "mut_c"})
    assert (classified.wanted, classified.left) == ((), ())
    assert [each.superseded_by for each in classified.kept_out] == ["mut_c"]
