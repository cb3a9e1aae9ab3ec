"""Findings of policies, with the holder of the conflicting claim and the time to retry."""

from datetime import UTC, datetime

import pytest

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.claim import ConflictClass
from gateway.core.model.json import Json
from gateway.core.model.verdict import CounterOffer
from gateway.line.checks.policy_answer import finding

BARE: dict[str, Json] = {"id": "SEN-A001", "verdict": "deny", "message": "No.", "address": "aws_x.a", "attribute": "v"}


def test_a_holder_and_an_end_become_a_counter_offer() -> None:
    found = finding("arbitration", {**BARE, "holder": "b", "retry_after_ns": 1772355600123456789})
    end = datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=UTC)
    assert found.offer == CounterOffer(address="aws_x.a", attribute="v", holder="b", retry_after=end)


@pytest.mark.parametrize("extra", [{}, {"holder": ""}, {"holder": "", "retry_after_ns": None}])
def test_without_a_holder_or_time_there_is_no_offer(extra: dict[str, Json]) -> None:
    assert finding("arbitration", {**BARE, **extra}).offer is None


@pytest.mark.parametrize(
    "extra", [{"holder": None}, {"holder": 1}, {"retry_after_ns": "1"}, {"retry_after_ns": 1.5}, {"retry_after_ns": True}, {"retry_after_ns": 10**30}]
)  # fmt: skip
def test_invalid_offers_raise(extra: dict[str, Json]) -> None:
    with pytest.raises(PolicyUnavailable):
        finding("arbitration", {**BARE, **extra})


@pytest.mark.parametrize(
    ("rule", "verdict", "absolute"), [("never.mine", "deny", True), ("never.mine", "hold", False), ("SEN-1", "deny", False)]
)  # fmt: skip
def test_a_policys_denial_is_absolute_if_its_id_begins_with_never(rule: str, verdict: str, absolute: bool) -> None:
    assert finding("policy", {**BARE, "id": rule, "verdict": verdict}).absolute is absolute


def test_the_class_of_a_conflict_is_one_that_there_is() -> None:
    assert finding("arbitration", {**BARE, "conflict": "indirect"}).conflict is ConflictClass.INDIRECT
    assert finding("arbitration", BARE).conflict is None
    for wrong in ("implicit", "sideways", None, 1):
        with pytest.raises(PolicyUnavailable):
            finding("arbitration", {**BARE, "conflict": wrong})
