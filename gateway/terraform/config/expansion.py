"""Which instances a resource, module or data block has: their keys, and the scope of each."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from tree_sitter import Node

from gateway.terraform.config.instance import iterate
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, Visiting, value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown

if TYPE_CHECKING:
    from gateway.terraform.config.module import Module

_MOST_INSTANCES = 10_000
"""Of one block."""
Expansion: TypeAlias = tuple[tuple[str | int | None, EvaluationScope], ...]
"""Key and scope of each instance of a block."""


def expand(module: "Module", document: Document, block: Node, visiting: Visiting = frozenset()) -> "Expansion":
    """Key and scope of each instance of a resource or module block. Raises `Unknown`."""
    header = document.header(block)
    if header not in module.expansions:
        carried = _carried_expansion(module, header)
        if carried is None:
            try:
                carried = _expand(module, document, block, visiting)
            except Unknown as error:
                carried = error
        module.expansions[header] = carried
    found = module.expansions[header]
    if isinstance(found, Unknown):
        raise type(found)(str(found))
    return found


def _carried_expansion(module: "Module", header: tuple[str, ...]) -> "Expansion | Unknown | None":
    """The expansion of the same block before an edit that cannot have changed it."""
    earlier = None if module.carried is None else module.carried.modules.get(module.address)
    key = ".".join(header) if header[0] == "data" else f"keys.{'.'.join(header[header[0] != 'module' :])}"
    if earlier is None or module.carried is None or module.carried.is_outdated(module.address, key):
        return None
    found = earlier.expansions.get(header)
    if found is None or isinstance(found, Unknown):
        return found
    return tuple((key, replace(scope, module=module)) for key, scope in found)


def _expand(module: "Module", document: Document, block: Node, visiting: Visiting) -> "Expansion":
    scope = replace(module.scope, visiting=visiting)
    attributes = document.attributes(block)
    if {"count", "for_each"} & module.source.overridden_in(document.header(block)):
        raise Unknown("the number of instances comes from an override file")
    if "count" in attributes:
        amount = values.decimal(value_of(read_attribute(document, attributes["count"]), scope))
        if amount > _MOST_INSTANCES:
            raise Unknown(f"more than {_MOST_INSTANCES} instances are not evaluated")
        return tuple((index, EvaluationScope(module=module, count=index)) for index in range(int(amount)))
    if "for_each" in attributes:
        collection = values.known(value_of(read_attribute(document, attributes["for_each"]), scope))
        if not isinstance(collection, Mapping | values.SetOf):
            raise values.EvaluationFailed("for_each needs a map or a set")
        if len(collection) > _MOST_INSTANCES:
            raise Unknown(f"more than {_MOST_INSTANCES} instances are not evaluated")
        pairs = ((values.text(key), value) for key, value in iterate(collection))
        return tuple((key, EvaluationScope(module=module, each=(key, value))) for key, value in pairs)
    return ((None, module.scope),)
