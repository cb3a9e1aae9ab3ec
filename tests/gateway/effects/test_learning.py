"""A row is proposed only from what one call said and what then was different; a proposal holds names and no values."""

from typing import Any

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, Origin, ValueForm
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.effects.learning import Observed, RowProposal, may_concern, merged, propose, types_of

BEFORE: dict[str, Json] = {
    "id": "orders",
    "name": "orders",
    "arn": "arn:orders",
    "mode": "slow",
    "size": 1,
    "policy": "{}",
    "open": False,
    "tags_all": {},
}


def observed(**after: Json) -> Observed:
    return Observed(
        address="aws_braket_job.orders", resource_type="aws_braket_job", before=BEFORE, after={**BEFORE, **after}
    )


def learned(parameters: dict[str, Any], *resources: Observed) -> RowProposal | None:
    return propose("braket", "UpdateJob", parameters, resources, mutation="mut_1")


def test_a_parameter_carries_the_attribute_that_has_its_value_now() -> None:
    found = learned(
        {"JobName": "orders", "Mode": "FAST", "Size": "7", "Settings": {"Open": True}},
        observed(mode="fast", size=7, open=True),
    )
    assert found is not None
    row = found.row
    assert (row.resource_type, row.origin, row.confidence) == ("aws_braket_job", Origin.LEARNED, Confidence.ATTRIBUTES)
    assert row.actions == {EffectAction.SET}
    assert row.identity == {"JobName": AttributeSource(attribute="name")}
    assert row.attributes == {
        "Mode": AttributeSource(attribute="mode", form=ValueForm.CASE),
        "Size": AttributeSource(attribute="size", form=ValueForm.TEXT),
        "Settings.Open": AttributeSource(attribute="open"),
    }
    assert row.unexplained == frozenset()
    assert all("FAST" not in sentence and "7" not in sentence for sentence in found.evidence)


@pytest.mark.parametrize(
    ("parameters", "after", "unexplained"),
    [
        ({"Mode": "other"}, {"mode": "fast"}, {"Mode"}),
        ({"Mode": "fast", "Also": "fast"}, {"mode": "fast"}, {"Mode", "Also"}),
        ({"Size": 7, "Mode": "slow"}, {"size": 7}, {"Mode"}),
        ({"Secret": {"hmac_sha256": "ab"}, "Size": 7}, {"size": 7}, {"Secret"}),
    ],
)
def test_what_does_not_fit_is_unexplained_and_only_the_resource_is_known(
    parameters: dict[str, Any], after: dict[str, Json], unexplained: set[str]
) -> None:
    found = learned({"JobName": "orders", **parameters}, observed(**after))
    assert found is not None
    assert found.row.unexplained == unexplained
    assert found.row.confidence is Confidence.RESOURCE


def test_equal_values_under_other_names_may_be_chosen_by_the_caller() -> None:
    """An agent may set an attribute in an allowed way to what it says in another call, so that a row takes the one for the other."""
    found = learned({"JobName": "orders", "Retries": 7}, observed(size=7))
    assert found is not None
    assert found.row.attributes == {"Retries": AttributeSource(attribute="size")}
    assert found.row.confidence is Confidence.RESOURCE
    assert any("may be chance" in sentence for sentence in found.evidence)


def test_a_change_that_no_parameter_explains_makes_it_less_sure() -> None:
    found = learned({"JobName": "orders", "Size": 7}, observed(size=7, mode="fast"))
    assert found is not None
    assert found.row.confidence is Confidence.RESOURCE
    assert "Changed too, by this call or another: mode." in found.evidence


@pytest.mark.parametrize(
    "resources",
    [
        (),
        (observed(),),
        (observed(tags_all={"a": "b"}),),
        (
            observed(size=7),
            Observed(address="b", resource_type="aws_braket_job", before=BEFORE, after={**BEFORE, "size": 7}),
        ),
        (
            Observed(
                address="b",
                resource_type="aws_braket_job",
                before={"name": "other", "size": 1},
                after={"name": "other", "size": 7},
            ),
        ),
    ],
)
def test_nothing_is_proposed_unless_exactly_one_named_resource_differs(resources: tuple[Observed, ...]) -> None:
    assert learned({"JobName": "orders", "Size": 7}, *resources) is None


def test_a_resource_that_is_gone_was_deleted() -> None:
    gone = Observed(address="a", resource_type="aws_braket_job", before=BEFORE, after=None)
    found = learned({"JobName": "orders"}, gone)
    assert found is not None
    assert (found.row.actions, found.row.confidence) == (frozenset({EffectAction.DELETE}), Confidence.ATTRIBUTES)
    forced = learned({"JobName": "orders", "Force": True}, gone)
    assert forced is not None
    assert forced.row.confidence is Confidence.RESOURCE


def test_two_calls_agree_or_leave_open_what_they_contradict() -> None:
    one = learned({"JobName": "orders", "Size": 7, "Mode": "fast"}, observed(size=7, mode="fast"))
    same = propose("braket", "UpdateJob", {"JobName": "orders", "Size": 9}, [observed(size=9)], mutation="mut_2")
    assert one is not None
    assert same is not None
    both = merged(one, same)
    assert (both.row.confidence, both.mutations) == (Confidence.ATTRIBUTES, ("mut_1", "mut_2"))
    assert set(both.row.attributes) == {"Size", "Mode"}
    other = propose("braket", "UpdateJob", {"JobName": "orders", "Size": 9}, [observed(policy="9")], mutation="mut_3")
    assert other is not None
    contradicted = merged(both, other)
    assert contradicted.row.confidence is Confidence.RESOURCE
    assert "Size" in contradicted.row.unexplained
    assert merged(both, same) == both


def test_only_resources_of_the_service_that_the_call_names_may_be_concerned() -> None:
    recorded: dict[str, Json] = {"name": "orders", "id": "https://q/orders", "arn": "arn:aws:sqs:eu-west-1:1:orders"}
    assert "aws_sqs_queue" in types_of("sqs")
    assert may_concern("sqs", {"QueueUrl": "https://q/orders"}, "aws_sqs_queue", recorded)
    assert not may_concern("sqs", {"QueueUrl": "https://q/other"}, "aws_sqs_queue", recorded)
    assert not may_concern("sqs", {"QueueUrl": "https://q/orders"}, "aws_sns_topic", recorded)
