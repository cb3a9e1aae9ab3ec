"""The blocks whose change would show in a plan: resource instances, data, providers, remote modules, override files."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from gateway.terraform.config.module import META, Module, expand
from gateway.terraform.config.source import Declared
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.footprint.values import WITHOUT_VALUES, Footprint, Marker

_NOT_ATTRIBUTES = frozenset({"provider", "provisioner", "connection"})
"""Blocks and arguments of a resource that are not attributes, but that change a plan or an apply."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FootprintPart:
    """A block with a footprint of its own."""

    address: str
    """The address of an instance; for instances with unknown keys, and blocks other than resources, it begins with `?`."""
    document: Document
    block: Node
    scope: EvaluationScope
    without: frozenset[str]
    """The names in it to leave out."""
    keys: tuple[str, ...]
    """The definitions that it consists of; for an instance, without the one of which instances there are."""
    module: Module

    def footprint(self, marker: Marker, unreached: frozenset[str] = frozenset()) -> dict[str, Footprint]:
        """The footprint of the block, without the names in it that an edit cannot reach."""
        return marker.body(self.document, self.block, self.scope, self.without | unreached)


def block_keys(module: Module) -> Iterator[tuple[str, ...]]:
    """The keys (see `Definitions`) of each block of a module, in the order of the files. Nothing is evaluated."""
    source = module.source
    yield from ((f"body.{name}", f"keys.{name}") for name in source.resources)
    yield from ((f"data.{name}",) for name in source.data)
    yield from ((f"provider.{number}",) for number, _ in enumerate(source.providers))
    yield from ((f"body.module.{name}", f"keys.module.{name}") for name in source.calls)
    for number, document in enumerate(source.overrides):
        yield from ((f"override.{number}.{order}",) for order, _ in enumerate(document.blocks(document.root)))


def parts_of(module: Module, keys: tuple[str, ...]) -> Iterator[FootprintPart]:
    """The block of these keys as parts: each instance of a resource, then the block itself; none if the module has no such block."""
    kind, _, name = keys[0].partition(".")
    source = module.source
    match kind:
        case "body" if name.startswith("module."):
            if (call := name.removeprefix("module.")) in source.calls and not _is_called(module, call):
                yield _whole(module, keys, name, source.calls[call])
        case "body" if name in source.resources:
            yield from _resource(module, keys, name)
        case "data" if name in source.data:
            yield _whole(module, keys, f"data.{name}", source.data[name])
        case "provider" if int(name) < len(source.providers):
            yield _whole(module, keys, f"provider {name}", source.providers[int(name)])
        case "override":
            number, order = (int(each) for each in name.split("."))
            document = source.overrides[number] if number < len(source.overrides) else None
            blocks = () if document is None else document.blocks(document.root)
            if document is not None and order < len(blocks):
                yield _whole(module, keys, f"override {name}", (document, blocks[order]))


def _resource(module: Module, keys: tuple[str, ...], name: str) -> Iterator[FootprintPart]:
    """Each instance, with its attributes; then what else the block says, which is all of it if the instances are not known."""
    for instance in module.instances_of(name):
        yield FootprintPart(
            address=instance.address,
            document=instance.document,
            block=instance.block,
            scope=instance.scope,
            without=META,
            keys=keys[:1],
            module=module,
        )
    document, block = module.source.resources[name]
    expanded = _is_expanded(module, document, block)
    without = names_of(document, block) - _NOT_ATTRIBUTES if expanded else WITHOUT_VALUES
    yield _whole(module, keys, name, (document, block), without)


def _whole(
    module: Module, keys: tuple[str, ...], name: str, block: Declared, without: frozenset[str] = WITHOUT_VALUES
) -> FootprintPart:
    """A block as one part."""
    prefix = f"{module.address}." if module.address else ""
    return FootprintPart(
        address=f"?{prefix}{name}",
        document=block[0],
        block=block[1],
        scope=module.scope,
        without=without,
        keys=keys,
        module=module,
    )


def names_of(document: Document, block: Node) -> frozenset[str]:
    """The names of the arguments and nested blocks directly in a block."""
    return frozenset(document.attributes(block)) | {block_type(document, each) for each in document.blocks(block)}


def block_type(document: Document, block: Node) -> str:
    """The type of a nested block; for a dynamic block, the type of the blocks it generates."""
    header = document.header(block)
    return header[1] if header[0] == "dynamic" and len(header) > 1 else header[0]


def _is_called(module: Module, name: str) -> bool:
    """Whether the called module is part of this code, with known instances: then its own blocks tell what an edit changes."""
    return module.source.called_directory(name) in module.sources and _is_expanded(module, *module.source.calls[name])


def _is_expanded(module: Module, document: Document, block: Node) -> bool:
    """Whether the instances of a resource or module block are known."""
    try:
        expand(module, document, block)
    except Unknown:
        return False
    return True
