"""What the `import` blocks of a root module say: which id is imported to which address."""

import json
import re
from collections.abc import Mapping

from tree_sitter import Node

from gateway.terraform.config.module import Module
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document

_PLAIN = re.compile(r'"[^"\\$%]*"')
"""A text without escapes and without templates."""


def imports(root: Module) -> Mapping[str, str]:
    """The expression of the imported id, as it is written, by the address that it is imported to."""
    return {
        address: text_of(document, block, "id")
        for document in root.source.documents.values()
        for block in document.blocks(document.root, "import")
        if (address := text_of(document, block, "to"))
    }


def imported_ids(root: Module) -> Mapping[str, str]:
    """The imported id by the address, where it is plain text."""
    return {address: json.loads(written) for address, written in imports(root).items() if _PLAIN.fullmatch(written)}


def text_of(document: Document, block: Node, name: str) -> str:
    """The expression of an attribute of a block, as it is written; empty if the block does not have it."""
    attribute = document.attributes(block).get(name)
    if attribute is None:
        return ""
    written = read_attribute(document, attribute)
    return document.source[written.start : written.end].decode()
