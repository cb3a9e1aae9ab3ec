"""Rows are compared with what is known point by point; a name, an id and an ARN of the same resource agree."""

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin
from gateway.core.model.mutation import EffectAction
from tests.tools.effect_sources.agreement import Known, compare, hand_made

SET, DELETE = EffectAction.SET, EffectAction.DELETE
KNOWN = Known(types=frozenset({"aws_made_up"}), actions=frozenset({SET}), identity={("aws_made_up", "Name"): "name"})


def _row(resource_type: str = "aws_made_up", action: EffectAction = SET, attribute: str = "name") -> DerivedRow:
    return DerivedRow(
        service="made-up",
        operation="SetLabel",
        resource_type=resource_type,
        actions=frozenset({action}),
        origin=Origin.MODEL,
        confidence=Confidence.RESOURCE,
        identity={"Name": AttributeSource(attribute=attribute)},
    )


def _verdicts(*rows: DerivedRow) -> dict[str, bool]:
    key = ("made-up", "SetLabel")
    return {each.point: each.agrees for each in compare({key: rows}, {key: KNOWN})}


def test_a_row_that_says_the_same_agrees_in_each_point() -> None:
    assert _verdicts(_row()) == {"type": True, "direction": True, "identity": True}


def test_another_type_contradicts_and_says_nothing_more() -> None:
    assert _verdicts(_row("aws_other")) == {"type": False}


def test_of_several_rows_the_one_with_a_known_type_counts() -> None:
    assert _verdicts(_row("aws_other"), _row())["type"]


def test_another_direction_contradicts() -> None:
    assert not _verdicts(_row(action=DELETE))["direction"]


def test_the_id_of_the_same_resource_agrees_and_that_of_another_does_not() -> None:
    assert _verdicts(_row(attribute="id"))["identity"]
    assert _verdicts(_row(attribute="made_up_name"))["identity"]
    assert not _verdicts(_row(attribute="role_name"))["identity"]


def test_hand_made_rows_are_known() -> None:
    queue = hand_made()["sqs", "DeleteQueue"]

    assert queue.types == {"aws_sqs_queue"}
    assert queue.actions == {DELETE}
