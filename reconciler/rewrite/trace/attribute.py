"""Traces an attribute to the sites that define it, one file by what is traced.

Read `attribute.py` first; `sites.py` has the values that it finds. Imports nothing of the reconciler but `rewrite`.

Tracing follows the expression as Terraform would evaluate it, and inverts arithmetic. It does not decide whether an edit at a
site changes only the wanted value; `reconciler.rewrite.footprint.values` shows that afterwards.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import (
    META,
    Module,
    Nested,
    ResourceInstance,
    expand,
    lifecycle_arguments,
    nested,
    pick,
)
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown, Value
from reconciler.rewrite.trace import blocks, conversions, documents, functions, lists, overrides, policies, references
from reconciler.rewrite.trace.inverse import Inverse, negated, opposite, then
from reconciler.rewrite.trace.sites import Alias, Cursor, NoSite, TracedSite, source_of
from reconciler.terraform.json_documents import document_in

_DEPTH = 60
_SAID = ("description", "comment")
"""How attributes end that only say something: they may hold the key of the instance, and do not name it."""
_MOST_SITES = 200
"""Definitions that use each other twice have twice as many sites with each; nobody looks for a value in so many."""


def trace_attribute(module: Module, address: str, path: AttributePath) -> tuple[TracedSite, ...]:
    """All sites where an edit could change an attribute, the likeliest first; at least one, which may be a refusal."""
    instance = module.instance(address)
    if instance is None:
        return (NoSite(reason=f"The code declares no {address} whose key is known."),)
    if path.top in META:
        return (NoSite(reason=f"{path.top} is not an attribute of the resource; Terraform itself reads it."),)
    if _ignored(instance, path.top):
        reason = f"lifecycle.ignore_changes names {path.top}: the code leaves it to others."
        return (NoSite(reason=f"{instance.document.at(instance.block)}: {reason}"),)
    aliases = _each(instance.document, instance.block, instance.module, instance.scope)
    document, block = instance.holder(path.top)
    cursor = Cursor(document=document, scope=instance.scope, module=instance.module, aliases=aliases)
    try:
        found = tuple(islice(_in_block(cursor, block, path.steps, address), _MOST_SITES))
        return found or (cursor.refuse("No place was found."),)
    except (Unknown, RecursionError) as error:
        return (cursor.refuse(f"The value cannot be traced: {error}."),)


def own_value_sites(module: Module, address: str, path: AttributePath, *, whole: bool = False) -> Iterator[TracedSite]:
    """Where a block that has one instance may get a value of its own in place of what it shares with others; `whole`: one with several, for all of them.

    `trace_attribute` found no refusal.
    """
    instance = module.instance(address)
    if instance is None or (overrides.condition_of(instance.scope) and not whole):
        return
    document, block = instance.holder(path.top)
    cursor = Cursor(document=document, scope=instance.scope, module=instance.module)
    with contextlib.suppress(Unknown, RecursionError):
        yield from _own_in_block(cursor, block, path.steps)


def _own_in_block(cursor: Cursor, block: Node, steps: Sequence[str]) -> Iterator[TracedSite]:
    attribute = cursor.document.attributes(block).get(steps[0])
    if attribute is not None:
        yield from overrides.own_value(cursor, read_attribute(cursor.document, attribute), tuple(steps[1:]))
        return
    rows = nested(cursor.document, block, steps[0], cursor.scope)
    if not rows or len(steps) == 1:
        return
    row, rest = pick(rows, steps)
    if rest and row.dynamic is None:
        yield from _own_in_block(_within(cursor, row, steps[0]), row.block, rest)


def _ignored(instance: ResourceInstance, name: str) -> bool:
    """Whether `lifecycle.ignore_changes` names the attribute."""
    for attribute in lifecycle_arguments(instance, "ignore_changes"):
        written = e.bare(read_attribute(*attribute))
        if isinstance(written, e.Name):
            return written.name == "all"
        items = written.items if isinstance(written, e.Tuple) else ()
        if any(isinstance(part, e.Name) and part.name == name for item in items for part in e.walk(item)):
            return True
    return False


def _each(document: Document, block: Node, module: Module, scope: EvaluationScope) -> Mapping[str, Alias]:
    """The alias `each` of a resource or module block, by its name; empty without a `for_each`."""
    attribute = document.attributes(block).get("for_each")
    if attribute is None or scope.each is None:
        return {}
    source = read_attribute(document, attribute)
    cursor = Cursor(document=document, scope=module.scope, module=module)
    return {"each": Alias(document, source, cursor, scope.each[0], whole=False)}


# ---------------------------------------------------------------------------------------------------- blocks


def _in_block(cursor: Cursor, block: Node, steps: Sequence[str], name: str) -> Iterator[TracedSite]:
    document = cursor.document
    attribute = document.attributes(block).get(steps[0])
    if attribute is not None:
        expression = read_attribute(document, attribute)
        line = f"{document.at(attribute)} {name}.{steps[0]} = {source_of(document, expression)}"
        yield from _follow(cursor.step(line), expression, tuple(steps[1:]))
        condition = overrides.condition_of(cursor.scope)
        said = steps[0].endswith(_SAID)
        yield from overrides.override(cursor.step(line), expression, tuple(steps[1:]), condition, said=said)
        return
    rows = nested(document, block, steps[0], cursor.scope)
    if rows and len(steps) > 1:
        row, rest = pick(rows, steps)
        if rest:
            yield from _in_block(_within(cursor, row, steps[0]), row.block, rest, f"{name}.{steps[0]}")
            return
    if rows and len(steps) == 1:
        yield from blocks.all_blocks(cursor, block, steps[0], rows, _follow)
    elif rows:
        yield cursor.refuse(f"{steps[0]} is written as blocks, of which one is not replaced as a whole.", block)
    elif len(steps) == 1 or steps[0] == "tags":
        if len(steps) == 1:
            yield from blocks.missing_block(cursor, block, steps[0], _follow)
        line = f"{document.at(block)} {name} has no {steps[0]}"
        yield cursor.step(line).new_attribute(block, AttributePath.of(steps))
        if len(steps) == 1:
            yield cursor.step(line).blocks(block, steps[0])
            condition = overrides.condition_of(cursor.scope)
            if condition:
                yield cursor.step(f"{line}; only where {condition}").new_attribute(block, steps[0], condition)
    else:
        yield cursor.refuse(f"{name} has no {steps[0]}, and a block is not added.", block)


def _within(cursor: Cursor, row: Nested, block_type: str) -> Cursor:
    """The cursor moved into a nested block."""
    if row.dynamic is None:
        return replace(cursor, scope=row.scope)
    written = cursor.document.attributes(row.dynamic)
    iterator = read_attribute(cursor.document, written["iterator"]) if "iterator" in written else None
    name = iterator.name if isinstance(iterator, e.Name) else block_type
    source = read_attribute(cursor.document, written["for_each"])
    held = values.known(value_of(source, cursor.scope))
    key = conversions.place_in_set(() if isinstance(held, Mapping) else values.items(held, "for_each"), row.key)
    alias = Alias(cursor.document, source, replace(cursor, chain=()), key, whole=False)
    return replace(cursor, scope=row.scope, aliases={**cursor.aliases, name: alias})


# ----------------------------------------------------------------------------------------------- expressions


def _follow(  # noqa: C901, PLR0912  one case per type of expression
    cursor: Cursor, expression: Expression, path: tuple[str, ...]
) -> Iterator[TracedSite]:
    """Sites that define the value at `path` inside an expression."""
    if cursor.depth > _DEPTH:
        yield cursor.refuse("The definition is nested too deeply, or refers to itself.", expression)
        return
    cursor = replace(cursor, depth=cursor.depth + 1)
    if path and path[-1] in _EXISTENCE:
        yield from _in_existence(cursor, expression, path)
        return
    match expression:
        case e.Group(inner=inner):
            yield from _follow(cursor, inner, path)
        case e.LiteralValue() if not path:
            yield cursor.literal(expression)
        case e.Tuple():
            yield from lists.in_tuple(cursor, expression, path, _follow)
        case e.Object():
            yield from lists.in_object(cursor, expression, path, _follow)
        case e.Name() | e.AttributeAccess() | e.IndexAccess():
            yield from _in_traversal(cursor, expression, path)
        case e.FunctionCall():
            yield from functions.call(cursor, expression, path, _follow)
        case e.Unary(operator="-", operand=operand) if not path:
            convert = then(negated, cursor.convert)
            yield from _follow(replace(cursor, convert=convert), operand, path)
        case e.Unary(operator="!", operand=operand) if not path:
            yield from _follow(replace(cursor, convert=then(opposite, cursor.convert)), operand, path)
        case e.Binary() if not path:
            yield from functions.arithmetic(cursor, expression, _follow)
        case e.Conditional():
            yield from _in_conditional(cursor, expression, path)
        case e.For():
            yield from _in_for(cursor, expression, path)
        case e.Template() if not path:
            yield from functions.template(cursor, expression, _follow)
        case e.Template() | e.LiteralValue(value=str()):
            yield from documents.in_text(cursor, expression, path, _follow)
        case e.Unsupported(reason=reason):
            yield cursor.refuse(f"The expression is not followed: {reason}.", expression)
        case _:
            yield cursor.refuse("The expression is not followed.", expression)


def _in_conditional(cursor: Cursor, expression: e.Conditional, path: tuple[str, ...]) -> Iterator[TracedSite]:
    try:
        truth = values.truth(value_of(expression.condition, cursor.scope))
    except Unknown as error:
        yield cursor.refuse(f"Which branch holds is not known: {error}.", expression)
        return
    condition = source_of(cursor.document, expression.condition)
    line = f"{cursor.document.at(expression.start)} {condition} is {'true' if truth else 'false'}"
    chosen, other = (expression.then, expression.otherwise) if truth else (expression.otherwise, expression.then)
    if not path:
        # Where the other branch has the value already, the condition is what changed.
        yield from functions.condition(cursor, expression, other, _follow)
    is_default = isinstance(e.bare(chosen), e.LiteralValue) or _asks_for_null(expression.condition)
    if is_default and _shares_names(expression.condition, other):
        # `row.size != "" ? tonumber(row.size) : 30`: with a value of its own the other branch holds.
        there = cursor.step(f"{line}, and would not be with another value")
        with contextlib.suppress(Unknown):
            yield from _follow(there, other, path)
            if not path:
                yield from _in_members(there, expression.condition, other)
    yield from _follow(cursor.step(line), chosen, path)
    if not path:
        yield from functions.condition(cursor, expression, other, _follow, compared=True)


def _asks_for_null(condition: Expression) -> bool:
    """Whether a condition is `x == null` or `x != null`."""
    written = e.bare(condition)
    return (
        isinstance(written, e.Binary)
        and written.operator in ("==", "!=")
        and any(
            isinstance(each, e.LiteralValue) and each.value is None
            for each in map(e.bare, (written.left, written.right))
        )
    )


def _in_members(cursor: Cursor, condition: Expression, other: Expression) -> Iterator[TracedSite]:
    """Sites in the members of an object, or of a document of one, that refer to what a condition asks for: with these there is the object."""
    written = e.bare(other)
    if isinstance(written, e.FunctionCall) and written.name == "jsonencode" and len(written.arguments) == 1:
        written = e.bare(written.arguments[0])
    if not isinstance(written, e.Object):
        return
    for element in written.elements:
        if _shares_names(condition, element.value):
            key = values.text(value_of(element.key, cursor.scope))
            convert = then(_member(key), cursor.convert)
            yield from _follow(replace(cursor, convert=convert, entry=None), element.value, ())


def _member(key: str) -> Inverse:
    def find_member(value: Json) -> Json:
        whole = document_in(value) if isinstance(value, str) else value
        if not isinstance(whole, Mapping) or key not in whole:
            raise Unknown(f"the wanted value has no {key}")
        return whole[key]

    return find_member


def _shares_names(one: Expression, other: Expression) -> bool:
    """Whether two expressions refer to the same thing by the same steps."""
    first, second = (
        {str(steps) for part in e.walk(each) if (steps := e.steps_of(part)) is not None and steps[1]}
        for each in (one, other)
    )
    return not first.isdisjoint(second)


def _in_for(cursor: Cursor, expression: e.For, path: tuple[str, ...]) -> Iterator[TracedSite]:
    """Sites in the item of a `for` that has the first step of the path as its key or index."""
    if not path and not expression.grouped and expression.key is None:
        yield from lists.in_whole_for(cursor, expression, _follow)
        return
    if not path or expression.grouped:
        yield cursor.refuse("A collection made by `for` is not edited as a whole.", expression)
        return
    source = values.known(value_of(expression.source, cursor.scope))
    position = 0
    for inner, _ in _rounds(cursor, expression):
        scope = inner.scope
        if expression.condition is not None and not values.truth(value_of(expression.condition, scope)):
            # With another value it may be made, as `{ for name, value in var.given : name => value if value != null }`.
            if expression.key is not None and _names(expression.key, scope, path[0]):
                yield from _follow(inner, expression.value, path[1:])
            continue
        result_key: Value = position if expression.key is None else value_of(expression.key, scope)
        position += 1
        if values.text(result_key) == path[0]:
            yield from _follow(inner, expression.value, path[1:])
            condition = overrides.condition_on(expression.names[0], scope.bound[expression.names[0]])
            yield from overrides.override(inner, expression.value, path[1:], condition)
            return
    if _keeps_names(expression) and isinstance(source, Mapping) and path[0] not in source:
        yield from _follow(cursor, expression.source, path)
    yield cursor.refuse(f"The `for` makes no {path[0]}.", expression)


def _rounds(cursor: Cursor, expression: e.For) -> Iterator[tuple[Cursor, Alias]]:
    """The cursor in each round of a `for`, and the item of its source. Raises `Unknown` if that is not known."""
    source = values.known(value_of(expression.source, cursor.scope))
    listed = () if isinstance(source, Mapping) else values.items(source, "for")
    if isinstance(source, Mapping):
        pairs: list[tuple[Value, Value]] = [(key, source[key]) for key in sorted(source)]
    elif isinstance(source, values.SetOf):
        pairs = [(item, item) for item in source]
    else:
        pairs = list(enumerate(listed))
    for key, item in pairs:
        names = (key, item) if len(expression.names) > 1 else (item,)
        scope = replace(cursor.scope, bound={**cursor.scope.bound, **dict(zip(expression.names, names, strict=True))})
        held = conversions.place_in_set(listed, key)
        alias = Alias(cursor.document, expression.source, replace(cursor, chain=()), held, whole=True)
        yield replace(cursor, scope=scope, aliases={**cursor.aliases, expression.names[-1]: alias}), alias


def _names(key: Expression, scope: EvaluationScope, name: str) -> bool:
    try:
        return values.text(value_of(key, scope)) == name
    except Unknown:
        return False


def _keeps_names(expression: e.For) -> bool:
    """Whether a `for` makes the entries of a map as they are: `{ for name, value in given : name => value if … }`."""
    written = [each if each is None else e.bare(each) for each in (expression.key, expression.value)]
    names = [each.name if isinstance(each, e.Name) else "" for each in written]
    return len(expression.names) > 1 and names == list(expression.names)


# ------------------------------------------------------------------------------------------- which instances

_MADE, _NOT_MADE = "\0made", "\0not made"
_EXISTENCE = frozenset({_MADE, _NOT_MADE})
"""Last steps of a path: not the value there is asked for, but what decides whether there is one."""
_MOST_ROUNDS = 50
"""Rounds of a `for` that makes a list, in which conditions are looked at."""


def trace_instance(
    module: Module, document: Document, block: Node, key: str | int, *, made: bool, entry: Json = None
) -> Iterator[tuple[TracedSite, Json]]:
    """The sites that decide whether a block has the instance of a key, each with the value that is wanted there: it shall be made, or not.

    `module` is the instance of the module whose block it is. `entry` is what a map of which one is made would get for it, if that is known.
    The likeliest come first.
    """
    attributes = document.attributes(block)
    cursor = Cursor(document=document, scope=module.scope, module=module)
    with contextlib.suppress(Unknown, RecursionError):
        if "count" in attributes and isinstance(key, int):
            expression = read_attribute(document, attributes["count"])
            number = key + 1 if made else key
            for site in islice(_follow(cursor, expression, ()), _MOST_SITES):
                yield site, number
        elif "for_each" in attributes and isinstance(key, str):
            expression = read_attribute(document, attributes["for_each"])
            for site in islice(_follow(cursor, expression, (key, _MADE if made else _NOT_MADE)), _MOST_SITES):
                yield site, made
            for path, value in _collections(cursor, expression, key, made=made, entry=entry):
                for site in islice(_follow(cursor, expression, path), _MOST_SITES):
                    yield site, value
            is_named = module.parent is None and not isinstance(e.bare(expression), e.For | e.Object)
            if not made and is_named and isinstance(value_of(expression, cursor.scope), Mapping):
                yield replace(cursor.beside(expression, None), key=key), None


def _collections(
    cursor: Cursor, expression: Expression, key: str, *, made: bool, entry: Json
) -> Iterator[tuple[tuple[str, ...], Json]]:
    """The paths in the collection of a `for_each`, each with the value that makes the instance of a key or leaves it out. Raises `Unknown`."""
    if made and entry is not None:
        yield (key,), entry
    given = value_of(expression, cursor.scope)
    held = values.to_json(given)
    if made and isinstance(given, values.SetOf) and isinstance(held, list):
        yield (), [*held, key]
    if not made and isinstance(held, Mapping) and key in held:
        yield (), {name: value for name, value in held.items() if name != key}


def _in_existence(cursor: Cursor, expression: Expression, path: tuple[str, ...]) -> Iterator[TracedSite]:
    """Sites of the conditions that decide whether a collection has the key that the path begins with."""
    match expression:
        case e.Group(inner=inner):
            yield from _follow(cursor, inner, path)
        case e.Name() | e.AttributeAccess() | e.IndexAccess():
            yield from _in_traversal(cursor, expression, path)
        case e.Conditional(condition=condition, then=one, otherwise=other):
            truth = values.truth(value_of(condition, cursor.scope))
            yield from _conditions(cursor, condition, made=not truth)
            yield from _follow(cursor, one if truth else other, path)
        case e.FunctionCall(arguments=arguments):
            for argument in arguments:
                with contextlib.suppress(Unknown):
                    yield from _follow(cursor, argument, path)
        case e.For():
            yield from _in_rounds(cursor, expression, path)


def _in_rounds(cursor: Cursor, expression: e.For, path: tuple[str, ...]) -> Iterator[TracedSite]:
    """Sites of what decides about a round of a `for`: its condition, what its source has, and for a list also what its item is made by."""
    made = path[-1] == _MADE
    for inner, alias in islice(_rounds(cursor, expression), _MOST_ROUNDS):
        if expression.key is not None and not _names(expression.key, inner.scope, path[0]):
            continue
        if (condition := expression.condition) is not None and values.truth(value_of(condition, inner.scope)) != made:
            yield from _conditions(inner, condition, made=made)
        if expression.key is None:
            yield from _follow(inner, expression.value, path)
            continue
        there = replace(alias.cursor, chain=cursor.chain, convert=cursor.convert, depth=cursor.depth)
        yield from _follow(there, alias.source, (alias.key, path[-1]))
        if not made and not expression.grouped and (unequal := overrides.all_but(cursor, expression.key, path[0])):
            yield cursor.step(f"{cursor.document.at(expression.start)} all but {path[0]}").filtered(expression, unequal)


def _conditions(cursor: Cursor, condition: Expression, *, made: bool) -> Iterator[TracedSite]:
    """Sites that make a condition true or false, as `made`."""
    line = f"{cursor.document.at(condition.start)} decided by {source_of(cursor.document, condition)}"
    for compared in (False, True):
        for decided, convert in functions.deciding(condition, cursor.scope, made, compared=compared):
            there = replace(cursor.step(line), convert=convert, entry=None)
            with contextlib.suppress(Unknown):
                yield from _follow(there, decided, ())


# ------------------------------------------------------------------------------------------------ traversals


def _steps(cursor: Cursor, expression: Expression) -> tuple[str, tuple[str, ...]] | None:
    """Root name and steps of a traversal, with index expressions evaluated; None for any other expression."""
    steps: list[str] = []
    while not isinstance(expression, e.Name):
        match expression:
            case e.AttributeAccess(source=source, name=name):
                steps.append(name)
            case e.IndexAccess(source=source, key=key):
                steps.append(values.text(value_of(key, cursor.scope)))
            case e.Group(inner=source):
                pass
            case _:
                return None
        expression = source
    return expression.name, tuple(reversed(steps))


def _in_traversal(cursor: Cursor, expression: Expression, path: tuple[str, ...]) -> Iterator[TracedSite]:
    traversal = _steps(cursor, expression)
    shown = source_of(cursor.document, expression)
    if traversal is None:
        source = expression.source if isinstance(expression, e.AttributeAccess | e.IndexAccess) else None
        if source is None:
            yield cursor.refuse(f"{shown} is not followed.", expression)
        else:
            step = expression.name if isinstance(expression, e.AttributeAccess) else _index(cursor, expression)
            yield from _follow(cursor, source, (step, *path))
        return
    root, steps = traversal
    rest = (*steps[1:], *path)
    if root in cursor.aliases:
        yield from _in_alias(cursor, expression, cursor.aliases[root], (*steps, *path))
    elif root == "var" and steps:
        yield from _in_variable(cursor, expression, steps[0], rest)
    elif root == "local" and steps:
        yield from _in_local(cursor, expression, steps[0], rest)
    elif root == "module" and steps:
        yield from _in_outputs(cursor, expression, steps[0], rest)
    elif root == "data" and policies.is_policy_document(steps) and ".".join(steps[:2]) in module_data(cursor):
        yield from _in_policy(cursor, ".".join(steps[:2]), steps[2:], path)
    elif root in ("each", "count", "self", "path", "terraform"):
        yield cursor.refuse(f"{shown} names the instance and is not a value to edit.", expression)
    else:
        yield cursor.refuse(f"The value comes from another object: {shown}.", expression)
        if not path:
            yield from references.reference(cursor, expression)


_JSON = ("json", "minified_json")


def module_data(cursor: Cursor) -> Mapping[str, object]:
    """The data blocks of the module that tracing is in."""
    return cursor.module.source.data


def _in_policy(cursor: Cursor, name: str, more: tuple[str, ...], path: tuple[str, ...]) -> Iterator[TracedSite]:
    """Sites in the data block that makes a policy document. `more` are the steps behind its name: its key, if it has one, and `json`."""
    document, block = cursor.module.source.data[name]
    key = "" if more[0] in _JSON else more[0]
    rows = {"" if each is None else str(each): scope for each, scope in expand(cursor.module, document, block)}
    if more[1 if key else 0 :] not in {(each,) for each in _JSON} or key not in rows or not path:
        yield cursor.refuse(f"data.{name} is not edited as a whole.", block)
        return
    there = replace(cursor, document=document, scope=rows[key], aliases={}, entry=None)
    line = f"{document.at(block)} data.{name}{f'[{key}]' if key else ''}"
    yield from policies.in_policy(there.step(line), block, path, _follow, _within)


def _index(cursor: Cursor, expression: Expression) -> str:
    return values.text(value_of(expression.key, cursor.scope)) if isinstance(expression, e.IndexAccess) else ""


def _in_alias(cursor: Cursor, expression: Expression, alias: Alias, steps: tuple[str, ...]) -> Iterator[TracedSite]:
    shown = source_of(cursor.document, expression)
    if not alias.whole:
        if not steps or steps[0] != "value":
            yield cursor.refuse(f"{shown} is the key, which names the instance.", expression)
            return
        steps = steps[1:]
    value = value_of(alias.source, alias.cursor.scope)
    if isinstance(value, values.SetOf) and not conversions.holds_collections(value):
        yield cursor.refuse(f"{shown} is an item of a set, which names the instance.", expression)
        return
    there = replace(alias.cursor, chain=cursor.chain, convert=cursor.convert, depth=cursor.depth)
    line = f"{alias.document.at(alias.source.start)} {alias.key} of {source_of(alias.document, alias.source)}"
    yield from _follow(there.step(line), alias.source, (alias.key, *steps))


def _in_variable(cursor: Cursor, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[TracedSite]:
    module = cursor.module
    try:
        definition = module.definition(name)
    except Unknown as error:
        yield cursor.refuse(f"There is no place to edit: {error}.", expression)
        return
    document = definition.document
    given = read_attribute(document, definition.attribute)
    exists = bool(rest) and rest[-1] in _EXISTENCE
    if exists and definition.kind == "default" and module.parent is not None:
        return
    with contextlib.suppress(Unknown):
        if exists:
            raise Unknown("nothing is converted")
        now, constraint = value_of(given, definition.scope), module.constraint(name)
        if (filled := conversions.filled_in(now, constraint, rest)) is not None:
            whole, above = filled
            cursor = replace(cursor, convert=then(overrides.within(whole, rest[len(above) :]), cursor.convert))
            rest = above
        rest = conversions.steps_as_given(now, rest, constraint)
        cursor = replace(cursor, convert=then(conversions.as_given(now, constraint, rest), cursor.convert))
    label = "default of var." if definition.kind == "default" else ""
    line = f"{document.at(definition.attribute)} {label}{name} = {source_of(document, given)}"
    if definition.kind == "default" and module.parent is not None:
        yield from overrides.new_arguments(cursor.step(line), name, given, rest)
        return
    if definition.kind == "argument" and module.parent is not None and module.call is not None:
        parent = module.parent
        aliases = _each(document, module.call, parent, module.call_scope)
        there = replace(cursor, document=document, scope=module.call_scope, module=parent, aliases=aliases, entry=None)
        line = f"{document.at(definition.attribute)} {module.address}: {name} = {source_of(document, given)}"
        yield from _follow(there.step(line), given, rest)
        if not exists:
            yield from overrides.argument_overrides(there.step(line), module, given, rest)
        return
    there = replace(cursor, document=document, scope=EvaluationScope(), aliases={}, entry=None)
    yield from _follow(there.step(line), given, rest)


def _in_local(cursor: Cursor, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[TracedSite]:
    module = cursor.module
    if name not in module.source.locals:
        yield cursor.refuse(f"local.{name} is not declared in a file that is edited.", expression)
        return
    document, attribute = module.source.locals[name]
    given = read_attribute(document, attribute)
    there = replace(cursor, document=document, scope=module.scope, aliases={}, entry=None)
    there = there.step(f"{document.at(attribute)} local.{name} = {source_of(document, given)}")
    yield from _follow(there, given, rest)
    if not (rest and rest[-1] in _EXISTENCE):
        yield from overrides.beside(there, given, rest)


def _in_outputs(cursor: Cursor, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[TracedSite]:
    try:
        children = cursor.module.children(name)
    except Unknown as error:
        yield cursor.refuse(f"The value comes from module.{name}, which is not read: {error}.", expression)
        return
    child = children.get(None)
    if child is None and rest:
        child = next((each for key, each in children.items() if str(key) == rest[0]), None)
        rest = rest[1:]
    if child is None or not rest or rest[0] not in child.source.outputs:
        yield cursor.refuse(f"module.{name} has no such output.", expression)
        return
    document, block = child.source.outputs[rest[0]]
    given = child.written_output(rest[0])
    if given is None:
        yield cursor.refuse(f"The output {rest[0]} of module.{name} has no value.", expression)
        return
    there = replace(cursor, document=document, scope=child.scope, module=child, aliases={}, entry=None)
    line = f"{document.at(block)} {child.address}.{rest[0]} = {source_of(document, given)}"
    yield from _follow(there.step(line), given, rest[1:])
