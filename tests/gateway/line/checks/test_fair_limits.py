"""The limits of the shipped policies, asked once for each version, and nothing but limits taken for one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.budget import BreakerRule, Charge
from gateway.core.model.caller import ActorKind
from gateway.line.checks.fair_limits import NO_LIMITS, FairLimits, FairLimitsOf, Measure

ANSWER: Mapping[str, Any] = {
    "evaluated": True,
    "mutations": {"minute": 2, "hour": 9},
    "mutations_by_motivation": {"experiment": {"minute": 1}},
    "added_per_day": {"instances": 5},
    "sizes": {"instances": {"set": {"aws_autoscaling_group": ["desired_capacity"]}, "created": {}}},
    "claims_by_motivation": {"experiment": 3},
    "breaker": {"in_a_row": 4, "open_seconds": 30},
}
LIMITS = FairLimits(
    mutations={"minute": Charge(most=2, seconds=60), "hour": Charge(most=9, seconds=3600)},
    by_motivation={"experiment": {"minute": Charge(most=1, seconds=60)}},
    added={"instances": 5},
    sizes={"instances": Measure(set={"aws_autoscaling_group": frozenset({"desired_capacity"})}, created={})},
    claims={"experiment": 3},
    breaker=BreakerRule(in_a_row=4, open_seconds=30),
)


@dataclass
class Engine:
    """Policies with a given answer about budgets."""

    answer: Any = field(default_factory=lambda: dict(ANSWER))
    revision: str = "r-1"
    has: bool = True
    asked: list[Any] = field(default_factory=list)

    def answers(self, entrypoint: str) -> bool:
        return self.has

    async def ask(self, entrypoint: str, document: Any) -> Any:
        self.asked.append((entrypoint, document))
        return self.answer


def limits_of(engine: Engine) -> FairLimitsOf:
    return FairLimitsOf(cast("Any", engine))


async def test_they_are_asked_once_for_each_kind_and_version() -> None:
    engine = Engine()
    limits = limits_of(engine)
    assert [await limits.of(ActorKind.AGENT) for _ in range(3)] == [LIMITS] * 3
    await limits.of(ActorKind.HUMAN)
    assert engine.asked == [("sentinel/budgets/result", {"kind": kind}) for kind in ("agent", "human")]
    engine.revision = "r-2"
    await limits.of(ActorKind.AGENT)
    assert len(engine.asked) == 3


async def test_a_server_without_a_bundle_is_asked_each_time() -> None:
    engine = Engine(revision="opa 1.0")
    limits = limits_of(engine)
    await limits.of(ActorKind.AGENT)
    await limits.of(ActorKind.AGENT)
    assert len(engine.asked) == 2


async def test_policies_without_the_package_set_no_limits() -> None:
    assert await limits_of(Engine(has=False)).of(ActorKind.AGENT) is NO_LIMITS


def test_a_motivation_has_its_own_buckets_beside_those_of_all() -> None:
    assert list(LIMITS.of_motivation("experiment")) == ["minute", "hour", "experiment/minute"]
    assert list(LIMITS.of_motivation("incident")) == ["minute", "hour"]


async def test_no_breaker_is_an_answer() -> None:
    assert (await limits_of(Engine(answer={**ANSWER, "breaker": None})).of(ActorKind.HUMAN)).breaker is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"evaluated": False},
        {"mutations": {"fortnight": 2}},
        {"mutations": {"minute": 0}},
        {"mutations": {"minute": -1}},
        {"mutations": {"minute": True}},
        {"mutations": {"minute": "2"}},
        {"mutations": {"minute": 1.5}},
        {"mutations": [2]},
        {"added_per_day": {"instances": None}},
        {"sizes": {"instances": {"set": {}}}},
        {"sizes": {"instances": 3}},
        {"breaker": {"in_a_row": 4}},
        {"breaker": {"in_a_row": 4, "open_seconds": 0}},
        {"breaker": [4, 30]},
        {"claims_by_motivation": None},
        {"more": 1},
    ],
    ids=str,
)
async def test_any_other_answer_is_none(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(PolicyUnavailable):
        await limits_of(Engine(answer={**ANSWER, **wrong})).of(ActorKind.AGENT)
