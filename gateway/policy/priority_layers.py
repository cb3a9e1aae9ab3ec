"""Layers of priorities: the numbers that a stack or an environment may override, and the mistakes in a layer, as sentences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation

_YEAR: Final = 365 * 24 * 3600
_Rank = Annotated[StrictInt, Field(ge=0, lt=1000)]
_Seconds = Annotated[StrictInt, Field(gt=0)]
_FIXED: Final[Mapping[str, str]] = {
    "claims_per_actor": "the claims of an actor are counted over all stacks",
    "oscillation.window_seconds": "the ledger counts changes of the holder over one window for all stacks",
    "layers": "a layer has no layers",
}
"""Numbers that only the base may set, each with the reason."""


class _Partial(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class LayeredOscillation(_Partial):
    """The numbers about oscillation that a layer may override."""

    limit: Annotated[StrictInt, Field(ge=2)]


class LayeredPriorities(_Partial):
    """What a layer may override. Objects are joined with those below, member by member; lists are replaced."""

    intents: dict[Intent, _Rank] = {}
    motivations: dict[Motivation, _Rank] = {}
    kinds: dict[ActorKind, _Rank] = {}
    proof: dict[Motivation, list[StrictStr]] = {}
    unproven_penalty: _Rank = 0
    close_call: Annotated[StrictInt, Field(gt=0, lt=1000)] = 1
    urgent: list[Motivation] = []
    claim_seconds: dict[Motivation, _Seconds | None] = {}
    claim_seconds_without_motive: _Seconds | None = None
    longest_claim_seconds: dict[ActorKind, Annotated[StrictInt, Field(gt=0, le=_YEAR)]] = {}
    oscillation: LayeredOscillation | None = None


class PriorityLayer(_Partial):
    """One layer: the stacks that it is for, and what it overrides."""

    name: Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    stacks: Annotated[list[Annotated[StrictStr, Field(pattern=r"^[a-z0-9-]*\*?$", min_length=1)]], Field(min_length=1)]
    """Names of stacks; `*` at the end is any text."""
    priorities: LayeredPriorities


def layer_mistakes(layers: Sequence[object]) -> list[str]:
    """What is wrong with the member `layers` of the priorities, a sentence for each mistake."""
    names = [layer.get("name") if isinstance(layer, Mapping) else None for layer in layers]
    repeated = {name for name in names if isinstance(name, str) and names.count(name) > 1}
    found = [f"Two layers have the name {name!r}; give each its own." for name in sorted(repeated)]
    for number, layer in enumerate(layers):
        named = f"layer {names[number]!r}" if isinstance(names[number], str) else f"layer {number + 1}"
        found += [f"{named}: {mistake}" for mistake in _mistakes(layer)]
    return found


def _mistakes(layer: object) -> Iterator[str]:
    overridden = layer.get("priorities") if isinstance(layer, Mapping) else None
    if overridden == {}:
        yield "It overrides nothing; name what it ranks otherwise, or remove it."
    try:
        PriorityLayer.model_validate(layer)
    except ValidationError as error:
        yield from (_sentence(mistake) for mistake in error.errors())


def _sentence(mistake: Mapping[str, Any]) -> str:
    place = [str(part) for part in mistake["loc"] if part != "[key]"]
    path = ".".join(place[1:] if place[:1] == ["priorities"] and len(place) > 1 else place)
    if mistake["type"] == "extra_forbidden":
        reason = _FIXED.get(path)
        return f"{path}: only the base may set it, because {reason}." if reason else f"{path}: there is no such number."
    return f"{path}: {mistake['msg']}."


def origins(base: Mapping[str, Any], in_force: Sequence[str]) -> dict[str, tuple[Any, str]]:
    """Each number in force, by its dotted name, with the layer that it comes from (`base` for the base).

    `base` are the priorities with their layers; `in_force` names the layers that hold, from the lowest to the highest.
    """
    found = {name: (value, "base") for name, value in _flat(base, "") if not name.startswith("layers")}
    layers = {layer["name"]: layer["priorities"] for layer in base.get("layers", [])}
    for layer in in_force:
        found |= {name: (value, layer) for name, value in _flat(layers[layer], "")}
    return found


def _flat(document: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
