"""Switches an instance of a block on or off where a condition of the code decides about it: a flag, a value that is compared, a list that is counted."""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import Module, informed, instance_address
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.model import Wanted
from reconciler.rewrite.edited_code import EditedCode, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.trace.attribute import trace_instance
from reconciler.rewrite.trace.sites import EditSite, NoSite
from reconciler.rewrite.value_edits import splice_of

_MOST = 60
"""How many sites are tried for one instance; each is evaluated."""
_MOST_TRACED = 600
"""How many sites are looked at, before those of the root module come first."""
_MOST_KEYS = 40
"""How many keys of other instances are taken for those of one that a condition leaves out."""


def is_in_module(root: Module, path: Path) -> bool:
    """Whether a file belongs to a module that the root calls, so that others may share what it says."""
    return not any(path in files for files in (root.source.contents, root.source.templates))


def sites_of_instance(
    code: EditedCode,
    module: Module,
    document: Document,
    block: Node,
    key: str | int,
    *,
    made: bool,
    entry: Json = None,
) -> Iterator[tuple[EditSite, Callable[[], Splice]]]:
    """The sites that decide whether a block in a module instance makes the instance of a key, each with the change that lets it be `made`, or not.

    Those of the root module come first. The changes raise `CannotEdit` and `Unknown`.
    """
    known = informed(code.module, code.known)
    there = next((each for each in known.modules() if each.address == module.address), module)
    found: list[tuple[EditSite, Json]] = []
    for site, value in islice(trace_instance(there, document, block, key, made=made, entry=entry), _MOST_TRACED):
        if not isinstance(site, NoSite) and site not in [each for each, _ in found]:
            found.append((site, value))
    found.sort(key=lambda each: is_in_module(code.module, each[0].document.path))
    for site, value in found[:_MOST]:
        yield site, partial(_splice, site, value)


def _splice(site: EditSite, value: Json) -> Splice:
    return splice_of(site, site.convert(value))


def place_of(site: EditSite) -> int:
    """Where a site is in its document: the offset in bytes."""
    node = getattr(site, "node", None)
    block = getattr(site, "block", None)
    return node.start if node is not None else block.start_byte if block is not None else 0


def absent_instances(code: EditedCode, resource_type: str, keys: Sequence[str]) -> Iterator[str]:
    """The addresses that blocks of a type would have for instances that are left out: of a `count` the next, of a `for_each` with these keys and those of others."""
    for module in code.module.modules():
        for name, declared in module.source.resources.items():
            if name.partition(".")[0] != resource_type:
                continue
            document, block = declared
            arguments = document.attributes(block)
            instances = module.instances_of(name)
            if "count" in arguments:
                yield instance_address(module, name, len(instances))
            elif "for_each" in arguments:
                own = {parsed.key for each in instances if (parsed := parse_address(each.address))}
                others = (parse_address(each.address) for each in module.own_instances())
                beside = (each.key for each in others if each is not None and isinstance(each.key, str))
                found = dict.fromkeys((*keys, *beside))
                yield from (instance_address(module, name, key) for key in islice(found, _MOST_KEYS) if key not in own)


def entries_like(code: EditedCode, address: str) -> Iterator[tuple[str, Json]]:
    """The instances of the block of an address in other instances of its module, each with its entry as the call gives it, those of the same key first."""
    parsed = parse_address(address)
    modules = list(code.module.modules())
    own = next((each for each in modules if parsed and each.address == parsed.module), None)
    if parsed is None or own is None or own.parent is None:
        return
    name = f"{parsed.resource_type}.{parsed.name}"
    found = []
    for module in modules:
        if module.source.directory != own.source.directory:
            continue
        document, block = module.source.resources[name]
        written = document.attributes(block).get("for_each")
        if written is None:
            return
        names = {each for root, each in e.root_references(read_attribute(document, written)) if root == "var"}
        for instance in module.instances_of(name):
            each = parse_address(instance.address)
            if each is not None and (entry := _given(module, names, str(each.key))) is not None:
                found.append((each.key != parsed.key, instance.address, entry))
    yield from ((sibling, entry) for _, sibling, entry in sorted(found, key=lambda row: row[:2]))


def _given(module: Module, names: Collection[str], key: str) -> Json:
    """What an argument of a module's call, one of these names, has under a key; None if none has it."""
    for name in sorted(names):
        with contextlib.suppress(Unknown):
            definition = module.definition(name)
            given = values.to_json(
                value_of(read_attribute(definition.document, definition.attribute), definition.scope)
            )
            if isinstance(given, Mapping) and key in given:
                return given[key]
    return None


def switch_on(code: EditedCode, wanted: Wanted, new: frozenset[str] | None = None, entry: Json = None) -> EditedCode:
    """The code in which a condition lets there be the instance `wanted`, and no other one but at the addresses `new` (None: any).

    `entry` as in `trace_instance`. Raises `CannotEdit`.
    """
    parsed = parse_address(wanted.address)
    module = next((each for each in code.module.modules() if parsed and each.address == parsed.module), None)
    name = f"{parsed.resource_type}.{parsed.name}" if parsed else ""
    if parsed is None or module is None or parsed.key is None or name not in module.source.resources:
        raise CannotEdit(f"No block makes {wanted.address}.")
    before = code.addresses()
    for site, splice in sites_of_instance(
        code, module, *module.source.resources[name], parsed.key, made=True, entry=entry
    ):
        try:
            after = code.after(site.document, splice(), wanted, site.chain)
            added = after.addresses() - before
            if wanted.address in added and before <= after.addresses() and (new is None or added <= new):
                refuse_side_effects(code, after, added)
                return after
        except (CannotEdit, CodeInvalid, Unknown):
            continue
    raise CannotEdit(f"No condition of the code lets there be {wanted.address}.")
