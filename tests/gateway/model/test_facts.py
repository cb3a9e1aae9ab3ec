"""Whether an effect changes anything: SET is compared with the current value; every other action always does."""

from dataclasses import replace

import pytest

from gateway.model.contract import Contract
from gateway.model.facts import Subject
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction


def test_a_hidden_value_always_changes() -> None:
    restated = _subject(EffectAction.SET, 4, 4)
    assert not restated.changes
    assert replace(restated, hidden=True).changes


def _subject(action: EffectAction, value: Json, before: Json) -> Subject:
    effect = Effect(address="aws_x.a", attribute="size", action=action, value=value, resource_type="aws_x")
    return Subject(
        effect=effect, before=before, declared=None, attributes_before={}, attributes_after={}, contract=Contract()
    )


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
