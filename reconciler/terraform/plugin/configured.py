"""What the code configures a provider with: the values of its `provider` block in the root module.

A block is only used if all of it can be evaluated, since a provider with half a configuration reads another account or region.
"""

import re
from collections.abc import Mapping
from typing import Final

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform.config.instance import body
from gateway.terraform.config.module import Module
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.errors import PluginUnavailable

_OF_STATE: Final = re.compile(r'provider\["(?P<source>[^"]+)"\](?:\.(?P<alias>[\w-]+))?')
"""How a state names the provider of a resource: `provider["registry.terraform.io/hashicorp/aws"].west`."""
_META: Final = frozenset({"alias", "version"})


def split_provider(written: str) -> tuple[str, str]:
    """(source, alias) of a provider as the state names it; the alias is empty for the default configuration.

    Raises `errors.PluginUnavailable` for a provider that is configured inside a module.
    """
    found = _OF_STATE.fullmatch(written)
    if found is None:
        raise PluginUnavailable.because(f"{written} is not configured in the root module.")
    return found["source"], found["alias"] or ""


def configuration(root: Module, source: str, alias: str) -> Mapping[str, Json]:
    """The values of the provider's block, without those that are not set; empty if the code has no such block.

    Raises `errors.PluginUnavailable` if there is an alias without a block, or a part of the block is not known.
    """
    name = source.rpartition("/")[2]
    for document, block in root.source.providers:
        if document.header(block) == ("provider", name) and _alias(document, block, root) == alias:
            if root.source.overridden_in(document.header(block)):
                raise PluginUnavailable.because(f"An override file changes the provider {name}.")
            return _known(body(document, block, root.scope, _META), document.at(block))
    if alias:
        raise PluginUnavailable.because(f"The root module configures no provider {name}.{alias}.")
    return {}


def _alias(document: Document, block: Node, root: Module) -> str:
    given = document.attributes(block).get("alias")
    try:
        return str(value_of(read_attribute(document, given), root.scope)) if given is not None else ""
    except Unknown:
        return document.at(block)


def _known(found: Mapping[str, values.Value], where: str) -> Mapping[str, Json]:
    try:
        return {name: values.to_json(value) for name, value in found.items()}
    except Unknown as error:
        raise PluginUnavailable.because(f"The provider's configuration at {where} is not known: {error}.") from error
