"""The results of tracing: a site in the code to edit, or a refusal. `Cursor` is the position of tracing while it follows expressions."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypedDict

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.trace.inverse import Inverse, like, then, unchanged


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """One entry of an object that is written in the code."""

    element: e.Element
    holder: e.Object
    """The object that the entry belongs to."""


@dataclass(frozen=True, slots=True)
class Only:
    """One instance of a block with `count` or `for_each`, and what all others have."""

    condition: str
    """HCL that is true for that instance, e.g. `each.key == "blue"`."""
    otherwise: str
    """HCL of the value that the other instances keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    document: Document
    convert: Inverse = unchanged
    """Converts the value wanted at the attribute to the value to write here. Raises `Unknown` if no value gives the wanted one."""
    chain: tuple[str, ...] = ()
    """The way of tracing to the site: one line per step, each with `file:line`."""
    module: Module | None = None
    """The module instance in whose code the site is."""


class _Origin(TypedDict):
    """The fields that every site has from where tracing was."""

    document: Document
    convert: Inverse
    chain: tuple[str, ...]
    module: Module


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralSite(_Site):
    """A literal, an object written in place, or a calculation or reference that nothing else can change: it is replaced, or its entry is removed."""

    node: e.LiteralValue | e.Object | e.Binary | e.AttributeAccess
    entry: ObjectEntry | None = None
    """The object entry whose value is this literal, if any; a removal deletes the whole entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSite(_Site):
    """A list written in place: its items are replaced."""

    node: e.Tuple
    scope: EvaluationScope = field(default_factory=EvaluationScope)
    """The scope of its items."""
    entry: ObjectEntry | None = None
    """The object entry whose value is this list, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlocksSite(_Site):
    """The nested blocks of one type: some are added or removed."""

    block: Node
    """The block that holds them."""
    block_type: str
    scope: EvaluationScope


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalSite(_Site):
    """An expression that all instances share: it becomes a conditional with another value for one of them."""

    node: Expression
    condition: str
    """HCL that is true of that instance only."""
    key: str = ""
    """The entry that the map gets for that instance only; empty if the expression is the value itself."""
    now: Json = None
    """What the expression gives now; null if that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSite(_Site):
    """A text with interpolations: what is written between them is edited."""

    node: e.Template
    scope: EvaluationScope


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSite(_Site):
    """A member of a JSON document that is written as text: in a heredoc, a string, or a file."""

    start: int
    """Where the text of the document begins in the file."""
    end: int
    steps: tuple[str, ...]
    now: Json = None
    """The value of the member, as it is evaluated."""
    quoted: bool = False
    """Whether the text stands in a quoted string of HCL, with its escapes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSite(_Site):
    """The whole text of a data file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlSite(_Site):
    """A value of a data file in YAML."""

    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvSite(_Site):
    """A field of a data file in CSV."""

    steps: tuple[str, ...]
    """The row after the line of names, counted from 0, and the name of the column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySite(_Site):
    """An object without the wanted key: it gets an entry."""

    node: e.Object
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSite(_Site):
    """A resource or nested block without the wanted attribute: it gets the attribute."""

    block: Node
    path: AttributePath
    """The attribute, e.g. `delay_seconds`, or an entry of a map that is not there at all, e.g. `tags.owner`."""
    condition: str = ""
    """HCL that is true of the instance that gets the value; empty if all instances get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSite(_Site):
    """A `module` block that leaves an argument to its default: it gets the argument."""

    block: Node
    name: str
    default: str = "null"
    """HCL of the value that the argument has while the call does not give it."""
    only: Only | None = None
    """The instance of the call that gets the value, if the others keep the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideSite(_Site):
    """An expression that others share: the value is set beside it or in its place, for this block or one instance of it."""

    node: Expression
    only: Only | None = None
    key: str = ""
    """The key to set if the expression gives a map; empty for the whole value."""
    inside: tuple[tuple[str, str], ...] = ()
    """The keys below that one, each with the HCL of the map that has it now; empty HCL if there is no such map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterSite(_Site):
    """A `for` that makes an entry which is not wanted: it gets a condition."""

    node: e.For
    condition: str
    """HCL that is false in the round of that entry only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSite:
    """Nothing can be edited here."""

    reason: str
    """A whole sentence."""
    chain: tuple[str, ...] = ()
    """How far tracing came."""


EditSite: TypeAlias = (
    LiteralSite
    | ListSite
    | EntrySite
    | AttributeSite
    | ArgumentSite
    | OverrideSite
    | BlocksSite
    | ConditionalSite
    | FilterSite
    | DocumentSite
    | FileSite
    | YamlSite
    | CsvSite
    | TemplateSite
)
TracedSite: TypeAlias = EditSite | NoSite


