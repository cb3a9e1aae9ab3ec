"""Which changes a stop is about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.model.stop import Reach, Stop, StopScope, in_the_way

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
STOP = Stop(id="stp_1", scope=StopScope.ALL, name="", by="chief", reason="It runs amok", at=NOW)
REACH = Reach(actors=frozenset({"bot", "ana"}), service="sqs", stacks=frozenset({"shop", "search"}))


@pytest.mark.parametrize(
    ("scope", "name", "stops"),
    [
        (StopScope.ALL, "", True),
        (StopScope.ACTOR, "bot", True),
        (StopScope.ACTOR, "ana", True),
        (StopScope.ACTOR, "bo", False),
        (StopScope.ACTOR, "Bot", False),
        (StopScope.STACK, "shop", True),
        (StopScope.STACK, "search", True),
        (StopScope.STACK, "sho", False),
        (StopScope.SERVICE, "sqs", True),
        (StopScope.SERVICE, "sns", False),
        (StopScope.SERVICE, "", False),
    ],
)
def test_it_is_about_what_it_names(scope: StopScope, name: str, stops: bool) -> None:
    stop = replace(STOP, scope=scope, name=name)
    assert bool(in_the_way([stop], REACH)) is stops
    assert in_the_way([replace(stop, ended_at=NOW)], REACH) == ()


def test_what_nobody_understands_may_touch_any_stack() -> None:
    stop = replace(STOP, scope=StopScope.STACK, name="payments")
    assert in_the_way([stop], replace(REACH, any_stack=True)) == (stop,)


def test_the_oldest_comes_first() -> None:
    later = replace(STOP, id="stp_2", at=NOW + timedelta(seconds=1))
    assert in_the_way([later, STOP], REACH) == (STOP, later)


@pytest.mark.parametrize("scope", list(StopScope))
def test_it_says_what_why_and_whom_to_ask(scope: StopScope) -> None:
    sentence = replace(STOP, scope=scope, name="x" if scope is not StopScope.ALL else "").sentence
    assert sentence.startswith("chief stopped every change")
    assert sentence.endswith("at 2026-03-01T12:00:00Z (stp_1): It runs amok. Ask chief; reads stay open.")
