"""Makes sets in the order that Terraform gives their items.

Texts and numbers have their own order, with null at the end. Collections are sorted by what go-cty writes of them
(zclconf/go-cty, `cty/set_internals.go`); `tests/gateway/terraform/lang/test_sets.py` holds it to `terraform console`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gateway.terraform.lang.values import MapOf, Opaque, SetOf, Unknown, Value, within

_EXACT_FLOAT = 2**53
"""Up to here a float is exactly the whole number."""
_GO_ESCAPES = {'"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}  # fmt: skip


def as_set(values: Iterable[Value]) -> SetOf:
    """The set of values of one type: sorted, without duplicates. Raises `Unknown` where the order is not certain."""
    each = list(values)
    scalars = [value for value in each if isinstance(value, str | bool | int | float)]
    nulls = [value for value in each if value is None]
    if len(scalars) + len(nulls) == len(each):
        return SetOf([*sorted(set(scalars), key=lambda value: (isinstance(value, str), value)), *nulls[:1]])
    found: dict[str, Value] = {}
    for value in each:
        written = "".join(within(_written(value)))
        if found.setdefault(written, value) != value:
            raise Unknown("the order of two items of a set is not certain")
    return SetOf(found[written] for written in sorted(found))


def _written(value: Value) -> Iterator[str]:
    """What go-cty writes of an item, in parts. Raises `Unknown` for what is not known."""
    match value:
        case MapOf():
            inside = (part for key in sorted(value) for part in (_quoted(key), ":", *_written(value[key]), ";"))
            yield from ("{", *inside, "}")
        case Mapping():
            yield from ("<", *(part for key in sorted(value) for part in (*_written(value[key]), ";")), ">")
        case Sequence() if not isinstance(value, str):
            yield from ("[", *(part for item in value for part in (*_written(item), ";")), "]")
        case _:
            yield _scalar(value)


def _scalar(value: Value) -> str:
    match value:
        case None:
            return "~"
        case bool():
            return "T" if value else "F"
        case int() | float() if abs(value) <= _EXACT_FLOAT:
            return format(float(value), ".10g")
        case str():
            return _quoted(value)
        case Opaque(reason=reason):
            raise Unknown(f"the order of a set is not certain, because an item is not known: {reason}")
    raise Unknown("the order of a set with numbers so large is not certain")


def _quoted(string: str) -> str:
    """A text in the quotes of Go's `strconv.Quote`. Raises `Unknown` for characters that it may escape, beyond those of ASCII."""
    if not "".join(each for each in string if each >= "\x80").isprintable():
        raise Unknown("the order of a set with characters that are not printed is not certain")
    return '"' + "".join(_GO_ESCAPES.get(each) or _hexadecimal(each) for each in string) + '"'


def _hexadecimal(character: str) -> str:
    return f"\\x{ord(character):02x}" if character < " " or character == "\x7f" else character
