"""A row needs two signs that agree; where one of them is missing or another contradicts, the row says less or nothing."""

from typing import Any

import pytest

from gateway.core.derived_rows import Confidence, DerivedRow
from gateway.core.model.mutation import CallClass, EffectAction
from tests.tools.effect_sources.cloudformation import read_type
from tests.tools.effect_sources.counterpart import Counterpart
from tests.tools.effect_sources.iam import read_service
from tests.tools.effect_sources.kinds import Sources, kinds_of, prefixes_of
from tests.tools.effect_sources.operation_names import Direction, fold, split
from tests.tools.effect_sources.rules import derive
from tests.tools.effect_sources.service_operations import read_operation

CREATE, SET, DELETE, INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE

OPERATIONS: dict[str, list[str]] = {
    "CreateBakery": ["Name", "ClientToken"],
    "UpdateBakery": ["BakeryName!", "Hours"],
    "DeleteBakery": ["BakeryName!"],
    "PutBakeryHours": ["BakeryName!", "Hours"],
    "PutBakeryPolicy": ["BakeryName!", "Policy"],
    "StopBakery": ["BakeryName!"],
    "StartBakery": ["BakeryName!"],
    "CloseBakeryWindow": ["BakeryName!"],
    "DeleteOven": ["Heat!"],
    "DescribeLoaf": ["LoafId!"],
    "DeleteLoaf": ["LoafId!", "BakeryName!"],
    "AttachOven": ["OvenId!", "BakeryName!"],
    "CreateNetworkInterface": ["SubnetId!"],
    "CreateSpecialBakery": ["Name!"],
    "DeleteCrumb": ["Name!"],
    "TagResource": ["ResourceArn!", "Tags"],
    "FrobnicateBakery": ["BakeryName!"],
}
"""Operation → its parameters, required ones with `!`."""

IAM_TYPES = {
    "bakery": "arn:${Partition}:bread:${Region}:${Account}:bakery/${BakeryName}",
    "loaf": "arn:${Partition}:bread:${Region}:${Account}:bakery/${BakeryName}/loaf/${LoafId}",
    "crumb": "arn:${Partition}:bread:${Region}:${Account}:crumb/${CrumbName}",
}
ON_BAKERY = ["UpdateBakery", "DeleteBakery", "PutBakeryHours", "PutBakeryPolicy", "StopBakery", "StartBakery"]
IAM_ACTIONS = {
    "CreateBakery": ["bakery"],
    **{name: ["bakery"] for name in (*ON_BAKERY, "CloseBakeryWindow", "FrobnicateBakery")},
    "CreateSpecialBakery": ["bakery"],
    "DeleteLoaf": ["loaf"],
    "DeleteOven": [],
    "DeleteCrumb": ["crumb"],
    "AttachOven": [],
    "TagResource": [],
}

SCHEMAS = [
    {
        "typeName": "AWS::Bread::Bakery",
        "primaryIdentifier": ["/properties/BakeryName"],
        "properties": {"BakeryName": {}, "Hours": {}},
        "handlers": {
            "create": {"permissions": ["bread:CreateBakery", "ec2:CreateNetworkInterface", "iam:PassRole"]},
            "update": {"permissions": ["bread:UpdateBakery", "bread:PutBakeryHours", "bread:PutBakeryPolicy"]},
            "delete": {"permissions": ["bread:DeleteBakery", "bread:DeleteOven"]},
        },
    },
    {
        "typeName": "AWS::Bread::OvenAttachment",
        "primaryIdentifier": ["/properties/OvenId", "/properties/BakeryName"],
        "properties": {"OvenId": {}, "BakeryName": {}},
        "handlers": {"create": {"permissions": ["bread:AttachOven"]}, "delete": {"permissions": ["bread:DetachOven"]}},
    },
]


def _model() -> dict[str, Any]:
    shapes = {
        f"{name}Request": {
            "members": {
                each.rstrip("!"): {"shape": "Text", "idempotencyToken": each == "ClientToken"} for each in members
            },
            "required": [each.rstrip("!") for each in members if each.endswith("!")],
        }
        for name, members in OPERATIONS.items()
    }
    return {
        "metadata": {"serviceId": "Bread", "endpointPrefix": "bread"},
        "operations": {name: {"input": {"shape": f"{name}Request"}} for name in OPERATIONS},
        "shapes": {**shapes, "Text": {"type": "string"}},
    }


def _rows(
    operation: str,
    *,
    terraform: dict[str, frozenset[str]] | None = None,
    reviewed: dict[str, Counterpart] | None = None,
) -> tuple[DerivedRow, ...]:
    """The rows of an operation of a service that bakes bread."""
    types = tuple(map(read_type, SCHEMAS))
    actions = {
        name: {"accessLevel": "Write", "resourceTypes": [{"name": each, "required": True} for each in named]}
        for name, named in IAM_ACTIONS.items()
    }
    actions["TagResource"]["resourceTypes"] = [{"name": name, "required": False} for name in ("bakery", "crumb")]
    described = {name: {"key": name, "arn": arn} for name, arn in IAM_TYPES.items()}
    attributes = terraform or {}
    sources = Sources(
        types=types,
        iam={"bread": read_service("bread", actions, described)},
        terraform=reviewed or {},
        attributes=attributes,
        blocks={},
        prefixes=prefixes_of(types),
    )
    operations = [read_operation("bread", name, _model(), CallClass.MUTATION) for name in OPERATIONS]
    (wanted,) = (each for each in operations if each.name == operation)
    return derive(wanted, kinds_of(operations, sources), attributes)


