"""An operation that no trace is certain of is known by its siblings only if two sources agree on its type and its parameters name such a resource."""

from collections.abc import Mapping, Sequence

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin
from gateway.core.model.mutation import CallClass, EffectAction
from tests.tools.effect_sources.kinds import Kind
from tests.tools.effect_sources.rules import Finding
from tests.tools.effect_sources.service_operations import ServiceOperation
from tests.tools.effect_sources.siblings import Siblings

CREATE, SET, DELETE, INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE
OPERATIONS = {
    "UpdateOven": ("ovenId", "heat"),
    "DeleteOven": ("ovenId",),
    "StartOven": ("ovenId",),
    "EnableLight": ("ovenId",),
    "DisableLight": ("ovenId",),
    "DeleteTray": ("ovenId", "trayId"),
    "UpdateTray": ("ovenId", "trayId"),
    "StopTray": ("ovenId", "trayId"),
    "CancelOven": ("ovenId",),
    "CreateGlow": ("name",),
    "DeleteGlow": ("glowId", "glowIds"),
    "UpdateGlow": ("glowId",),
    "TagOven": ("ovenId",),
    "StartAll": (),
    "UpdateRack": ("rackId",),
    "AssociateRack": ("rackId", "wallId"),
}

TYPES = {"aws_bread_oven", "aws_bread_tray", "aws_bread_glow", "aws_bread_rack", "aws_bread_rack_attachment"}


def traced(
    operation: str, resource_type: str, *names: str, action: EffectAction = SET, sure: bool = True
) -> DerivedRow:
    return DerivedRow(
        service="bread",
        operation=operation,
        resource_type=resource_type,
        actions=frozenset({action}),
        origin=Origin.TRACED,
        confidence=Confidence.ATTRIBUTES if sure else Confidence.TYPE,
        identity={name: AttributeSource(attribute=name.lower()) for name in names},
    )


OVEN = traced("UpdateOven", "aws_bread_oven", "ovenId")
TRAY = traced("UpdateTray", "aws_bread_tray", "ovenId", "trayId")


def found(operation: str, rows: Sequence[DerivedRow], *findings: Finding) -> DerivedRow | None:
    by_key: Mapping[tuple[str, str], ServiceOperation] = {
        ("bread", name): ServiceOperation(
            service="bread",
            service_id="Bread",
            name=name,
            prefixes=("bread",),
            call_class=CallClass.MUTATION,
            parameters=parameters,
            required=frozenset(parameters),
            texts=frozenset(parameters),
            tokens=frozenset(),
        )
        for name, parameters in OPERATIONS.items()
    }
    return Siblings(rows, by_key, TYPES).row(("bread", operation), findings)


def finding(resource_type: str, action: EffectAction = INVOKE, *, sure: bool = False) -> Finding:
    kind = Kind(source="AWS::Bread::X", noun="x", resource_type=resource_type, handlers={})
    return Finding(kind=kind, actions=frozenset({action}), signs=frozenset({"noun", "iam"}), sure=sure)


def test_the_model_says_the_type_and_the_siblings_say_by_which_parameters() -> None:
    row = found("StartOven", [OVEN, TRAY], finding("aws_bread_oven"))
    assert row is not None
    assert (row.resource_type, row.identity) == ("aws_bread_oven", OVEN.identity)
    assert row.actions == {SET}
    assert (row.origin, row.confidence) == (Origin.MODEL, Confidence.RESOURCE)
    assert found("StartOven", [OVEN]) is None, "the parameters alone prove nothing"
    assert found("StartOven", [], finding("aws_bread_oven")) is None, "no sibling says how it is identified"


def test_the_opposite_with_the_same_noun_says_the_type() -> None:
    light = traced("DisableLight", "aws_bread_oven", "ovenId")
    row = found("EnableLight", [light])
    assert row is not None
    assert row.resource_type == "aws_bread_oven"
    assert row.actions == {SET}
    assert found("EnableLight", [light, OVEN], finding("aws_bread_bulb")) is None, "two sources contradict each other"
    stove = traced("DeleteOven", "aws_bread_stove", "ovenId")
    assert found("EnableLight", [light, stove]) is not None, "the opposite says which of the two"
    unsure = traced("DisableLight", "aws_bread_oven", "ovenId", sure=False)
    assert found("EnableLight", [unsure, OVEN]) is None


def test_the_opposite_of_a_create_deletes() -> None:
    rows = [traced("CreateGlow", "aws_bread_glow", action=CREATE), traced("UpdateGlow", "aws_bread_glow", "glowId")]
    row = found("DeleteGlow", rows)
    assert row is not None
    assert row.actions == {DELETE}
    assert [*row.identity] == ["glowId"]


def test_its_own_trace_says_the_type_where_that_is_all_that_it_knows() -> None:
    row = found("StopTray", [OVEN, TRAY, traced("StopTray", "aws_bread_tray", sure=False)])
    assert row is not None
    assert {*row.identity} == {"ovenId", "trayId"}
    assert found("StopTray", [OVEN, TRAY, traced("StopTray", "aws_bread_oven", sure=False)]) is None
    other = finding("bread:tray")
    assert found("StopTray", [OVEN, TRAY, traced("StopTray", "aws_bread_tray", sure=False)], other) is None
    twice = [traced("StopTray", name, sure=False) for name in ("aws_bread_tray", "aws_bread_oven")]
    assert found("StopTray", [OVEN, TRAY, *twice]) is None


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("StopTray", finding("aws_bread_oven")),
        ("DeleteTray", finding("aws_bread_oven", SET)),
        ("DeleteOven", finding("aws_bread_oven", DELETE)),
        ("CancelOven", finding("aws_bread_oven")),
        ("TagOven", finding("aws_bread_oven")),
        ("StartOven", finding("AWS::Bread::Oven")),
        ("StartAll", finding("aws_bread_oven")),
        ("AssociateRack", finding("aws_bread_rack")),
    ],
)
def test_what_may_concern_something_else_is_not_known(operation: str, given: Finding) -> None:
    rack = traced("UpdateRack", "aws_bread_rack", "rackId")
    assert found(operation, [OVEN, TRAY, rack], given) is None


def test_parameters_that_identify_two_types_name_neither() -> None:
    other = traced("DeleteOven", "aws_bread_stove", "ovenId")
    assert found("StartOven", [OVEN, other], finding("aws_bread_oven")) is None


def test_siblings_that_identify_by_different_attributes_name_nothing() -> None:
    other = traced("DeleteOven", "aws_bread_oven", "ovenId")
    differs = DerivedRow(
        service="bread",
        operation="DeleteOven",
        resource_type="aws_bread_oven",
        actions=other.actions,
        origin=other.origin,
        confidence=other.confidence,
        identity={"ovenId": AttributeSource(attribute="arn")},
    )
    assert found("StartOven", [OVEN, differs], finding("aws_bread_oven")) is None
