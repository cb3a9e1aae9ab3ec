"""The text of the block that declares a resource, as people may read it: no secret that it holds is shown."""

from collections.abc import Iterator
from typing import Any, Final

from tree_sitter import Node

from gateway.context.lookup import FoundResource
from gateway.core.model.masking import PER_RUN
from gateway.terraform.lang.hcl import Document
from gateway.terraform.secret_vocabulary import is_often_secret_name, is_secret_name
from gateway.terraform.secrets import is_secret, masked_text, may_hold_secret

MOST_LINES: Final = 80
"""Lines of a block in one answer."""
_HIDDEN: Final = "(not shown)"


def code_text(found: FoundResource) -> dict[str, Any] | None:
    """The block that declares the resource: file, first line and text; None if the code does not declare it.

    What is a secret by its name or kind, or where people put secrets, is left out; what has the form of a secret is masked.
    """
    instance = found.stack.code.instance(found.address)
    if instance is None:
        return None
    document, block = instance.document, instance.block
    parts, end = [], block.start_byte
    for node in _hidden(document, block, found.resource_type, ""):
        parts.append(document.source[end : node.start_byte].decode())
        end = node.end_byte
    parts.append(document.source[end : block.end_byte].decode())
    lines = _HIDDEN.join(masked_text(part, PER_RUN) for part in parts).splitlines()
    return {
        "file": document.path.as_posix(),
        "line": document.line(block),
        "text": "\n".join(lines[:MOST_LINES]),
        "left_off": f"{len(lines) - MOST_LINES} more lines are not shown." if len(lines) > MOST_LINES else "",
    }


def _hidden(document: Document, container: Node, resource_type: str, path: str) -> Iterator[Node]:
    """The values in a block or an expression that are not shown, in order of the file."""
    for child in container.children:
        name = _name(document, child)
        inner = f"{path}.{name}" if path and name else path or name
        if child.type in ("attribute", "object_elem") and _is_hidden(resource_type, inner, name):
            yield child.children[-1]
        else:
            yield from _hidden(document, child, resource_type, inner)


def _name(document: Document, node: Node) -> str:
    match node.type:
        case "attribute" | "object_elem":
            return document.text(node.children[0]).strip('"')
        case "block":
            header = document.header(node)
            return header[0] if len(header) == 1 else header[-1] if header[0] == "dynamic" else ""
        case _:
            return ""


def _is_hidden(resource_type: str, path: str, name: str) -> bool:
    named = is_secret_name(name) or is_often_secret_name(name)
    return named or is_secret(resource_type, path) or may_hold_secret(resource_type, path)