def _row(operation: str, **given: Any) -> DerivedRow:
    (found,) = _rows(operation, **given)
    return found


BAKERY = {"aws_bread_bakery": frozenset({"id", "arn", "name", "hours"})}
REVIEWED = {"AWS::Bread::Bakery": Counterpart(terraform="aws_bread_bakery", signs=("name", "attributes"))}


def test_the_operation_with_the_name_of_a_kind_and_a_handler_creates_it() -> None:
    row = _row("CreateBakery", terraform=BAKERY, reviewed=REVIEWED)

    assert (row.resource_type, row.actions, row.confidence) == (
        "aws_bread_bakery",
        frozenset({CREATE}),
        Confidence.RESOURCE,
    )
    assert row.controls == {"ClientToken"}


@pytest.mark.parametrize(("operation", "action"), [("UpdateBakery", SET), ("DeleteBakery", DELETE)])
def test_a_change_names_the_resource_by_the_attribute_of_terraform(operation: str, action: EffectAction) -> None:
    row = _row(operation, terraform=BAKERY, reviewed=REVIEWED)

    assert (row.actions, row.confidence) == (frozenset({action}), Confidence.RESOURCE)
    assert {name: source.attribute for name, source in row.identity.items()} == {"BakeryName": "name"}


def test_a_type_that_terraform_lacks_keeps_the_name_of_cloudformation() -> None:
    row = _row("UpdateBakery")

    assert row.resource_type == "AWS::Bread::Bakery"
    assert row.identity["BakeryName"].attribute == "BakeryName"


def test_a_type_that_terraform_may_have_under_the_same_name_gives_no_row_until_somebody_reviewed_it() -> None:
    assert _rows("UpdateBakery", terraform=BAKERY) == ()


def test_a_type_that_several_terraform_types_manage_gives_no_row() -> None:
    several = {"AWS::Bread::Bakery": Counterpart(terraform="", signs=("reviewed",))}

    assert _rows("UpdateBakery", terraform=BAKERY, reviewed=several) == ()


def test_a_part_of_a_kind_is_a_change_of_it_if_handler_and_iam_agree() -> None:
    row = _row("PutBakeryHours", terraform=BAKERY, reviewed=REVIEWED)

    assert (row.actions, row.confidence) == (frozenset({SET}), Confidence.RESOURCE)


def test_a_part_that_terraform_may_have_a_type_for_gives_no_row() -> None:
    terraform = {**BAKERY, "aws_bread_bakery_policy": frozenset({"id", "policy"})}

    assert _rows("PutBakeryPolicy", terraform=terraform, reviewed=REVIEWED) == ()


def test_what_only_iam_knows_has_the_name_of_iam() -> None:
    row = _row("DeleteCrumb")

    assert (row.resource_type, row.actions, row.confidence) == ("bread:crumb", frozenset({DELETE}), Confidence.RESOURCE)
    assert row.identity["Name"].attribute == "CrumbName"


def test_a_resource_inside_another_needs_both_names() -> None:
    row = _row("DeleteLoaf")

    assert row.confidence is Confidence.RESOURCE
    assert {*row.identity} == {"BakeryName", "LoafId"}


def test_a_verb_that_acts_is_an_invocation() -> None:
    row = _row("StopBakery", terraform=BAKERY, reviewed=REVIEWED)

    assert (row.actions, row.confidence) == (frozenset({INVOKE}), Confidence.RESOURCE)


def test_a_verb_that_no_table_has_makes_the_direction_less_than_certain() -> None:
    row = _row("FrobnicateBakery", terraform=BAKERY, reviewed=REVIEWED)

    assert (row.actions, row.confidence) == (frozenset({INVOKE}), Confidence.TYPE)


def test_an_attachment_is_created_by_attaching() -> None:
    row = _row("AttachOven")

    assert (row.resource_type, row.actions) == ("AWS::Bread::OvenAttachment", frozenset({CREATE}))


@pytest.mark.parametrize("operation", ["CreateNetworkInterface", "DeleteOven", "CreateSpecialBakery"])
def test_helpers_of_a_handler_and_similar_names_give_no_row(operation: str) -> None:
    assert _rows(operation) == ()


def test_tags_have_a_row_for_each_kind_that_they_may_be_on() -> None:
    rows = _rows("TagResource")

    assert {row.resource_type for row in rows} == {"AWS::Bread::Bakery", "bread:crumb"}
    assert {row.confidence for row in rows} == {Confidence.RESOURCE}, "the ARN says which"
    assert all(row.identity["ResourceArn"].attribute == "Arn" for row in rows)


@pytest.mark.parametrize(
    ("name", "direction", "noun"),
    [
        ("UpdateStateMachine", Direction.SET, "statemachine"),
        ("BatchDeleteTableRows", Direction.DELETE, "tablerow"),
        ("DeleteApplicationPolicies", Direction.DELETE, "applicationpolicy"),
        ("SettleInvoice", Direction.OTHER, "invoice"),
    ],
)
def test_a_name_has_a_verb_and_a_noun(name: str, direction: Direction, noun: str) -> None:
    found = split(name)

    assert (found.direction, found.noun) == (direction, noun)


def test_names_of_all_sources_compare() -> None:
    assert fold("StateMachine") == fold("state_machine") == fold("statemachine") == fold("state-machines")
