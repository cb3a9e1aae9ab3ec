"""Reads the structure of a contract file with python-hcl2: its blocks, labels, attributes and expressions with their lines.

Expressions are parsed by `gateway.terraform.lang`, as those of Terraform code are, so one text has one meaning.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final

import hcl2
from hcl2.parser import parser
from lark import Token, Tree
from lark.exceptions import LarkError, UnexpectedInput, UnexpectedToken

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.lang.evaluate import EvaluationScope, Steps, evaluate
from gateway.terraform.lang.expression import Expression, NotLiteral, literal, root_references
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import Unknown

_MOST_SHOWN = 80
_MOST_STEPS = 20_000
"""Some 50 ms. An author's nested loops over lists of a caller's may not take as long as the caller likes."""


_ENDS: Final[ContextVar[float]] = ContextVar("contracts_end", default=math.inf)
"""`time.thread_time()` after which no expression is evaluated any more."""


def is_out_of_time() -> bool:
    """Whether the time for all expressions together has passed. What is said of an expression then is no outcome that may be remembered."""
    ends = _ENDS.get()
    return ends < math.inf and time.thread_time() > ends


@contextmanager
def evaluated_within(seconds: float) -> Iterator[None]:
    """In the block, expressions are evaluated for so much processor time of this thread: for contracts that a caller sent, of which each may take long."""
    token = _ENDS.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _ENDS.reset(token)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenExpression:
    """An HCL expression and where it is written."""

    text: str
    source: str
    """`file:line`."""
    parsed: Expression
    references: frozenset[tuple[str, str]]
    """What it refers to: (root, first attribute), e.g. `("self", "max_size")`."""
    constant: tuple[Json, str] | None
    """The outcome of an expression that refers to nothing, evaluated once; None for any other."""

    def evaluate(self, scope: EvaluationScope) -> tuple[Json, str]:
        """The value and an empty text, or None and the reason why it cannot be evaluated. Never raises."""
        if is_out_of_time():
            return None, "all contracts together take too long"
        return self.constant or _outcome(self.parsed, self.text, replace(scope, steps=Steps(_MOST_STEPS)))


def written_expression(parsed: Expression, *, text: str, source: str) -> WrittenExpression:
    """The expression with its references; evaluated already if it has none. `source` is `file:line`."""
    references = frozenset(root_references(parsed))
    constant = None if references else _outcome(parsed, text, EvaluationScope())
    return WrittenExpression(text=text, source=source, parsed=parsed, references=references, constant=constant)


def _outcome(parsed: Expression, text: str, scope: EvaluationScope) -> tuple[Json, str]:
    try:
        return evaluate(parsed, scope), ""
    except Unknown as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001  an expression that fails in any way is unknown, and what is unknown denies
        return None, f"{type(error).__name__} while evaluating `{text[:_MOST_SHOWN]}`"


MAX_BYTES = 1_000_000
"""Largest contract file that is read."""

_Tree = Tree[Token]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractAttribute:
    """`name = expression`."""

    name: str
    expression: WrittenExpression

    @property
    def source(self) -> str:
        """`file:line`."""
        return self.expression.source

    @property
    def literal(self) -> "Json | NotLiteral":
        """The expression's value if it is a literal, else `NOT_LITERAL`."""
        return literal(self.expression.parsed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractBlock:
    """`kind "label" … { body }`."""

    kind: str
    labels: tuple[str, ...]
    source: str
    body: "ContractBody"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractBody:
    """The attributes and blocks of a block, or of a whole file."""

    attributes: dict[str, ContractAttribute]
    blocks: tuple[ContractBlock, ...]

    def of_kind(self, kind: str) -> Iterator[ContractBlock]:
        """The blocks of one kind, in order."""
        return (block for block in self.blocks if block.kind == kind)


def parse_body(text: str, file: str) -> ContractBody:
    """The file's body. Raises `errors.CodeInvalid` with file, line and reason."""
    if len(text) > MAX_BYTES:
        raise CodeInvalid(f"{file}:1: The file is larger than the {MAX_BYTES} characters that Sentinel reads.")
    try:
        tree = hcl2.parses_to_tree(text if text.endswith("\n") else text + "\n")
    except UnexpectedInput as error:
        raise CodeInvalid(f"{file}:{_line(error, text)}: This is not HCL: {_reason(error)}.") from error
    except (LarkError, RecursionError) as error:
        raise CodeInvalid(f"{file}:1: This is not HCL: {error}.") from error
    return _Reader(text, file).body(_trees(tree)[0])


def forget_grammar() -> None:
    """Give back the 5 MB of the parser until a contract is read again, which then takes 35 ms longer."""
    parser.cache_clear()


class _Reader:
    """Converts the tree of one file, whose positions refer to the file's text."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file

    def body(self, tree: _Tree) -> ContractBody:
        attributes: dict[str, ContractAttribute] = {}
        blocks: list[ContractBlock] = []
        end = -1
        for item in _trees(tree):
            if item.data == "new_line_or_comment":
                continue
            start = item.meta.start_pos
            if end >= 0 and "\n" not in self._text[end:start]:
                raise CodeInvalid(f"{self._source(item)}: Two definitions stand on one line; each needs its own.")
            end = start + len(self._written(item))
            if item.data == "block":
                blocks.append(self._block(item))
                continue
            attribute = self._attribute(item)
            if attribute.name in attributes:
                first = attributes[attribute.name].source
                raise CodeInvalid(f"{attribute.source}: {attribute.name} is already set in {first}.")
            attributes[attribute.name] = attribute
        return ContractBody(attributes=attributes, blocks=tuple(blocks))

    def _attribute(self, tree: _Tree) -> ContractAttribute:
        name, expression = _trees(tree)[0], _trees(tree)[-1]
        text = self._written(expression)
        written = written_expression(parse_expression(text), text=text, source=self._source(tree))
        return ContractAttribute(name=str(name.children[0]), expression=written)

    def _block(self, tree: _Tree) -> ContractBlock:
        kind, *labels = (child for child in _trees(tree) if child.data not in {"body", "new_line_or_comment"})
        body = next(child for child in _trees(tree) if child.data == "body")
        return ContractBlock(
            kind=str(kind.children[0]),
            labels=tuple(self._label(label) for label in labels),
            source=self._source(tree),
            body=self.body(body),
        )

    def _label(self, tree: _Tree) -> str:
        if tree.data != "string":
            return str(tree.children[0])
        label = literal(parse_expression(self._written(tree)))
        if not isinstance(label, str):
            raise CodeInvalid(f"{self._source(tree)}: A label must be written out, without ${{…}}.")
        return label

    def _written(self, tree: _Tree) -> str:
        """The text of a tree. Positions of a binary expression over several lines run on to the next line, or into a comment there, which HCL ignores."""
        return self._text[tree.meta.start_pos : tree.meta.end_pos].rstrip()

    def _source(self, tree: _Tree) -> str:
        return f"{self._file}:{tree.meta.line}"


def _trees(tree: _Tree) -> list[_Tree]:
    return [child for child in tree.children if isinstance(child, Tree)]


def _line(error: UnexpectedInput, text: str) -> int:
    """The line of a syntax error; the last line of a file that ends too early."""
    return error.line if error.line > 0 else text.count("\n") + 1


def _reason(error: UnexpectedInput) -> str:
    if isinstance(error, UnexpectedToken):
        if error.token.type == "$END":
            return "the file ends too early; a brace or a quote is not closed"
        near = str(error.token).strip().partition("\n")[0][:40]
        return f"{near!r} is not expected here"
    return "a character is not expected here"
