"""Terraform's pure functions, as far as their result is certain; a call of any other function is `Unknown`.

Source of the behaviour: developer.hashicorp.com/terraform/language/functions and zclconf/go-cty `function/stdlib`.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence

from gateway.terraform.lang.values import (
    EvaluationFailed,
    MapOf,
    SetOf,
    Unknown,
    Value,
    as_set,
    decimal,
    hcl_equal,
    is_list,
    items,
    kinds,
    known,
    mapping,
    number,
    text,
    to_json,
    truth,
    unified,
)

Function = Callable[..., Value]

_RANGE_LIMIT = 1024


def call(name: str, arguments: Sequence[Value]) -> Value:
    """The result of a function. Raises `Unknown` if the function is not listed or the result not certain, `EvaluationFailed` if Terraform fails."""
    function = _PARTIAL.get(name)
    if function is None:
        function = _WHOLE.get(name)
        if function is None:
            raise Unknown(f"{name}() is not evaluated")
        for argument in arguments:
            to_json(argument)
    try:
        return function(*arguments)
    except TypeError:
        raise EvaluationFailed(f"{name}() does not take these arguments") from None


def _ascii(value: Value) -> str:
    string = text(value)
    if not string.isascii():
        raise Unknown("text beyond ASCII is not transformed")
    return string


def _merge(*maps: Value) -> Value:
    present = [mapping(each, "merge()") for each in maps if known(each) is not None]
    merged = {key: value for each in present for key, value in each.items()}
    return MapOf(merged) if any(isinstance(each, MapOf) for each in present) else merged


def _lookup(source: Value, key: Value, *default: Value) -> Value:
    table, name = mapping(source, "lookup()"), text(key)
    if name in table:
        return table[name]
    if not default:
        raise EvaluationFailed(f"lookup() finds no {name}")
    if isinstance(table, MapOf) and not table:
        raise Unknown("whether lookup() converts its default is not certain")
    if table and (kinds(default[0]) and len(kinds(table) | kinds(default[0])) > 1):
        raise Unknown("whether lookup() converts its default is not certain")
    return default[0]


def _coalesce(*values: Value) -> Value:
    for value in values:
        if known(value) is not None and value != "":
            position = next(index for index, each in enumerate(values) if each is value)
            return unified(values)[position]
    raise EvaluationFailed("coalesce() finds no value")


def _concat(*lists: Value) -> Value:
    joined = [item for each in lists for item in items(each, "concat()")]
    return unified(joined)


def _element(source: Value, index: Value) -> Value:
    each, position = items(source, "element()"), decimal(index)
    if not each or position < 0 or position != int(position):
        raise EvaluationFailed("element() needs a list with items and an index from 0")
    return each[int(position) % len(each)]


def _contains(source: Value, wanted: Value) -> Value:
    each = items(source, "contains()")
    if kinds(source) - kinds(wanted) or isinstance(wanted, Mapping) or is_list(wanted):
        raise Unknown("contains() with values of different types")
    return any(hcl_equal(item, wanted) for item in each)


def _flatten(source: Value) -> list[Value]:
    flat: list[Value] = []
    for item in items(source, "flatten()"):
        flat.extend(_flatten(item) if is_list(known(item)) else [item])
    return flat


def _json_text(value: Value) -> str:
    encoded = json.dumps(_json_ready(value), separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        encoded = encoded.replace(character, f"\\u{ord(character):04x}")
    if re.search(r"\\[bf]", encoded.replace("\\\\", "")):
        raise Unknown("jsonencode() of control characters")
    return encoded


def _json_ready(value: Value) -> Value:
    if isinstance(value, Mapping):
        return {key: _json_ready(value[key]) for key in sorted(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json_ready(item) for item in value]
    if isinstance(value, float):
        text(value)
        if "e" in repr(value):
            raise Unknown("jsonencode() of very large or small fractions")
    return value


def _json_value(source: Value) -> Value:
    try:
        return json.loads(text(source), parse_float=lambda digits: number(decimal(digits)))  # type: ignore[no-any-return]
    except (json.JSONDecodeError, RecursionError):
        raise EvaluationFailed("jsondecode() was not given JSON") from None


def _format(pattern: Value, *values: Value) -> Value:
    rest = list(values)

    def formatted(match: re.Match[str]) -> str:
        verb = match.group(1)
        if verb == "%":
            return "%"
        if verb not in ("s", "d") or not rest:
            raise Unknown("format() with more than %s and %d")
        value = rest.pop(0)
        if verb == "s":
            return text(value)
        exact = decimal(value)
        if exact != int(exact):
            raise Unknown("format() of a fraction with %d")
        return str(int(exact))

    written = re.sub(r"%(.|$)", formatted, text(pattern))
    if rest:
        raise EvaluationFailed("format() has too many arguments")
    return written


def _replace(source: Value, old: Value, new: Value) -> Value:
    wanted = text(old)
    if not wanted or (len(wanted) > 1 and wanted.startswith("/") and wanted.endswith("/")):
        raise Unknown("replace() with a regular expression")
    return text(source).replace(wanted, text(new))


def _split(separator: Value, source: Value) -> Value:
    if not text(separator):
        raise Unknown("split() without a separator")
    return list(text(source).split(text(separator)))


def _distinct(source: Value) -> Value:
    each = unified(items(source, "distinct()"))
    if any(isinstance(item, Mapping) or is_list(item) for item in each):
        raise Unknown("distinct() of collections")
    # Items of a list are of one type, so that equal items have equal hashes and unequal ones do not.
    return list({item: None for item in each if isinstance(item, str | bool | int | float | None)})


def _range(*limits: Value) -> Value:
    numbers = [decimal(limit) for limit in limits]
    if any(each != int(each) for each in numbers) or not numbers:
        raise Unknown("range() of fractions")
    whole = [int(each) for each in numbers]
    start, stop = (0, whole[0]) if len(whole) == 1 else (whole[0], whole[1])
    step = whole[2] if len(whole) > 2 else (1 if stop >= start else -1)  # noqa: PLR2004  start, stop, step
    if step == 0 or len(range(start, stop, step)) > _RANGE_LIMIT:
        raise EvaluationFailed("range() is endless")
    return list(range(start, stop, step))


def _length(source: Value) -> Value:
    match known(source):
        case str() as string:
            if "\r\n" in string:
                raise Unknown("length() of lines ended by CR LF")
            return len(_ascii(string))
        case Mapping() | Sequence() as collection:
            return len(collection)
    raise EvaluationFailed("length() needs a collection")


def _one(source: Value) -> Value:
    each = items(source, "one()")
    if len(each) > 1:
        raise EvaluationFailed("one() was given several items")
    return each[0] if each else None


def _slice(source: Value, start: Value, end: Value) -> Value:
    each = items(source, "slice()")
    first, last = int(decimal(start)), int(decimal(end))
    if not 0 <= first <= last <= len(each) or isinstance(source, SetOf):
        raise EvaluationFailed("slice() is out of range")
    return each[first:last]


def _zipmap(keys: Value, values: Value) -> Value:
    names, each = items(keys, "zipmap()"), items(values, "zipmap()")
    if len(names) != len(each):
        raise EvaluationFailed("zipmap() needs as many keys as values")
    return {text(name): value for name, value in zip(names, each, strict=True)}


def _numbers(values: Sequence[Value], choose: Callable[..., Value]) -> Value:
    if not values:
        raise EvaluationFailed("a number is missing")
    return number(choose(decimal(value) for value in values))  # type: ignore[arg-type]


def _to_number(value: Value) -> Value:
    return None if value is None else number(decimal(value))


def _values(source: Value) -> Value:
    table = mapping(source, "values()")
    return [table[key] for key in sorted(table)]


def _to_map(source: Value) -> Value:
    table = mapping(source, "tomap()")
    return MapOf(zip(table, unified(table.values()), strict=True))


def _sum(source: Value) -> Value:
    each = items(source, "sum()")
    if not each:
        raise EvaluationFailed("sum() of nothing")
    return number(sum(decimal(item) for item in each))  # type: ignore[arg-type]


_PARTIAL: Mapping[str, Function] = {
    # These return items without reading them, so an unknown item only makes itself unknown.
    "merge": _merge,
    "lookup": _lookup,
    "coalesce": _coalesce,
    "concat": _concat,
    "element": _element,
    "keys": lambda source: sorted(mapping(source, "keys()")),
    "values": _values,
    "length": _length,
    "one": _one,
    "slice": _slice,
    "zipmap": _zipmap,
    "tomap": _to_map,
    "tolist": lambda source: None if source is None else unified(items(source, "tolist()")),
    "sensitive": known,
    "nonsensitive": known,
}

_WHOLE: Mapping[str, Function] = {
    "abs": lambda value: number(abs(decimal(value))),
    "alltrue": lambda source: all(item is not None and truth(item) for item in items(source, "alltrue()")),
    "anytrue": lambda source: any(item is not None and truth(item) for item in items(source, "anytrue()")),
    "ceil": lambda value: math.ceil(decimal(value)),
    "compact": lambda source: [text(i) for i in items(source, "compact()") if i is not None and text(i)],
    "contains": _contains,
    "distinct": _distinct,
    "endswith": lambda value, suffix: text(value).endswith(text(suffix)),
    "flatten": _flatten,
    "floor": lambda value: math.floor(decimal(value)),
    "format": _format,
    "join": lambda by, *lists: text(by).join(text(item) for each in lists for item in items(each, "join()")),
    "jsondecode": _json_value,
    "jsonencode": _json_text,
    "lower": lambda value: _ascii(value).lower(),
    "max": lambda *values: _numbers(values, max),
    "min": lambda *values: _numbers(values, min),
    "range": _range,
    "replace": _replace,
    "reverse": lambda source: list(reversed(items(source, "reverse()"))),
    "setunion": lambda *sets: as_set(item for each in sets for item in items(each, "setunion()")),
    "split": _split,
    "startswith": lambda value, prefix: text(value).startswith(text(prefix)),
    "strcontains": lambda value, part: text(part) in text(value),
    "sum": _sum,
    "tobool": lambda value: None if value is None else truth(value),
    "tonumber": _to_number,
    "toset": lambda source: None if source is None else as_set(items(source, "toset()")),
    "tostring": lambda value: None if value is None else text(value),
    "trimprefix": lambda value, part: text(value).removeprefix(text(part)),
    "trimspace": lambda value: _ascii(value).strip(" \t\n\v\f\r"),
    "trimsuffix": lambda value, part: text(value).removesuffix(text(part)),
    "upper": lambda value: _ascii(value).upper(),
}
