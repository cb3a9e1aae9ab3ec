"""A resource takes the place of one that is gone only if that is certain."""

from typing import Any

import pytest

from gateway.model.json import Json
from reconciler.drift.creations import Created
from reconciler.drift.replaced import replaced_in_code, replaced_resources
from reconciler.terraform.plan import TerraformPlan, read_plan

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
