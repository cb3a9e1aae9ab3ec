"""Places at the call of a module: an argument that it does not give yet, or one whose expression is shared with others.

What a module says by itself, its other callers share; so the value of one caller belongs into its call.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gateway.model.json import Json
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.text import CannotEdit, to_hcl
from reconciler.rewrite.inverse import Inverse, then, unchanged
from reconciler.rewrite.place import Cursor, Only, OverridePlace, Place


def condition_of(scope: EvaluationScope) -> str:
    """HCL that is true for this instance of a call only; empty if the call has one instance."""
    if scope.count is not None:
        return f"count.index == {scope.count}"
    return "" if scope.each is None else f"each.key == {json.dumps(scope.each[0], ensure_ascii=False)}"


def new_arguments(cursor: Cursor, name: str, default: Expression, rest: tuple[str, ...]) -> Iterator[Place]:
    """The missing argument in the call: for all instances of the call, then for this instance alone."""
    module = cursor.module
    if module.call is None or module.call_document is None or module.parent is None:
        yield cursor.refuse(f"There is no call that could set {name}.")
        return
    try:
        before = values.to_json(value_of(default, EvaluationScope()))
        convert = then(_within(before, rest), cursor.convert) if rest else cursor.convert
        otherwise = to_hcl(before)
    except (Unknown, CannotEdit) as error:
        yield cursor.refuse(
            f"A part of the default of {name} in a shared module cannot be set by its callers: {error}."
        )
        return
    there = replace(cursor, document=module.call_document, module=module.parent, entry=None, convert=convert)
    line = f"{module.call_document.at(module.call)} {module.address} gives no {name}"
    place = there.step(line).new_argument(module.call, name, otherwise)
    yield place
    if condition := condition_of(module.call_scope):
        yield replace(place, only=Only(condition, otherwise))


def overrides(cursor: Cursor, module: Module, given: Expression, rest: tuple[str, ...]) -> Iterator[Place]:
    """The argument that the call gives, set beside its expression: a key of a map merged in, or the value in place of it.

    `cursor` is at the argument, in the module that calls `module`.
    """
    if cursor.convert is not unchanged and rest:
        return
    document, written = cursor.document, e.bare(given)
    if isinstance(written, e.LiteralValue | e.Object | e.Tuple) and not condition_of(module.call_scope):
        return
    source = document.source[given.start : given.end].decode()
    if "\n" in source:
        yield cursor.refuse("The argument is written on several lines, so nothing is set beside it.", given)
        return
    only = Only(condition, source) if (condition := condition_of(module.call_scope)) else None
    place = OverridePlace(
        document=document, convert=cursor.convert, chain=cursor.chain, module=cursor.module, node=given, only=only
    )
    if not rest:
        yield place
    elif len(rest) == 1 and _is_map(given, cursor.scope):
        yield replace(place, key=rest[0])


def _is_map(expression: Expression, scope: EvaluationScope) -> bool:
    try:
        return isinstance(values.known(value_of(expression, scope)), Mapping)
    except Unknown:
        return False


def _within(whole: Json, path: tuple[str, ...]) -> Inverse:
    """From the wanted part of a value to the whole value. Raises `Unknown` if the value has no such part."""

    def convert(part: Json) -> Json:
        return _replaced(whole, path, part)

    return convert


def _replaced(whole: Json, path: tuple[str, ...], part: Json) -> Json:
    if not path:
        return part
    if isinstance(whole, Mapping) or whole is None:
        table = dict(whole or {})
        key = next((".".join(path[:n]) for n in range(len(path), 0, -1) if ".".join(path[:n]) in table), "")
        if not key and whole and any(isinstance(value, Mapping) for value in table.values()):
            raise Unknown(f"it has no {path[0]}")
        key = key or ".".join(path)
        table[key] = _replaced(table.get(key), path[key.count(".") + 1 :], part)
        return table
    if isinstance(whole, list) and path[0].isdecimal() and int(path[0]) < len(whole):
        return [_replaced(item, path[1:], part) if str(at) == path[0] else item for at, item in enumerate(whole)]
    raise Unknown(f"it has no {path[0]}")