@dataclass(frozen=True, slots=True)
class Alias:
    """One item of a collection, which `each`, a dynamic block's iterator or a variable of a `for` stands for."""

    document: Document
    source: Expression
    cursor: "Cursor"
    key: str
    whole: bool
    """Whether the name is the item itself, or holds it under `value`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The position of tracing: the scope, the meaning of names, the steps so far, and the inverse of the calculations passed."""

    document: Document
    scope: EvaluationScope
    module: Module
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    chain: tuple[str, ...] = ()
    convert: Inverse = unchanged
    entry: ObjectEntry | None = None
    depth: int = 0

    @property
    def _origin(self) -> "_Origin":
        return {"document": self.document, "convert": self.convert, "chain": self.chain, "module": self.module}

    def step(self, line: str) -> "Cursor":
        """The cursor with one more line in its chain."""
        return replace(self, chain=(*self.chain, line))

    def literal(self, node: e.LiteralValue | e.Object | e.Binary | e.AttributeAccess) -> LiteralSite:
        """The literal as a site."""
        return LiteralSite(**self._origin, node=node, entry=self.entry)

    def list_items(self, node: e.Tuple) -> ListSite:
        """The list as a site."""
        return ListSite(**self._origin, node=node, scope=self.scope, entry=self.entry)

    def blocks(self, block: Node, block_type: str) -> BlocksSite:
        """The nested blocks of one type as a site."""
        return BlocksSite(**self._origin, block=block, block_type=block_type, scope=self.scope)

    def conditional(self, node: Expression, condition: str, key: str = "") -> ConditionalSite:
        """An expression that all instances share as a site; the other value has the type of what it gives now."""
        site = ConditionalSite(**self._origin, node=node, condition=condition, key=key)
        if key:
            return site
        with contextlib.suppress(Unknown):
            site = replace(site, now=values.to_json(value_of(node, self.scope)))
        return replace(site, convert=then(self._in_type_of(node), self.convert))

    def text(self, node: e.Template) -> TemplateSite:
        """The text between interpolations as a site."""
        return TemplateSite(**self._origin, node=node, scope=self.scope)

    def new_entry(self, node: e.Object, key: str) -> EntrySite:
        """The missing entry of an object as a site."""
        return EntrySite(**self._origin, node=node, key=key)

    def new_attribute(self, block: Node, path: str, condition: str = "") -> AttributeSite:
        """The missing attribute of a resource or nested block as a site; with a condition, for one instance only."""
        return AttributeSite(**self._origin, block=block, path=AttributePath(path), condition=condition)

    def new_argument(self, block: Node, name: str, default: str) -> ArgumentSite:
        """The missing argument of a `module` block as a site."""
        return ArgumentSite(**self._origin, block=block, name=name, default=default)

    def beside(self, node: Expression, only: Only | None) -> OverrideSite:
        """An expression that others share as a site; beside the old value the new one has its type."""
        site = OverrideSite(**self._origin, node=node, only=only)
        return site if only is None else replace(site, convert=then(self._in_type_of(node), self.convert))

    def _in_type_of(self, node: Expression) -> Inverse:
        """To the type that the expression has now, if Terraform converts it back: AWS's `"300"` is a number where a variable is one."""
        try:
            now = values.to_json(value_of(node, self.scope))
        except Unknown:
            return unchanged
        return lambda value: like(now, value)

    def filtered(self, node: e.For, condition: str) -> FilterSite:
        """A `for` as a site for a further condition."""
        return FilterSite(**self._origin, node=node, condition=condition)

    def refuse(self, reason: str, where: Expression | Node | None = None) -> NoSite:
        """A refusal at `where`, whose `file:line` comes before the reason."""
        offset = where.start_byte if isinstance(where, Node) else None if where is None else where.start
        at = "" if offset is None else f"{self.document.at(offset)}: "
        return NoSite(reason=at + reason, chain=self.chain)


def source_of(document: Document, expression: Expression) -> str:
    """The source of an expression on one line, shortened to 80 characters."""
    return shorten(" ".join(document.source[expression.start : expression.end].decode().split()))


def shorten(text: str) -> str:
    """A text, or its first 77 characters and three dots."""
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004  a readable line


Follow: TypeAlias = Callable[[Cursor, Expression, tuple[str, ...]], Iterator[TracedSite]]
"""Yields the sites that define the value at a path inside an expression."""
