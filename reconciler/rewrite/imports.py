"""`import` blocks of a root module: which ids they import, and the block that adopts a resource for an address."""

from collections.abc import Mapping
from pathlib import Path

from tree_sitter import Node

from gateway.core.model.path import WHOLE
from gateway.terraform.address import parse_address, resource_type_of
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from reconciler.changes.replacements import ReplacedResource
from reconciler.model import REPLACES, Wanted
from reconciler.rewrite.block_text import import_text
from reconciler.rewrite.edited_code import EditedCode
from reconciler.rewrite.editors.hcl_text import CannotEdit, to_hcl
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.editors.top_level_block import append_block


def import_expressions(root: Module) -> Mapping[str, str]:
    """The expression of the imported id, as it is written, by the address that it is imported to."""
    return {
        address: text_of(document, block, "id")
        for document in root.source.documents.values()
        for block in document.blocks(document.root, "import")
        if (address := text_of(document, block, "to"))
    }


def imported_ids(root: Module) -> Mapping[str, str]:
    """The imported id by the address, where it is a text without references."""
    return {
        address: written.value
        for document in root.source.documents.values()
        for block in document.blocks(document.root, "import")
        if (address := text_of(document, block, "to"))
        and (attribute := document.attributes(block).get("id")) is not None
        if isinstance(written := e.bare(read_attribute(document, attribute)), e.LiteralValue)
        and isinstance(written.value, str)
    }


def imports_of(root: Module) -> frozenset[tuple[str, str]]:
    """What the code imports, where the id is plain text: type and id."""
    return frozenset((resource_type_of(address), each) for address, each in imported_ids(root).items())


def text_of(document: Document, block: Node, name: str) -> str:
    """The expression of an attribute of a block, as it is written; empty if the block does not have it."""
    attribute = document.attributes(block).get(name)
    if attribute is None:
        return ""
    written = read_attribute(document, attribute)
    return document.source[written.start : written.end].decode()


def wanted_replacement(replaced: ReplacedResource) -> Wanted:
    """The import of a resource that took the place of another, as a value that is wanted of its address."""
    value = {"import_id": replaced.created.import_id, REPLACES: replaced.old_id}
    return Wanted(address=replaced.address, attribute=WHOLE, value=value)


def adopt_resource(code: EditedCode, wanted: Wanted, import_id: str) -> EditedCode:
    """The code with the import of a resource at an address that it declares already. Raises `CannotEdit`."""
    for document in code.module.source.documents.values():
        for block in document.blocks(document.root, "import"):
            if text_of(document, block, "to") == wanted.address:
                return code.after(document, _other_id(document, block, import_id), wanted)
    document = code.document(_file(code, wanted.address))
    return code.after(document, append_block(document, import_text(wanted.address, import_id)), wanted)


def _other_id(document: Document, block: Node, import_id: str) -> Splice:
    """The change of an import that the code has from an earlier time."""
    attribute = document.attributes(block).get("id")
    if attribute is None:
        raise CannotEdit(f"{document.at(block)} imports it in a way that Sentinel does not edit.")
    written = read_attribute(document, attribute)
    return Splice(written.start, written.end, to_hcl(import_id))


def _file(code: EditedCode, address: str) -> Path:
    """The file of the root module that has the block, or the call that it comes from."""
    instance, parsed = code.module.instance(address), parse_address(address)
    if instance is None or parsed is None:
        raise CannotEdit(f"the code does not declare {address}.")
    return code.module.source.calls[parsed.modules[0][0]][0].path if parsed.modules else instance.document.path
