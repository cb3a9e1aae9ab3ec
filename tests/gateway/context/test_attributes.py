"""One attribute: declared, recorded, live, bounds, holder and last change, each null where it is not known, and never left out."""

from dataclasses import replace

import pytest

from gateway.context.answer_parts import written_names
from gateway.context.attributes import AttributesOf, bounds_on, mutable_by_agent
from gateway.context.health import ReadStatus
from gateway.context.live_values import LiveAnswer
from gateway.context.ports import KnownResource, LatestChange
from gateway.core.model.caller import ActorKind
from gateway.core.model.contract import Bound, Contract
from gateway.core.model.json import Json
from gateway.terraform.stacks import Stacks
from tests.kit.context_reader import MOTIVE, applied, claim
from tests.kit.doubles import AGENT, NOW
from tests.kit.stacks import GROUP, KAFKA, Source, load


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    return load(Source(path=KAFKA))


def parts(stacks: Stacks, known: KnownResource | None = None, live: LiveAnswer | None = None) -> AttributesOf:
    stack = stacks.all[0]
    contract = stack.contract(GROUP)
    found = known or KnownResource()
    before = {**(stack.recorded(GROUP) or {}), **{name: each.value for name, each in found.values.items()}}
    return AttributesOf(
        caller=AGENT,
        stack=stack,
        address=GROUP,
        contract=contract,
        before=before,
        bounds=contract.evaluate(before, before),
        known=found,
        claims=found.claims,
        live=live or LiveAnswer(status=ReadStatus.NOT_READ),
        declared=written_names(stack, GROUP),
    )


LAST = LatestChange(actor="rival", kind=ActorKind.AGENT, motive=MOTIVE, at=NOW, mutation_id="mut_1", commit="c0ffee")


def test_an_attribute_that_nobody_touched(stacks: Stacks) -> None:
    entry = parts(stacks).entry("desired_capacity")
    assert entry["declared"]["source"].startswith("main.tf:")
    assert entry["recorded"] == {"value": entry["declared"]["value"], "from": "state", "at": None}
    assert entry["live"] == {"value": None, "read_at": None, "status": "not_read"}
    assert (entry["bounds"]["min"], entry["bounds"]["max"], entry["bounds"]["max_step"]) == (2, 16, 4)
    assert entry["bounds"]["source"].startswith("kafka.sentinel.hcl:")
    assert (entry["mutable_by_agent"], entry["claim"], entry["last_change"], entry["flips"]) == (True, None, None, 0)


def test_an_attribute_that_another_holds(stacks: Stacks) -> None:
    known = KnownResource(
        claims=(claim(),),
        values={"desired_capacity": applied("desired_capacity", 6)},
        changes={"desired_capacity": LAST},
        flips={"desired_capacity": 2},
    )
    live = LiveAnswer(status=ReadStatus.OK, values={"desired_capacity": 6}, read_at=NOW)
    entry = parts(stacks, known, live).entry("desired_capacity")
    assert entry["recorded"] == {"value": 6, "from": "claim", "at": "2026-11-21T00:00:00Z"}
    assert entry["live"] == {"value": 6, "read_at": "2026-11-21T00:00:00Z", "status": "ok"}
    assert (entry["claim"]["holder"], entry["claim"]["motivation"]) == ("rival", "incident")
    assert "text" not in entry["claim"]
    assert (entry["last_change"]["commit"], entry["flips"]) == ("c0ffee", 2)


def test_a_value_that_nobody_holds_any_more_is_applied(stacks: Stacks) -> None:
    known = KnownResource(values={"desired_capacity": applied("desired_capacity", 9)})
    assert parts(stacks, known).entry("desired_capacity")["recorded"]["from"] == "applied"


@pytest.mark.parametrize("held", ["tag", "tag.0", "*"])
def test_a_claim_around_on_a_part_or_on_the_whole_is_shown(stacks: Stacks, held: str) -> None:
    known = KnownResource(claims=(claim(held),), changes={held: LAST})
    entry = parts(stacks, known).entry("tag")
    assert (entry["claim"]["attribute"], entry["last_change"]["actor"]) == (held, "rival")


def test_the_nearest_claim_and_the_latest_change_count(stacks: Stacks) -> None:
    later = replace(LAST, at=NOW.replace(hour=5), actor="later")
    known = KnownResource(claims=(claim("*"), claim("tag")), changes={"tag": LAST, "*": later})
    entry = parts(stacks, known).entry("tag")
    assert (entry["claim"]["attribute"], entry["last_change"]["actor"]) == ("tag", "later")


def test_an_attribute_that_nothing_knows_has_every_member(stacks: Stacks) -> None:
    made = parts(stacks)
    entry = made.entry("no_such")
    assert entry.keys() == made.entry("desired_capacity").keys()
    assert (entry["declared"], entry["recorded"], entry["bounds"]) == (None, None, None)


def test_a_live_value_that_the_call_does_not_return_is_not_null_but_unsupported(stacks: Stacks) -> None:
    live = LiveAnswer(status=ReadStatus.OK, values={"min_size": 2}, read_at=NOW)
    assert parts(stacks, None, live).entry("tag")["live"]["status"] == "unsupported"


def test_what_an_agent_may_set_comes_first_and_arguments_of_terraform_are_none(stacks: Stacks) -> None:
    names = parts(stacks, KnownResource(claims=(claim("tag"), claim("*")))).names()
    assert names[:3] == ["desired_capacity", "max_size", "tag"]
    assert {"lifecycle", "*"}.isdisjoint(names)
    assert len(set(names)) == len(names)


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
