"""HCL expressions as plain values with byte spans; evaluation, tracing and the reference graph read them.

The grammar follows hashicorp/hcl `hclsyntax/spec.md`. Spans are byte offsets in the document the expression came from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.core.model.json import Json


@dataclass(frozen=True, slots=True)
class Spanned:
    """Anything with a span in a file."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LiteralValue(Spanned):
    """A number, bool, null, or a string without interpolation. Numbers are whole ints or floats."""

    value: bool | float | str | None


@dataclass(frozen=True, slots=True)
class Template(Spanned):
    """A string with interpolations, or a heredoc."""

    parts: "tuple[str | Expression, ...]"
    heredoc: bool = False


@dataclass(frozen=True, slots=True)
class Group(Spanned):
    """An expression in parentheses, or a string of one interpolation (`"${x}"`), which has the same value."""

    inner: "Expression"


@dataclass(frozen=True, slots=True)
class Tuple(Spanned):
    """`[a, b]`"""

    items: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Element(Spanned):
    """One `key = value` of an object; a key without quotes is a `LiteralValue`."""

    key: "Expression"
    value: "Expression"


@dataclass(frozen=True, slots=True)
class Object(Spanned):
    """`{ a = 1 }`"""

    elements: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Name(Spanned):
    """The root of a traversal: `var`, `each`, a resource type, the variable of a `for`."""

    name: str


@dataclass(frozen=True, slots=True)
class AttributeAccess(Spanned):
    """`source.name`"""

    source: "Expression"
    name: str


@dataclass(frozen=True, slots=True)
class IndexAccess(Spanned):
    """`source[key]`"""

    source: "Expression"
    key: "Expression"


@dataclass(frozen=True, slots=True)
class Splat(Spanned):
    """`source[*].a.b` (full) or `source.*.a.b`; `steps` are applied to each item."""

    source: "Expression"
    steps: "tuple[str | Expression, ...]"


@dataclass(frozen=True, slots=True)
class FunctionCall(Spanned):
    """`name(arguments)`; `expand` if the last argument is followed by `...`."""

    name: str
    arguments: "tuple[Expression, ...]"
    expand: bool = False


@dataclass(frozen=True, slots=True)
class Unary(Spanned):
    """`-a`, `!a`"""

    operator: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Binary(Spanned):
    """`left operator right`"""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Conditional(Spanned):
    """`condition ? then : otherwise`"""

    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


@dataclass(frozen=True, slots=True)
class For(Spanned):
    """`[for k, v in source : value if condition]`, or with `key` set `{for … : key => value}`."""

    names: tuple[str, ...]
    source: "Expression"
    key: "Expression | None"
    value: "Expression"
    condition: "Expression | None"
    grouped: bool = False


@dataclass(frozen=True, slots=True)
class Unsupported(Spanned):
    """Source that cannot be parsed with certainty; `parts` are the expressions inside it, for finding references."""

    reason: str
    parts: "tuple[Expression, ...]" = ()
    text: str = ""
    """The source text."""


Expression: TypeAlias = (
    LiteralValue
    | Template
    | Group
    | Tuple
    | Object
    | Name
    | AttributeAccess
    | IndexAccess
    | Splat
    | FunctionCall
    | Unary
    | Binary
    | Conditional
    | For
    | Unsupported
)


def bare(expression: Expression) -> Expression:
    """The expression without its parentheses."""
    while isinstance(expression, Group):
        expression = expression.inner
    return expression


def children(expression: Expression) -> tuple[Expression, ...]:  # noqa: C901  one case for each type of expression
    """The expressions directly inside, in the order of the source (keys of objects before their values)."""
    match expression:
        case LiteralValue() | Name():
            return ()
        case Template(parts=parts) | Unsupported(parts=parts):
            return tuple(part for part in parts if not isinstance(part, str))
        case Group(inner=inner) | Unary(operand=inner) | AttributeAccess(source=inner):
            return (inner,)
        case Tuple(items=items) | FunctionCall(arguments=items):
            return items
        case Object(elements=elements):
            return tuple(part for element in elements for part in (element.key, element.value))
        case IndexAccess(source=source, key=key):
            return (source, key)
        case Splat(source=source, steps=steps):
            return (source, *(step for step in steps if not isinstance(step, str)))
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case For():
            optional = (expression.key, expression.value, expression.condition)
            return (expression.source, *(part for part in optional if part is not None))


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it."""
    yield expression
    for child in children(expression):
        yield from walk(child)


OTHER_ROOTS = frozenset({"count", "data", "each", "ephemeral", "local", "module", "path", "self", "terraform", "var"})
"""Roots of names that are not the types of resources."""


def is_instance(expression: Expression) -> bool:
    """Whether an expression is one instance of a resource, by a literal key: `aws_queue.jobs["a"]`."""
    match expression:
        case IndexAccess(source=AttributeAccess(source=Name(name=root)), key=LiteralValue()):
            return root not in OTHER_ROOTS
    return False


class NotLiteral:
    """The type of `NOT_LITERAL`."""


NOT_LITERAL: Final = NotLiteral()
"""What `literal` returns for an expression that has to be evaluated."""


def literal(expression: Expression) -> "Json | NotLiteral":
    """The value of a literal: a number, string, bool or null, or a list of those. `NOT_LITERAL` for anything else."""
    match expression:
        case LiteralValue(value=value):
            return value
        case Unary(operator="-", operand=operand):
            number = literal(operand)
            return -number if isinstance(number, int | float) and not isinstance(number, bool) else NOT_LITERAL
        case Tuple(items=items):
            found = [literal(item) for item in items]
            plain = [item for item in found if not isinstance(item, NotLiteral)]
            return plain if len(plain) == len(found) else NOT_LITERAL
    return NOT_LITERAL


def root_references(expression: Expression, bound: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Every name the expression refers to, as (root, first attribute): `self.tags.owner` is `("self", "tags")`.

    The attribute is empty for a root alone. `bound` are the variables of enclosing `for` expressions, which are left out.
    """
    match expression:
        case Name(name=root) if root not in bound:
            yield root, ""
        case AttributeAccess(source=Name(name=root), name=name) if root not in bound:
            yield root, name
        case IndexAccess(source=Name(name=root), key=key) if root not in bound:
            yield root, key.value if isinstance(key, LiteralValue) and isinstance(key.value, str) else ""
            yield from root_references(key, bound)
        case For(names=names, source=source):
            for child in children(expression):
                yield from root_references(child, bound if child is source else bound | set(names))
        case _:
            for child in children(expression):
                yield from root_references(child, bound)


def steps_of(expression: Expression) -> tuple[str, tuple[str | Expression, ...]] | None:
    """Root name and steps of a traversal such as `var.a["b"].c`; None if it does not begin with a name.

    Steps are attribute names or index expressions. Only the steps before the first splat are returned.
    """
    steps: list[str | Expression] = []
    while not isinstance(expression, Name):
        match expression:
            case AttributeAccess(source=source, name=name):
                steps.append(name)
            case IndexAccess(source=source, key=key):
                steps.append(key)
            case Splat(source=source):
                steps.clear()
            case Group(inner=source):
                pass
            case _:
                return None
        expression = source
    return expression.name, tuple(reversed(steps))
