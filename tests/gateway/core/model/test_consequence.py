"""The sentence about an effect that no pair of values shows."""

import pytest

from gateway.core.model.consequence import consequence
from gateway.core.model.mutation import EffectAction


def test_a_deleted_resource_goes_with_its_data() -> None:
    said = consequence(EffectAction.DELETE, "*")
    assert "with everything that is stored in it" in said
    assert "nothing brings the data back" in said


@pytest.mark.parametrize("attribute", ["*", "tags.owner"])
@pytest.mark.parametrize("action", EffectAction)
def test_every_effect_without_a_value_says_what_it_does(action: EffectAction, attribute: str) -> None:
    said = consequence(action, attribute)
    shows_itself = action is EffectAction.SET or (action is EffectAction.CREATE and attribute != "*")
    assert bool(said) is not shows_itself
    assert said == "" or said.endswith(".")
