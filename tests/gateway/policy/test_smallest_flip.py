"""The smallest change of a number or a list that changes the verdict: the nearest one, and only where there is one."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.verdict import Verdict
from gateway.policy.smallest_flip import smallest_flips


def document(value: Json, **more: Json) -> dict[str, Json]:
    """An input whose only effect sets `value`."""
    usual: dict[str, Json] = {
        "mutation": {"effects": [{"value": value}]},
        "caller": {"open_claims": 3},
        "claims": [],
        "flips": {},
    }
    return usual | more


async def denied_above_ten(given: Mapping[str, Any]) -> Verdict:
    """A rule about a number."""
    return Verdict.DENY if given["mutation"]["effects"][0]["value"] > 10 else Verdict.ALLOW


@pytest.mark.parametrize(("value", "after", "verdict"), [(14, 10, Verdict.ALLOW), (7, 11, Verdict.DENY)])
async def test_the_nearest_number_is_found(value: int, after: int, verdict: Verdict) -> None:
    [flip] = await smallest_flips(document(value), denied_above_ten, [10, 400, "x", True])
    assert (flip.path, flip.before, flip.after, flip.verdict) == ("mutation.effects.0.value", value, after, verdict)


async def test_a_number_that_no_rule_compares_flips_nothing() -> None:
    assert await smallest_flips(document(14), denied_above_ten, []) == ()


async def denied_with_world(given: Mapping[str, Any]) -> Verdict:
    """A rule about a set."""
    return Verdict.DENY if {"0.0.0.0/0", "::/0"} & set(given["mutation"]["effects"][0]["value"]) else Verdict.ALLOW


async def test_of_a_list_as_much_stays_as_can() -> None:
    [flip] = await smallest_flips(document(["10.0.0.0/8", "0.0.0.0/0"]), denied_with_world, [])
    assert flip.after == ["10.0.0.0/8"]
    [flip] = await smallest_flips(document(["::/0", "10.0.0.0/8", "0.0.0.0/0"]), denied_with_world, [])
    assert flip.after == ["10.0.0.0/8"]


async def test_a_list_that_does_not_matter_flips_nothing() -> None:
    assert await smallest_flips(document(["10.0.0.0/8"]), denied_with_world, []) == ()


async def test_times_effects_and_claims_are_no_values() -> None:
    async def counts(given: Mapping[str, Any]) -> Verdict:
        whole = given["claims"] and given["mutation"]["effects"] and given["claims"][0]["since_ns"] == 5
        return Verdict.ALLOW if whole else Verdict.DENY

    assert await smallest_flips(document(1, claims=[{"since_ns": 5}]), counts, [4, 5, 6]) == ()


@pytest.mark.slow
async def test_the_number_of_questions_is_bounded() -> None:
    asked = []

    async def ask(given: Mapping[str, Any]) -> Verdict:
        asked.append(given)
        return Verdict.ALLOW

    await smallest_flips(document([[number, list(range(50))] for number in range(60)]), ask, list(range(9000)))
    assert len(asked) <= 3001
