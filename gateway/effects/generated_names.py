"""Finds the names that Terraform's provider generated for what a call creates, which are others at each attempt."""

from collections.abc import Iterable, Mapping

from gateway.core.model.invented import generated_prefix
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE


def generated_names(effects: Iterable[Effect]) -> Mapping[str, str]:
    """Each generated name → the address of the declared resource that it is for; without one, the type and the name's beginning.

    Only of what the call creates: the name of what exists says which one is meant. A call that may overwrite what has the name already
    must be for a declared resource.
    """
    found: dict[str, str] = {}
    effects = tuple(effects)
    overwriting = {effect.address for effect in effects if effect.upserted}
    for effect in effects:
        if effect.action is not EffectAction.CREATE or effect.attribute != WHOLE:
            continue
        for text in effect.identity.values():
            prefix = generated_prefix(text)
            if prefix is not None and effect.declared:
                found[text] = effect.address
            elif prefix is not None and effect.address not in overwriting:
                found.setdefault(text, f"{effect.resource_type} {prefix}")
    return found
