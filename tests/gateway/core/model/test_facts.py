"""Whether an effect changes anything: SET is compared with the current value; every other action always does."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gateway.core.model.facts import Facts, Subject, reach
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.stop import Reach
from gateway.core.model.verdict import Mode
from tests.kit import nouns
from tests.kit.nouns import effect


def test_a_hidden_value_always_changes() -> None:
    restated = _subject(EffectAction.SET, 4, 4)
    assert not restated.changes
    assert replace(restated, hidden=True).changes


def _subject(action: EffectAction, value: Json, before: Json) -> Subject:
    effect = nouns.effect("aws_x.a", "size", value, action=action)
    return nouns.subject(effect, before)


@pytest.mark.parametrize(
    ("action", "value", "before", "changes"),
    [
        (EffectAction.SET, 6, 4, True),
        (EffectAction.SET, 4, 4, False),
        (EffectAction.SET, None, None, False),
        (EffectAction.SET, [1, 2], [2, 1], True),
        (EffectAction.SET, {"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        (EffectAction.CREATE, 4, 4, True),
        (EffectAction.DELETE, None, None, True),
        (EffectAction.INVOKE, None, None, True),
    ],
)
def test_what_changes(action: EffectAction, value: Json, before: Json, changes: bool) -> None:
    assert _subject(action, value, before).changes is changes


FACTS = Facts(
    now=datetime(2026, 3, 1, tzinfo=UTC), stack="shop", stacks=("search", "shop"), mode=Mode.ENFORCE, subjects=()
)
MUTATION = nouns.mutation(effect("aws_sqs_queue.a", "delay_seconds", 1), caller=nouns.caller("bot", on_behalf_of="ana"))


def test_everything_that_a_stop_can_name_is_in_it() -> None:
    both = frozenset({"shop", "search"})
    assert reach(MUTATION, FACTS) == Reach(actors=frozenset({"bot", "ana"}), service="sqs", stacks=both)


def test_empty_names_are_not_in_it() -> None:
    alone = replace(MUTATION, caller=replace(MUTATION.caller, on_behalf_of=""))
    found = reach(alone, replace(FACTS, stack="", stacks=()))
    assert found == Reach(actors=frozenset({"bot"}), service="sqs")


def test_a_change_without_known_effects_may_touch_any_stack() -> None:
    assert reach(replace(MUTATION, effects=()), FACTS).any_stack
