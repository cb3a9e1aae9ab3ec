"""Gives an address the resource that took the place of its own: an `import` block with the new id, and nothing else."""

from pathlib import Path

from tree_sitter import Node

from gateway.model.mutation import WHOLE
from gateway.terraform.address import parse_address
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from reconciler.drift.replaced import ReplacedResource
from reconciler.model import REPLACES, Wanted
from reconciler.rewrite.code import EditedCode
from reconciler.rewrite.editors import block as whole_block
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.editors.text import CannotEdit, to_hcl
from reconciler.rewrite.imports import text_of
from reconciler.rewrite.new_block import import_text


def wanted_replacement(replaced: ReplacedResource) -> Wanted:
    """The import of a resource that took the place of another, as a value that is wanted of its address."""
    value = {"import_id": replaced.created.import_id, REPLACES: replaced.old_id}
    return Wanted(address=replaced.address, attribute=WHOLE, value=value)


def adopted(code: EditedCode, wanted: Wanted, import_id: str) -> EditedCode:
    """The code with the import of a resource at an address that it declares already. Raises `CannotEdit`."""
    for document in code.module.source.documents.values():
        for block in document.blocks(document.root, "import"):
            if text_of(document, block, "to") == wanted.address:
                return code.after(document, _other_id(document, block, import_id), wanted)
    document = code.document(_file(code, wanted.address))
    return code.after(document, whole_block.append(document, import_text(wanted.address, import_id)), wanted)


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
