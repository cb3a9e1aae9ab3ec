"""What the code configures a provider with, and whether it configures the provider only once.

A block is only used if all of it can be evaluated, since a provider with half a configuration reads another account or region.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module, body, load_module
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.errors import PluginUnavailable

_OF_STATE: Final = re.compile(r'provider\["(?P<source>[^"]+)"\](?:\.(?P<alias>[\w-]+))?')
"""How a state names the provider of a resource: `provider["registry.terraform.io/hashicorp/aws"].west`."""
_META: Final = frozenset({"alias", "version"})
_NOT_READ: Final = (".tofu", ".tofu.json")
_PROVIDER: Final = re.compile(rb'^[ \t]*+provider[ \t]++["\w]', re.MULTILINE)
_NAMED: Final = re.compile(rb"(?<![\w-])([\w-]++)\s*+=\s*+\{([^{}]*+)")
"""A name and the object it is set to. Nothing in it is tried twice, so that it costs linear time."""
_OWN_BUNDLE: Final = "custom_ca_bundle"


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


def single_configuration(root: Path, data: Path, source: str) -> Mapping[str, Json]:
    """The only configuration of a provider such as `registry.terraform.io/hashicorp/aws` in the code in `root`; empty if it has no block.

    `data` is the plug-in data of the stack (`.terraform`). Raises `errors.PluginUnavailable` if there may be several, or a part of it is
    not known, and `gateway.core.errors.CodeInvalid`.
    """
    module = load_module(root)
    for reason in _reasons(module, root, data, source):
        raise PluginUnavailable.because(reason)
    settings = configuration(module, source, "")
    if settings.get(_OWN_BUNDLE):
        raise PluginUnavailable.because(f"A provider with {_OWN_BUNDLE} cannot be configured twice.")
    return settings


def _reasons(module: Module, root: Path, data: Path, source: str) -> Iterator[str]:
    """Why the provider may be configured more than once."""
    name = source.rpartition("/")[2]
    if any(path.name.endswith(_NOT_READ) for directory in module.sources for path in (root / directory).glob("*")):
        yield "Part of the code is in files that only OpenTofu reads."
    for directory, each in module.sources.items():
        if each.providers and directory != ".":
            yield f"The module {directory} configures a provider."
        if any(_renamed(text, source) != {name} for text in each.texts):
            yield f"The code calls {source} by another name."
    downloaded = [path for path in (data / "modules").rglob("*") if path.is_file()]
    if any(path.name.endswith((".tf.json", *_NOT_READ)) for path in downloaded):
        yield "Part of a downloaded module is not in `.tf` files."
    if any(_PROVIDER.search(path.read_bytes()) for path in downloaded if path.suffix == ".tf"):
        yield "A downloaded module configures a provider."
    labels = [document.header(block)[1:] for document, block in module.source.providers]
    if any("alias" in document.attributes(block) for document, block in module.source.providers):
        yield "The code has an alias of a provider."
    if len(set(labels)) != len(labels):
        yield "The code configures a provider twice."


def _renamed(text: bytes, source: str) -> set[str]:
    """The names under which `required_providers` asks for a provider, with the usual one."""
    short = "/".join(source.split("/")[1:])
    asks = re.compile(rb'["/]' + re.escape(short.encode()) + rb'"')
    found = {name.decode() for name, body in _NAMED.findall(text) if asks.search(body)}
    return found | {short.rpartition("/")[2]}
