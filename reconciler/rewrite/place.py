"""Where tracing stands, and what it finds: a place to edit, or why there is none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.hcl import Document

Kind = OneOf["literal", "list", "entry", "attribute", "argument", "refused"]
Inverse = Callable[[Json], Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One place that defines a value, or why there is none."""

    kind: Kind
    """literal or list: `node` is replaced. entry: `node` is an object that gets `key`. attribute, argument: `node` is a
    resource's, a nested or a `module` block that gets `key`. refused: nothing can be edited here."""
    document: Document | None = None
    node: Expression | Node | None = None
    key: str = ""
    convert: Inverse = field(default=lambda value: value)
    """Turns the value wanted at the attribute into the value to write here. Raises `Unknown` where none would do."""
    element: e.Element | None = None
    """The entry of an object that holds the literal, where it is one: what goes when the entry is to be removed."""
    holder: e.Object | None = None
    """The object that holds `element`."""
    chain: tuple[str, ...] = ()
    """How we came here, a readable line for each step, with `file:line`."""
    refused: str = ""
    """Why there is no place, a whole sentence."""


@dataclass(frozen=True, slots=True)
class Alias:
    """What `each`, a dynamic block's iterator or a variable of a `for` stands for: one item of a collection."""

    document: Document
    source: Expression
    spot: "Cursor"
    key: str
    whole: bool
    """Whether the name is the item itself, or has it under `value`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Where tracing stands: the scope, what names stand for, the way here, and how to turn the value round."""

    document: Document
    scope: EvaluationScope
    module: Module
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    chain: tuple[str, ...] = ()
    convert: Inverse = field(default=lambda value: value)
    element: e.Element | None = None
    holder: e.Object | None = None
    depth: int = 0

    def step(self, line: str) -> "Cursor":
        """The spot one line further."""
        return replace(self, chain=(*self.chain, line))

    def place(self, kind: Kind, node: Expression | Node, key: str = "") -> Trace:
        """A place to edit here."""
        return Trace(
            kind=kind,
            document=self.document,
            node=node,
            key=key,
            convert=self.convert,
            element=self.element,
            holder=self.holder,
            chain=self.chain,
        )

    def refuse(self, reason: str, where: Expression | Node | None = None) -> Trace:
        """No place to edit here."""
        offset = where.start_byte if isinstance(where, Node) else None if where is None else where.start
        at = "" if offset is None else f"{self.document.at(offset)}: "
        return Trace(kind="refused", chain=self.chain, refused=at + reason)


def source_of(document: Document, expression: Expression) -> str:
    """The source of an expression on one line, shortened."""
    text = " ".join(document.source[expression.start : expression.end].decode().split())
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004  a readable line
