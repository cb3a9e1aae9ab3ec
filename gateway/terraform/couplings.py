"""Finds the attributes that belong together with those that a mutation sets, on the resource itself and on connected resources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.core.model.claim import Couplings
from gateway.core.model.facts import Dependant
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.terraform.address import type_of_named

if TYPE_CHECKING:
    from gateway.terraform.stack import Stack  # needs the parser of HCL, which commands on the ledger do without

_CHANGING = (EffectAction.SET, EffectAction.INVOKE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CouplingPartners:
    """The other ends of the pairs that a mutation is about."""

    attributes: tuple[tuple[str, str], ...] = ()
    """(address, attribute) pairs."""
    dependencies: frozenset[str] = frozenset()
    """Addresses of those that an affected resource depends on. Nothing else asks for them."""


NO_PARTNERS = CouplingPartners()


def coupling_partners(
    effects: Sequence[Effect],
    stacks: "Mapping[str, Stack | None]",
    dependants: Mapping[str, Sequence[Dependant]],
    couplings: Couplings,
) -> CouplingPartners:
    """The other ends, by the stack and the dependants of each address. Without a pair for any effect it costs a look-up for each."""
    found: dict[tuple[str, str], None] = {}
    dependencies: set[str] = set()
    for effect in effects:
        if effect.action not in _CHANGING or effect.attribute == WHOLE:
            continue
        for partner in couplings.with_attribute(effect.resource_type, effect.attribute):
            if partner.resource_type == effect.resource_type:
                found[effect.address, partner.attribute] = None
                continue
            depending = _of_type(partner.resource_type, (each.address for each in dependants[effect.address]))
            found |= dict.fromkeys((address, partner.attribute) for address in depending)
            stack = stacks[effect.address]
            needed = [*_of_type(partner.resource_type, iter(stack.dependencies(effect.address)))] if stack else []
            found |= dict.fromkeys((address, partner.attribute) for address in needed)
            dependencies.update(needed)
    return CouplingPartners(attributes=tuple(found), dependencies=frozenset(dependencies)) if found else NO_PARTNERS


def _of_type(resource_type: str, addresses: Iterator[str]) -> Iterator[str]:
    return (address for address in addresses if type_of_named(address) == resource_type)
