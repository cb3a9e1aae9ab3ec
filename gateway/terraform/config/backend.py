"""Refuses a stack whose code keeps its state where Sentinel does not read it: without the state, nothing declared is known to be live."""

from collections.abc import Iterator

from tree_sitter import Node

from gateway.errors import CodeInvalid
from gateway.terraform.config.source import Source
from gateway.terraform.lang.expression import LiteralValue, bare
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document

_LOCAL = "local"
_DEFAULT_PATH = "terraform.tfstate"


def refuse_other_state(root: Source, stack: str) -> None:
    """Raise `errors.CodeInvalid`, with file and line, if the root module's `backend` or `cloud` block keeps the state anywhere
    but in `terraform.tfstate` beside the code. Call it for stacks whose settings name no state file.
    """
    blocks = list(_state_blocks(root))
    # A backend in an override file replaces the others.
    overriding = [found for found in blocks if found[0] in root.overrides]
    for document, block in overriding or blocks:
        kind, *labels = document.header(block)
        if kind == "cloud" or labels != [_LOCAL]:
            what = f'backend "{labels[0]}"' if kind == "backend" and labels else "HCP Terraform (`cloud`)"
            raise CodeInvalid(
                f"{document.at(block)}: The stack {stack} keeps its state in {what}, which Sentinel does not read, and its settings name no "
                "state file, so every declared resource would count as not declared. Write the state to a file (`terraform state pull > FILE`, "
                f"again after each apply), and name the file as `state` of the stack {stack}."
            )
        if (path := document.attributes(block).get("path")) is not None and not _is_default(document, path):
            raise CodeInvalid(
                f"{document.at(path)}: The stack {stack} keeps its state in another file than {_DEFAULT_PATH} beside the code. "
                f"Name that file as `state` of the stack {stack} in the settings."
            )


def _state_blocks(root: Source) -> Iterator[tuple[Document, Node]]:
    for document in (*root.documents.values(), *root.overrides):
        for outer in document.blocks(document.root, "terraform"):
            for block in document.blocks(outer):
                if document.header(block)[0] in ("backend", "cloud"):
                    yield document, block


def _is_default(document: Document, path: Node) -> bool:
    written = bare(read_attribute(document, path))
    return isinstance(written, LiteralValue) and written.value in (_DEFAULT_PATH, f"./{_DEFAULT_PATH}")
