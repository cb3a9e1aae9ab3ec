"""A change that could not go back is denied, and so is a way back that does anything else."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction, PutBack
from gateway.core.model.time_box import TimeBox
from gateway.core.model.verdict import Mode, Verdict
from gateway.line.checks.time_box import TimeBoxCheck
from tests.kit import nouns
from tests.kit.history import NOW
from tests.kit.nouns import effect

QUEUE = "aws_sqs_queue.a"
DELAY = (QUEUE, "delay_seconds")


async def _verdict(*effects: Effect, box: TimeBox | None = None, bases: Mapping[Any, Json] | None = None) -> Any:
    mutation = nouns.mutation(
        *effects,
        caller=nouns.caller("x", ActorKind.SERVICE),
        puts_back=PutBack(mutation_id="mut_0", bases=bases) if bases is not None else None,
    )
    subjects = tuple(nouns.subject(each, 9, 9) for each in effects)
    facts = Facts(now=NOW, stack="shop", mode=Mode.ENFORCE, subjects=subjects, time_box=box)
    [finding] = (await TimeBoxCheck().examine(mutation, facts)).findings
    return finding


async def test_what_could_not_go_back_is_denied_with_the_reason() -> None:
    finding = await _verdict(effect(*DELAY, 1), box=TimeBox(refusal="It cannot."))
    assert (finding.verdict, finding.rule, finding.reason) == (Verdict.DENY, "time_box.no_way_back", "It cannot.")


@pytest.mark.parametrize("box", [None, TimeBox(), TimeBox(until=NOW, bases={DELAY: 4})])
async def test_what_can_go_back_or_is_to_stay_passes(box: TimeBox | None) -> None:
    assert (await _verdict(effect(*DELAY, 1), box=box)).verdict is Verdict.ALLOW


async def test_a_way_back_may_do_exactly_what_it_is_for() -> None:
    assert (await _verdict(effect(*DELAY, 4), bases={DELAY: 4})).verdict is Verdict.ALLOW
    same = effect(QUEUE, "size", 9)
    assert (await _verdict(effect(*DELAY, 4), same, bases={DELAY: 4})).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "effects",
    [
        (effect(*DELAY, 5),),
        (effect(*DELAY, 4), effect(QUEUE, "size", 8)),
        (effect(QUEUE, "size", 9),),
        (),
        (effect(*DELAY, 4), effect(QUEUE, "*", None, action=EffectAction.DELETE)),
    ],
)
async def test_a_way_back_that_does_anything_else_is_denied(effects: tuple[Effect, ...]) -> None:
    finding = await _verdict(*effects, bases={DELAY: 4})
    assert (finding.verdict, finding.rule) == (Verdict.DENY, "time_box.other_effects")
