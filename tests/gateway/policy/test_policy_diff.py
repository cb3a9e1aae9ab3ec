"""What two bundles decide differently, on a generated corpus and on two replays of one page."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy import policy_diff
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.policy_diff import between, corpus, generated_page
from gateway.policy.sources import shipped
from tests.gateway.policy.test_replay_report import flip
from tests.gateway.policy.test_stages import stage


def engine(bundle: Any) -> Embedded:
    """One."""
    return Embedded(bundle, deadline_ms=1000, memory_mb=64)


@pytest.mark.slow
async def test_equal_bundles_differ_in_nothing_and_edited_ones_by_rule(
    policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same, edited = (
        engine(read_bundle(shipped() / SHIPPED)),
        engine(stage(policies, {"rule": "SEN-M001", "stage": "off"})),
    )
    try:
        page = await generated_page(same, edited)
        assert page["replayed"] == len(list(corpus())) > 1000
        assert {each["rule"] for each in page["flips"]} == {"SEN-M001"}
        assert {(each["kind"], each["from"]) for each in page["flips"]} == {("agent", "deny")}
        monkeypatch.setattr(policy_diff, "_CHANGES", policy_diff._CHANGES[:2])
        assert (await generated_page(same, same))["flips"] == []
    finally:
        await same.close()
        await edited.close()


def page(*flips: dict[str, Any]) -> dict[str, Any]:
    """Of a replay."""
    return {"replayed": 5, "not_replayed": {}, "revision": "r", "next": None, "flips": list(flips)}


def test_two_replays_are_compared_with_each_other_and_not_with_what_was_decided() -> None:
    both, held = flip(number=1), flip(number=1, to="hold")
    assert between(page(both), page(both))["flips"] == []
    [one] = between(page(), page(both))["flips"]
    assert (one["from"], one["to"], one["rule"]) == ("allow", "deny", "SEN-1")
    [one] = between(page(both), page())["flips"]
    assert (one["from"], one["to"], one["old"], one["new"]) == ("deny", "allow", both["new"], [])
    [one] = between(page(both), page(held))["flips"]
    assert (one["from"], one["to"]) == ("deny", "hold")
