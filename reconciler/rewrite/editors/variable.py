"""Adds a variable to a module, beside its others and in their style."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.core.model.json import Json
from gateway.terraform.config.source import Source
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors import hcl_text
from reconciler.rewrite.editors.splice import Splice, line_end, newline


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A new variable: its name, its type and default as HCL, and what it is for."""

    name: str
    type: str
    default: str
    about: str


def document_of(source: Source, otherwise: Document) -> Document:
    """The file of a module that holds most of its variables; without any, `otherwise`."""
    holders = [document for document, _ in source.variables.values()]
    counted = [sum(each is document for each in holders) for document in holders]
    return holders[counted.index(max(counted))] if holders else otherwise


def add_variable(source: Source, variable: Variable, otherwise: Document) -> tuple[Document, Splice]:
    """The file and the change: a block between blank lines after the last variable, or at the end of `otherwise`."""
    document = document_of(source, otherwise)
    ends = [block.end_byte for holder, block in source.variables.values() if holder is document]
    block = newline(document).join(_rows(variable))
    gap = newline(document)
    if ends:
        end = line_end(document, max(ends))
        following = document.source[end:].decode().removeprefix(gap)
        after = gap if following and not following.startswith(gap) else ""
        return document, Splice(end, end, gap + gap + block + after)
    end = len(document.source)
    start = "" if document.source.endswith(b"\n") else gap
    return document, Splice(end, end, f"{start}{gap}{block}{gap}")


def type_of(value: Json) -> str:
    """The type constraint of a value; `any` where its parts differ."""
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return _of_parts("map", list(value.values()))
        case Sequence():
            return _of_rows(value) or _of_parts("list", value)
        case _:
            return "any"


def _of_rows(rows: Sequence[Json]) -> str:
    """The type of a list of objects with the same attributes; empty for any other list."""
    tables = [row for row in rows if isinstance(row, Mapping)]
    types = {tuple((name, type_of(part)) for name, part in row.items()) for row in tables}
    if len(tables) != len(rows) or len(types) != 1:
        return ""
    return f"list(object({{ {', '.join(f'{name} = {kind}' for name, kind in types.pop())} }}))"


def _of_parts(kind: str, parts: Sequence[Json]) -> str:
    types = {type_of(part) for part in parts}
    return f"{kind}({types.pop()})" if len(types) == 1 else "any"


def _rows(variable: Variable) -> list[str]:
    """The lines of the block. It always says what it is for: nobody who reads the module was there when it was written."""
    rows = {
        "description": hcl_text.quoted(f"The {variable.about}."),
        "type": variable.type,
        "default": variable.default,
    }
    width = max(map(len, rows))
    lines = [f"  {name.ljust(width)} = {value}" for name, value in rows.items()]
    return [f'variable "{variable.name}" {{', *lines, "}"]
