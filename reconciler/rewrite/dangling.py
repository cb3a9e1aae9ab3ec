"""Removes what refers to blocks that are no longer there: outputs, `depends_on`, and blocks that import or move them."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from reconciler.model import Wanted
from reconciler.rewrite.code import Code
from reconciler.rewrite.editors import block as whole_block
from reconciler.rewrite.editors import item
from reconciler.rewrite.editors.splice import Splice, line_end, newline
from reconciler.rewrite.editors.text import CannotEdit

_GO_WITH_IT = ("output", "import", "moved", "removed")


@dataclass(frozen=True, slots=True)
class Removed:
    """A name that the code of a directory no longer has: `aws_sqs_queue.jobs`, `module.jobs`, `module.jobs.url`, or one key of it."""

    directory: str
    root: str
    steps: tuple[str, ...]
    key: str | int | None = None


@dataclass(frozen=True, slots=True)
class _Reference:
    document: Document
    block: Node
    """The top-level block that holds it."""
    attribute: Node
    expression: e.Expression


def without_references(code: Code, removed: Removed, wanted: Wanted) -> Code:
    """The code without references to a name that goes, its own block aside. Raises `CannotEdit`, with the place, if something else needs it."""
    while (found := next(_references(code, removed), None)) is not None:
        kind, *labels = found.document.header(found.block)
        chain = (f"{found.document.at(found.expression.start)} refers to what is gone",)
        if kind in _GO_WITH_IT:
            code = code.after(found.document, whole_block.remove(found.document, found.block), wanted, chain)
            if kind == "output":
                code = _without_output(code, removed.directory, labels[0], wanted)
        elif (change := _from_depends_on(found)) is not None:
            code = code.after(found.document, change, wanted, chain)
        else:
            raise CannotEdit(
                f"{'.'.join((kind, *labels))} still refers to it ({found.document.at(found.expression.start)})."
            )
    return code


def _without_output(code: Code, directory: str, name: str, wanted: Wanted) -> Code:
    """The code without references to an output that is gone, in the code that calls the module."""
    for source in code.module.sources.values():
        for call in source.calls:
            if source.called_directory(call) == directory:
                code = without_references(code, Removed(source.directory, "module", (call, name)), wanted)
    return code


def _references(code: Code, removed: Removed) -> Iterator[_Reference]:
    source = code.module.sources.get(removed.directory)
    if source is None:
        return
    for document in source.documents.values():
        for block in document.blocks(document.root):
            if _is_itself(document.header(block), removed):
                continue
            for attribute in _attributes(document, block):
                for part in e.walk(read_attribute(document, attribute)):
                    if _refers(part, removed):
                        yield _Reference(document, block, attribute, part)


def _is_itself(header: tuple[str, ...], removed: Removed) -> bool:
    """Whether a block is the one that goes, or one instance of it."""
    if removed.root == "module":
        return header == ("module", *removed.steps[:1]) and len(removed.steps) == 1
    return header == ("resource", removed.root, *removed.steps)


def _attributes(document: Document, block: Node) -> Iterator[Node]:
    yield from document.attributes(block).values()
    for inner in document.blocks(block):
        yield from _attributes(document, inner)


def _refers(part: e.Expression, removed: Removed) -> bool:
    traversal = e.steps_of(part)
    if traversal is None or traversal[0] != removed.root:
        return False
    steps = list(traversal[1])
    names = tuple(step for step in steps if isinstance(step, str))
    if removed.key is None:
        return names[: len(removed.steps)] == removed.steps
    at = steps[len(removed.steps)] if len(steps) > len(removed.steps) else None
    return names[: len(removed.steps)] == removed.steps and isinstance(at, e.LiteralValue) and at.value == removed.key


def _from_depends_on(found: _Reference) -> Splice | None:
    """The change that takes the reference out of a `depends_on`, or the whole argument if it is the only one."""
    document, own = found.document, document_attribute(found)
    if own is None:
        return None
    listed = e.bare(read_attribute(document, own))
    if not isinstance(listed, e.Tuple):
        return None
    position = next(
        number for number, each in enumerate(listed.items) if each.start <= found.expression.start < each.end
    )
    if len(listed.items) > 1:
        return item.remove(document, listed, position)
    start = document.source.rfind(b"\n", 0, own.start_byte) + 1
    return Splice(start, line_end(document, own.end_byte) + len(newline(document)), "")


def document_attribute(found: _Reference) -> Node | None:
    """The `depends_on` of the block, if the reference stands in it."""
    own = found.document.attributes(found.block).get("depends_on")
    return own if own is not None and own.start_byte == found.attribute.start_byte else None
