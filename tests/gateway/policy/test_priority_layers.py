"""Layers of priorities: mistakes are sentences, and each number knows where it comes from."""

from typing import Any

import pytest

from gateway.policy.priority_layers import layer_mistakes, origins


def layer(**priorities: Any) -> dict[str, Any]:
    """A layer for development."""
    return {"name": "dev", "stacks": ["dev", "dev-*"], "priorities": priorities}


def test_a_layer_may_override_every_number_of_its_own() -> None:
    assert not layer_mistakes(
        [
            layer(
                intents={"cost": 700},
                motivations={"routine": 0},
                kinds={"human": 0},
                proof={"incident": ["ALERT-"]},
                unproven_penalty=0,
                close_call=1,
                urgent=[],
                claim_seconds={"incident": None},
                claim_seconds_without_motive=None,
                longest_claim_seconds={"agent": 60},
                oscillation={"limit": 9},
            )
        ]
    )


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        ([layer(intents={"cots": 1})], "layer 'dev': intents.cots: Input should be 'availability'"),
        ([layer(intents={"cost": 1000})], "layer 'dev': intents.cost: Input should be less than 1000."),
        ([layer(intents={"cost": True})], "layer 'dev': intents.cost: "),
        ([layer(surplus=1)], "layer 'dev': surplus: there is no such number."),
        ([layer(claims_per_actor={"agent": 5})], "layer 'dev': claims_per_actor: only the base may set it, because the claims"),
        ([layer(oscillation={"limit": 3, "window_seconds": 5})], "oscillation.window_seconds: only the base may set it, because"),
        ([layer(layers=[])], "layers: only the base may set it, because a layer has no layers."),
        ([layer()], "layer 'dev': It overrides nothing"),
        ([layer(close_call=5), layer(close_call=6)], "Two layers have the name 'dev'; give each its own."),
        ([{**layer(close_call=5), "stacks": []}], "layer 'dev': stacks: "),
        ([{**layer(close_call=5), "stacks": ["*-dev"]}], "layer 'dev': stacks.0: "),
        ([{**layer(close_call=5), "name": "two words"}], "layer 'two words': name: "),
        (["dev"], "layer 1: "),
        ([{"stacks": ["dev"], "priorities": {"close_call": 5}}], "layer 1: name: "),
    ],
)  # fmt: skip
def test_a_mistake_is_a_sentence_that_names_the_layer(layers: list[Any], sentence: str) -> None:
    found = layer_mistakes(layers)
    assert any(each.startswith(sentence) or sentence in each for each in found), found


def test_each_number_comes_from_the_highest_layer_that_names_it() -> None:
    top = {"name": "top", "stacks": ["dev"], "priorities": {"intents": {"cost": 1}}}
    base = {
        "intents": {"cost": 200, "security": 600},
        "urgent": ["incident"],
        "layers": [layer(intents={"cost": 700}), top],
    }
    assert origins(base, []) == {
        "intents.cost": (200, "base"),
        "intents.security": (600, "base"),
        "urgent": (["incident"], "base"),
    }
    assert origins(base, ["dev"])["intents.cost"] == (700, "dev")
    assert origins(base, ["dev", "top"])["intents.cost"] == (1, "top")
