"""The limits of an attribute by name, the tightest of several, and what an agent may set."""

import pytest

from gateway.context.bounds import bounds_on, mutable_by_agent
from gateway.model.contract import Bound, Contract
from gateway.model.json import Json
from tests.kit.doubles import AGENT


def bound(name: str, limit: Json, attribute: str = "size", source: str = "c.hcl:1", unknown: str = "") -> Bound:
    return Bound(attribute=attribute, name=name, limit=limit, source=source, unknown=unknown)


def test_the_tightest_of_several_limits_counts() -> None:
    given = [bound("min", 1), bound("min", 2), bound("max", 9), bound("max", 7, source="d.hcl:4"), bound("max_step", 3)]
    found = bounds_on("size", given, AGENT)
    assert found is not None
    assert (found["min"], found["max"], found["max_step"], found["source"]) == (2, 7, 3, "c.hcl:1")
    assert [each["source"] for each in found["every"]] == ["c.hcl:1"] * 3 + ["d.hcl:4", "c.hcl:1"]


def test_bounds_on_a_part_and_around_are_listed_but_are_no_limit_of_the_attribute() -> None:
    found = bounds_on("tags.owner", [bound("matches", "^a", "tags"), bound("one_of", ["x"], "tags.owner.z")], AGENT)
    assert found is not None
    assert set(found) == {"source", "every"}
    assert len(found["every"]) == 2


def test_a_limit_that_could_not_be_evaluated_says_why() -> None:
    found = bounds_on("size", [bound("max", None, unknown="var.x is not known")], AGENT)
    assert found is not None
    assert "max" not in found
    assert found["every"][0]["unknown"] == "var.x is not known"


@pytest.mark.parametrize("given", [(), (bound("max", 1, "other"),), (bound("condition", True, ""),)])
def test_no_bound_is_none(given: tuple[Bound, ...]) -> None:
    assert bounds_on("size", given, AGENT) is None


@pytest.mark.parametrize(
    ("contract", "attribute", "may"),
    [
        (Contract(managed_by_agent=True, bounded=("size",)), "size", True),
        (Contract(managed_by_agent=True, mutable=("tags",)), "tags.owner", True),
        (Contract(managed_by_agent=True, mutable=("tags.owner",)), "tags", False),
        (Contract(managed_by_agent=True, mutable=("tags",), immutable=("tags.owner",)), "tags", False),
        (Contract(managed_by_agent=False, bounded=("size",)), "size", False),
        (Contract(), "size", False),
    ],
)
def test_what_an_agent_may_set(contract: Contract, attribute: str, may: bool) -> None:
    assert mutable_by_agent(contract, attribute) is may
