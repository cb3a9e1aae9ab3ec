"""What the `import` blocks of a root module say: which id is imported to which address."""

from collections.abc import Mapping

from tree_sitter import Node

from gateway.terraform.config.module import Module
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document


def imports(root: Module) -> Mapping[str, str]:
    """The expression of the imported id, as it is written, by the address that it is imported to."""
    return {
        address: text_of(document, block, "id")
        for document in root.source.documents.values()
        for block in document.blocks(document.root, "import")
        if (address := text_of(document, block, "to"))
    }


def text_of(document: Document, block: Node, name: str) -> str:
    """The expression of an attribute of a block, as it is written; empty if the block does not have it."""
    attribute = document.attributes(block).get(name)
    if attribute is None:
        return ""
    written = read_attribute(document, attribute)
    return document.source[written.start : written.end].decode()
