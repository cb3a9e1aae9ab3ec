"""The configuration that the code gives a provider: its values, and the shape that the provider's schema demands of them.

A block is only used if all of it can be evaluated, since a provider with half a configuration reads another account or region.

A provider decodes its configuration by its schema, so every attribute must be present, null if the code does not set it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module, body, load_module
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.errors import PluginUnavailable

_OF_STATE: Final = re.compile(
    r'(?:(?P<module>module\.[^"]*?)\.)?provider\["(?P<source>[^"]+)"\](?:\.(?P<alias>[\w-]+))?'
)
"""How a state names the provider of a resource: `provider["registry.terraform.io/hashicorp/aws"].west`, and before it the module that
configures it, if that is not the root.
"""
_META: Final = frozenset({"alias", "version"})
_NOT_READ: Final = (".tofu", ".tofu.json")
_PROVIDER: Final = re.compile(rb'^[ \t]*+provider[ \t]++["\w]', re.MULTILINE)
_NAMED: Final = re.compile(rb"(?<![\w-])([\w-]++)\s*+=\s*+\{([^{}]*+)")
"""A name and the object it is set to. Nothing in it is tried twice, so that it costs linear time."""
_OWN_BUNDLE: Final = "custom_ca_bundle"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderName:
    """A provider's configuration as a state names it."""

    source: str
    """E.g. `registry.terraform.io/hashicorp/aws`."""
    alias: str = ""
    """Empty for the default configuration."""
    module: str = ""
    """The address of the module that configures it; empty for the root."""


def provider_name(written: str) -> ProviderName:
    """The provider that a state means. Raises `errors.PluginUnavailable` for what names none."""
    found = _OF_STATE.fullmatch(written)
    if found is None:
        raise PluginUnavailable.because(f"{written} names no provider.")
    return ProviderName(source=found["source"], alias=found["alias"] or "", module=found["module"] or "")


def configuration(root: Module, provider: ProviderName) -> Mapping[str, Json]:
    """The values of the provider's block, with those of override files, without those that are not set; empty if the code has no such block.

    Raises `errors.PluginUnavailable` if there is an alias without a block, or a part of the block is not known.
    """
    module = next((each for each in root.modules() if each.address == provider.module), None)
    if module is None:
        raise PluginUnavailable.because(
            f"The code has no {provider.module}, which the state says configures a provider."
        )
    header = ("provider", provider.source.rpartition("/")[2])
    blocks = [(document, block) for document, block in module.source.providers if document.header(block) == header]
    over = [
        (document, block)
        for document in module.source.overrides
        for block in document.blocks(document.root)
        if document.header(block) == header
    ]
    own, more = ([each for each in found if _alias(*each, module) == provider.alias] for found in (blocks, over))
    if provider.alias and not own:
        where = provider.module or "The root module"
        raise PluginUnavailable.because(f"{where} configures no provider {header[1]}.{provider.alias}.")
    values: dict[str, Json] = {}
    for document, block in (*own[:1], *more):
        # An argument of an override file takes the place of the block's own, and so do all nested blocks of one type
        # (https://developer.hashicorp.com/terraform/language/files/override#merging-behavior).
        values |= _known(body(document, block, module.scope, _META), document.at(block))
    return values


def _alias(document: Document, block: Node, module: Module) -> str:
    given = document.attributes(block).get("alias")
    try:
        return str(value_of(read_attribute(document, given), module.scope)) if given is not None else ""
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
    settings = configuration(module, ProviderName(source=source))
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


_MANY: Final = {2, 3}
"""`NestedBlock.NestingMode`: LIST and SET."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShape:
    """The attributes and nested blocks of one block."""

    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Name → type, as JSON of Terraform's type system: `"string"`, `["list", "string"]`."""
    blocks: Mapping[str, "BlockShape"] = field(default_factory=dict)


def read_shape(block: Any) -> BlockShape:
    """The shape that a `Block` of a schema describes. Raises `errors.PluginUnavailable` for nesting that no list holds."""
    odd = [inner.type_name for inner in block.block_types if inner.nesting not in _MANY]
    if odd:
        raise PluginUnavailable.because(f"Its configuration nests {odd} in a way that is not known.")
    return BlockShape(
        attributes={each.name: json.loads(each.type) for each in block.attributes},
        blocks={inner.type_name: read_shape(inner.block) for inner in block.block_types},
    )


def dump(shape: BlockShape) -> bytes:
    """The shape as JSON, to be kept beside the provider it is of."""
    return msgspec.json.encode(shape)


def load(text: bytes) -> BlockShape:
    """The shape that `dump` wrote. Raises `ValueError`."""
    return msgspec.json.decode(text, type=BlockShape)


def conform(values: Mapping[str, Json], shape: BlockShape) -> dict[str, Json]:
    """`values` with every attribute and block of the shape, each in its type.

    Raises `errors.PluginUnavailable` if there is a value that the shape does not have.
    """
    unknown = values.keys() - shape.attributes.keys() - shape.blocks.keys()
    if unknown:
        raise PluginUnavailable.because(f"Its schema does not have {sorted(unknown)}.")
    attributes = {name: convert(values.get(name), kind) for name, kind in shape.attributes.items()}
    blocks = {
        name: [conform(_row(row), inner) for row in _rows(values.get(name))] for name, inner in shape.blocks.items()
    }
    return {**attributes, **blocks}


def convert(value: Json, kind: Json) -> Json:
    """A value in one of Terraform's types; primitives are converted as Terraform does. Raises `errors.PluginUnavailable`."""
    match kind:
        case _ if value is None:
            return None
        case "string" if isinstance(value, bool):
            return str(value).lower()
        case "string":
            return value if isinstance(value, str) else str(value)
        case "bool" if value in ("true", "false"):
            return value == "true"
        case "number" if isinstance(value, str):
            return json.loads(value)  # type: ignore[no-any-return]  # JSON's numbers are HCL's
        case ["list" | "set", item]:
            return [convert(each, item) for each in _rows(value)]
        case ["map", item]:
            return {name: convert(each, item) for name, each in _row(value).items()}
    return value


def _rows(value: Json) -> Sequence[Json]:
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise PluginUnavailable.because("Its configuration has one value where a list is needed.")
    return value


def _row(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise PluginUnavailable.because("Its configuration has a value where a block is needed.")
    return value
