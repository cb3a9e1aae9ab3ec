"""The smallest change of a number or a list that changes the verdict: the nearest one, and only where there is one."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.verdict import Verdict
from gateway.policy.smallest_flip import Judged, smallest_flips, smallest_set


def document(value: Json, **more: Json) -> dict[str, Json]:
    """An input whose only effect sets `value`."""
    usual: dict[str, Json] = {
        "mutation": {"effects": [{"value": value}]},
        "caller": {"open_claims": 3},
        "claims": [],
        "flips": {},
    }
    return usual | more


def judged(*objecting: str) -> Judged:
    """What these rules make of an input; nothing is allowed."""
    return (Verdict.DENY if objecting else Verdict.ALLOW), frozenset(objecting)


async def denied_above_ten(given: Mapping[str, Any]) -> Judged:
    """A rule about a number."""
    return judged(*(["ten"] if given["mutation"]["effects"][0]["value"] > 10 else []))


@pytest.mark.parametrize(("value", "after", "verdict"), [(14, 10, Verdict.ALLOW), (7, 11, Verdict.DENY)])
async def test_the_nearest_number_is_found(value: int, after: int, verdict: Verdict) -> None:
    [flip] = await smallest_flips(document(value), denied_above_ten, [10, 400, "x", True])
    assert (flip.path, flip.before, flip.after, flip.verdict) == ("mutation.effects.0.value", value, after, verdict)


async def test_a_number_that_no_rule_compares_flips_nothing() -> None:
    assert await smallest_flips(document(14), denied_above_ten, []) == ()


async def denied_with_world(given: Mapping[str, Any]) -> Judged:
    """A rule about a set."""
    open_to = {"0.0.0.0/0", "::/0"} & set(given["mutation"]["effects"][0]["value"])
    return judged(*(["world"] if open_to else []))


async def test_of_a_list_as_much_stays_as_can() -> None:
    [flip] = await smallest_flips(document(["10.0.0.0/8", "0.0.0.0/0"]), denied_with_world, [])
    assert flip.after == ["10.0.0.0/8"]
    [flip] = await smallest_flips(document(["::/0", "10.0.0.0/8", "0.0.0.0/0"]), denied_with_world, [])
    assert flip.after == ["10.0.0.0/8"]


async def test_a_list_that_does_not_matter_flips_nothing() -> None:
    assert await smallest_flips(document(["10.0.0.0/8"]), denied_with_world, []) == ()


async def test_times_effects_and_claims_are_no_values() -> None:
    async def counts(given: Mapping[str, Any]) -> Judged:
        whole = given["claims"] and given["mutation"]["effects"] and given["claims"][0]["since_ns"] == 5
        return judged(*([] if whole else ["times"]))

    assert await smallest_flips(document(1, claims=[{"since_ns": 5}]), counts, [4, 5, 6]) == ()


@pytest.mark.slow
async def test_the_number_of_questions_is_bounded() -> None:
    asked = []

    async def ask(given: Mapping[str, Any]) -> Judged:
        asked.append(given)
        return judged()

    large = document([[number, list(range(8))] for number in range(8)])
    await smallest_flips(large, ask, list(range(9000)))
    assert len(asked) == 3001
    asked.clear()
    assert await smallest_set(large, ask, list(range(9000))) == ()
    assert len(asked) <= 3001


def sizes(*values: Json) -> dict[str, Json]:
    """An input whose effects set these."""
    return document(None) | {"mutation": {"effects": [{"value": value} for value in values]}}


def above(given: Mapping[str, Any], limit: int) -> list[int]:
    """The places of the effects whose values are larger."""
    return [place for place, each in enumerate(given["mutation"]["effects"]) if each["value"] > limit]


async def each_above_ten(given: Mapping[str, Any]) -> Judged:
    """A rule about each effect."""
    return judged(*(f"ten {place}" for place in above(given, 10)))


async def test_two_bounds_that_one_member_alone_does_not_satisfy_are_changed_together() -> None:
    assert await smallest_flips(sizes(14, 7, 12), each_above_ten, [10]) == ()
    pair = await smallest_set(sizes(14, 7, 12), each_above_ten, [10])
    assert [(each.path, each.before, each.after, each.verdict) for each in pair] == [
        ("mutation.effects.0.value", 14, 10, Verdict.ALLOW),
        ("mutation.effects.2.value", 12, 10, Verdict.ALLOW),
    ]


async def test_a_rule_that_asks_for_two_is_found_though_neither_changes_what_objects() -> None:
    async def both(given: Mapping[str, Any]) -> Judged:
        return judged(*(["both"] if above(given, 10) == [0, 1] else []))

    pair = await smallest_set(sizes(3, 4), both, [10])
    assert [(each.after, each.verdict) for each in pair] == [(11, Verdict.DENY), (11, Verdict.DENY)]


async def test_a_number_and_a_list_are_changed_together() -> None:
    async def either(given: Mapping[str, Any]) -> Judged:
        number, cidrs = (each["value"] for each in given["mutation"]["effects"])
        return judged(*(["ten"] if number > 10 else []), *(["world"] if "::/0" in cidrs else []))

    pair = await smallest_set(sizes(14, ["10.0.0.0/8", "::/0"]), either, [10])
    assert [each.after for each in pair] == [10, ["10.0.0.0/8"]]


async def test_more_than_two_are_as_few_as_are_needed() -> None:
    many = await smallest_set(sizes(14, 7, 12, 30, 2), each_above_ten, [10])
    assert [(each.path, each.after) for each in many] == [
        ("mutation.effects.0.value", 10),
        ("mutation.effects.2.value", 10),
        ("mutation.effects.3.value", 10),
    ]


async def test_where_no_set_changes_the_verdict_there_is_none() -> None:
    async def never(given: Mapping[str, Any]) -> Judged:
        return judged("always", *(f"ten {place}" for place in above(given, 10)))

    assert await smallest_set(sizes(14, 12), never, [10]) == ()
