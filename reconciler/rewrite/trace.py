"""From an attribute to the places that define it: every place where an edit could change its value, the likeliest first.

Tracing follows the expression as Terraform would evaluate it, and turns arithmetic round. It judges nothing: whether an edit
at a place changes only what is wanted, `reconciler.rewrite.footprint` says afterwards.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from gateway.terraform.config.instance import META, Nested, ResourceInstance, nested, pick
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown, Value
from reconciler.rewrite import trace_calls
from reconciler.rewrite.inverse import negated, then
from reconciler.rewrite.place import Alias, Cursor, Trace, source_of

__all__ = ["Trace", "trace", "traces"]

_DEPTH = 60


def trace(module: Module, address: str, path: str) -> Trace:
    """The likeliest place that defines an attribute; its kind is `refused` where there is none."""
    found = traces(module, address, path)
    return next((place for place in found if place.kind != "refused"), found[0])


def traces(module: Module, address: str, path: str) -> tuple[Trace, ...]:
    """All places where an edit could change an attribute, the likeliest first; at least one, perhaps refused."""
    instance = next((each for each in module.instances() if each.address == address), None)
    if instance is None:
        return (Trace(kind="refused", refused=f"The code declares no {address} whose key is known."),)
    steps = path.split(".")
    if steps[0] in instance.overridden:
        reason = f"{steps[0]} is set by an override file, which is not edited."
        return (Trace(kind="refused", refused=reason),)
    if steps[0] in META:
        return (Trace(kind="refused", refused=f"{steps[0]} is no attribute of a resource; Terraform itself reads it."),)
    if _ignored(instance, steps[0]):
        reason = f"lifecycle.ignore_changes names {steps[0]}: the code leaves it to others."
        return (Trace(kind="refused", refused=f"{instance.document.at(instance.block)}: {reason}"),)
    aliases = _each(instance.document, instance.block, instance.module, instance.scope)
    spot = Cursor(document=instance.document, scope=instance.scope, module=instance.module, aliases=aliases)
    try:
        return tuple(_in_block(spot, instance.block, steps, address)) or (spot.refuse("No place was found."),)
    except (Unknown, RecursionError) as error:
        return (spot.refuse(f"The value cannot be traced: {error}."),)


def _ignored(instance: ResourceInstance, name: str) -> bool:
    """Whether the resource's lifecycle says that changes of an attribute are no concern of the code."""
    for block in instance.document.blocks(instance.block, "lifecycle"):
        attribute = instance.document.attributes(block).get("ignore_changes")
        written = None if attribute is None else e.bare(read_attribute(instance.document, attribute))
        if isinstance(written, e.Name):
            return written.name == "all"
        items = written.items if isinstance(written, e.Tuple) else ()
        if any(isinstance(part, e.Name) and part.name == name for item in items for part in e.walk(item)):
            return True
    return False


def _each(document: Document, block: Node, module: Module, scope: EvaluationScope) -> Mapping[str, Alias]:
    """What `each` stands for in a resource or module block."""
    attribute = document.attributes(block).get("for_each")
    if attribute is None or scope.each is None:
        return {}
    source = read_attribute(document, attribute)
    spot = Cursor(document=document, scope=module.scope, module=module)
    return {"each": Alias(document, source, spot, scope.each[0], whole=False)}


# ---------------------------------------------------------------------------------------------------- blocks


def _in_block(spot: Cursor, block: Node, steps: Sequence[str], name: str) -> Iterator[Trace]:
    document = spot.document
    attribute = document.attributes(block).get(steps[0])
    if attribute is not None:
        expression = read_attribute(document, attribute)
        line = f"{document.at(attribute)} {name}.{steps[0]} = {source_of(document, expression)}"
        yield from _follow(spot.step(line), expression, tuple(steps[1:]))
        return
    rows = nested(document, block, steps[0], spot.scope)
    if rows and len(steps) > 1:
        row, rest = pick(rows, steps)
        if rest:
            yield from _in_block(_within(spot, row, steps[0]), row.block, rest, f"{name}.{steps[0]}")
            return
    if rows:
        yield spot.refuse(
            f"{steps[0]} is written as blocks, which are not added, removed or replaced as a whole.", block
        )
    elif len(steps) == 1 or steps[0] == "tags":
        line = f"{document.at(block)} {name} has no {steps[0]}"
        yield spot.step(line).place("attribute", block, ".".join(steps))
    else:
        yield spot.refuse(f"{name} has no {steps[0]}, and a block is not added.", block)


def _within(spot: Cursor, row: Nested, kind: str) -> Cursor:
    """The spot inside a nested block."""
    if row.dynamic is None:
        return replace(spot, scope=row.scope)
    given = spot.document.attributes(row.dynamic)
    iterator = read_attribute(spot.document, given["iterator"]) if "iterator" in given else None
    name = iterator.name if isinstance(iterator, e.Name) else kind
    source = read_attribute(spot.document, given["for_each"])
    alias = Alias(spot.document, source, replace(spot, chain=()), values.text(row.key), whole=False)
    return replace(spot, scope=row.scope, aliases={**spot.aliases, name: alias})


# ----------------------------------------------------------------------------------------------- expressions


def _follow(  # noqa: C901, PLR0912  one case for each form
    spot: Cursor, expression: Expression, path: tuple[str, ...]
) -> Iterator[Trace]:
    """Places that define the value at `path` inside an expression."""
    if spot.depth > _DEPTH:
        yield spot.refuse("The definition is nested too deeply, or refers to itself.", expression)
        return
    spot = replace(spot, depth=spot.depth + 1)
    match expression:
        case e.Group(inner=inner):
            yield from _follow(spot, inner, path)
        case e.LiteralValue() if not path:
            yield spot.place("literal", expression)
        case e.Tuple():
            yield from _in_tuple(spot, expression, path)
        case e.Object():
            yield from _in_object(spot, expression, path)
        case e.Name() | e.AttributeAccess() | e.IndexAccess():
            yield from _in_traversal(spot, expression, path)
        case e.FunctionCall():
            yield from trace_calls.call(spot, expression, path, _follow)
        case e.Unary(operator="-", operand=operand) if not path:
            convert = then(negated, spot.convert)
            yield from _follow(replace(spot, convert=convert), operand, path)
        case e.Binary() if not path:
            yield from trace_calls.arithmetic(spot, expression, _follow)
        case e.Conditional():
            yield from _in_conditional(spot, expression, path)
        case e.For():
            yield from _in_for(spot, expression, path)
        case e.Template(heredoc=True):
            yield spot.refuse("The text is a heredoc, which is not edited.", expression)
        case e.Template():
            yield spot.refuse("The text is put together from parts; which of them to edit is not certain.", expression)
        case e.Unsupported(reason=reason):
            yield spot.refuse(f"The expression is not followed: {reason}.", expression)
        case _:
            yield spot.refuse("The expression is not followed.", expression)


def _in_tuple(spot: Cursor, expression: e.Tuple, path: tuple[str, ...]) -> Iterator[Trace]:
    if not path:
        yield spot.place("list", expression)
    elif path[0].isdecimal() and int(path[0]) < len(expression.items):
        yield from _follow(replace(spot, element=None), expression.items[int(path[0])], path[1:])
    else:
        for item in expression.items:
            if _is(spot, item, path[0]):
                yield from _follow(replace(spot, element=None), item, path[1:])
                return
        yield spot.refuse(f"The list has no item {path[0]}.", expression)


def _is(spot: Cursor, expression: Expression, text: str) -> bool:
    try:
        return values.text(value_of(expression, spot.scope)) == text
    except Unknown:
        return False


def _in_object(spot: Cursor, expression: e.Object, path: tuple[str, ...]) -> Iterator[Trace]:
    if not path:
        yield spot.place("literal", expression)
        return
    elements = {values.text(value_of(element.key, spot.scope)): element for element in expression.elements}
    for length in range(1, len(path) + 1):
        element = elements.get(".".join(path[:length]))
        if element is not None:
            line = f"{spot.document.at(element.start)} {source_of(spot.document, element.key)} = " + source_of(
                spot.document, element.value
            )
            inner = replace(spot, element=element, holder=expression).step(line)
            yield from _follow(inner, element.value, path[length:])
            return
    if len(path) > 1 and any(isinstance(e.bare(each.value), e.Object) for each in expression.elements):
        yield spot.refuse(f"There is no {path[0]} in this map.", expression)
        return
    line = f"{spot.document.at(expression.start)} the map has no {'.'.join(path)}"
    yield replace(spot.step(line), element=None).place("entry", expression, ".".join(path))


def _in_conditional(spot: Cursor, expression: e.Conditional, path: tuple[str, ...]) -> Iterator[Trace]:
    try:
        truth = values.truth(value_of(expression.condition, spot.scope))
    except Unknown as error:
        yield spot.refuse(f"Which branch holds is not known: {error}.", expression)
        return
    condition = source_of(spot.document, expression.condition)
    line = f"{spot.document.at(expression.start)} {condition} is {'true' if truth else 'false'}"
    yield from _follow(spot.step(line), expression.then if truth else expression.otherwise, path)


def _in_for(spot: Cursor, expression: e.For, path: tuple[str, ...]) -> Iterator[Trace]:
    """The item of a `for` that makes the first step of the path."""
    if not path or expression.grouped:
        yield spot.refuse("A collection made by `for` is not edited as a whole.", expression)
        return
    source = values.known(value_of(expression.source, spot.scope))
    if isinstance(source, Mapping):
        pairs: list[tuple[Value, Value]] = [(key, source[key]) for key in sorted(source)]
    elif isinstance(source, values.SetOf):
        yield spot.refuse("A collection made from a set is not edited.", expression)
        return
    else:
        pairs = list(enumerate(values.items(source, "for")))
    position = 0
    for key, item in pairs:
        names = (key, item) if len(expression.names) > 1 else (item,)
        scope = replace(spot.scope, bound={**spot.scope.bound, **dict(zip(expression.names, names, strict=True))})
        if expression.condition is not None and not values.truth(value_of(expression.condition, scope)):
            continue
        made: Value = position if expression.key is None else value_of(expression.key, scope)
        position += 1
        if values.text(made) == path[0]:
            alias = Alias(spot.document, expression.source, replace(spot, chain=()), values.text(key), whole=True)
            aliases = {**spot.aliases, expression.names[-1]: alias}
            yield from _follow(replace(spot, scope=scope, aliases=aliases), expression.value, path[1:])
            return
    yield spot.refuse(f"The `for` makes no {path[0]}.", expression)


# ------------------------------------------------------------------------------------------------ traversals


def _steps(spot: Cursor, expression: Expression) -> tuple[str, tuple[str, ...]] | None:
    """Root and plain steps of a traversal, index expressions evaluated; None where it is no plain traversal."""
    steps: list[str] = []
    while not isinstance(expression, e.Name):
        match expression:
            case e.AttributeAccess(source=source, name=name):
                steps.append(name)
            case e.IndexAccess(source=source, key=key):
                steps.append(values.text(value_of(key, spot.scope)))
            case e.Group(inner=source):
                pass
            case _:
                return None
        expression = source
    return expression.name, tuple(reversed(steps))


def _in_traversal(spot: Cursor, expression: Expression, path: tuple[str, ...]) -> Iterator[Trace]:
    traversal = _steps(spot, expression)
    shown = source_of(spot.document, expression)
    if traversal is None:
        source = expression.source if isinstance(expression, e.AttributeAccess | e.IndexAccess) else None
        if source is None:
            yield spot.refuse(f"{shown} is not followed.", expression)
        else:
            step = expression.name if isinstance(expression, e.AttributeAccess) else _index(spot, expression)
            yield from _follow(spot, source, (step, *path))
        return
    root, steps = traversal
    rest = (*steps[1:], *path)
    if root in spot.aliases:
        yield from _in_alias(spot, expression, spot.aliases[root], (*steps, *path))
    elif root == "var" and steps:
        yield from _in_variable(spot, expression, steps[0], rest)
    elif root == "local" and steps:
        yield from _in_local(spot, expression, steps[0], rest)
    elif root == "module" and steps:
        yield from _in_outputs(spot, expression, steps[0], rest)
    elif root in ("each", "count", "self", "path", "terraform"):
        yield spot.refuse(f"{shown} names the instance, and is no value to edit.", expression)
    else:
        yield spot.refuse(f"The value comes from another object: {shown}.", expression)


def _index(spot: Cursor, expression: Expression) -> str:
    return values.text(value_of(expression.key, spot.scope)) if isinstance(expression, e.IndexAccess) else ""


def _in_alias(spot: Cursor, expression: Expression, alias: Alias, steps: tuple[str, ...]) -> Iterator[Trace]:
    shown = source_of(spot.document, expression)
    if not alias.whole:
        if not steps or steps[0] != "value":
            yield spot.refuse(f"{shown} is the key, which names the instance.", expression)
            return
        steps = steps[1:]
    value = value_of(alias.source, alias.spot.scope)
    if isinstance(value, values.SetOf):
        yield spot.refuse(f"{shown} is an item of a set, which names the instance.", expression)
        return
    there = replace(alias.spot, chain=spot.chain, convert=spot.convert, depth=spot.depth)
    line = f"{alias.document.at(alias.source.start)} {alias.key} of {source_of(alias.document, alias.source)}"
    yield from _follow(there.step(line), alias.source, (alias.key, *steps))


def _in_variable(spot: Cursor, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[Trace]:
    module = spot.module
    try:
        definition = module.definition(name)
    except Unknown as error:
        yield spot.refuse(f"There is no place to edit: {error}.", expression)
        return
    if definition.document is None or definition.attribute is None:
        yield spot.refuse(f"var.{name} stands in a JSON file of variable values, which is not edited.", expression)
        return
    document = definition.document
    given = read_attribute(document, definition.attribute)
    label = "default of var." if definition.kind == "default" else ""
    line = f"{document.at(definition.attribute)} {label}{name} = {source_of(document, given)}"
    if definition.kind == "default" and module.parent is not None:
        yield from _argument(spot.step(line), name, rest)
        return
    if definition.kind == "argument" and module.parent is not None and module.call is not None:
        parent = module.parent
        aliases = _each(document, module.call, parent, module.call_scope)
        there = replace(spot, document=document, scope=module.call_scope, module=parent, aliases=aliases, element=None)
        line = f"{document.at(definition.attribute)} {module.address}: {name} = {source_of(document, given)}"
    else:
        there = replace(spot, document=document, scope=EvaluationScope(), aliases={}, element=None)
    yield from _follow(there.step(line), given, rest)


def _argument(spot: Cursor, name: str, rest: tuple[str, ...]) -> Iterator[Trace]:
    """A default inside a called module is shared by all its callers: the call says otherwise, with an argument of its own."""
    module = spot.module
    if module.call is None or module.call_document is None or module.parent is None:
        yield spot.refuse(f"There is no call that could set {name}.")
    elif rest:
        yield spot.refuse(f"A part of the default of {name} in a shared module cannot be set by its callers.")
    else:
        there = replace(spot, document=module.call_document, module=module.parent, element=None)
        line = f"{module.call_document.at(module.call)} {module.address} gives no {name}"
        yield there.step(line).place("argument", module.call, name)


def _in_local(spot: Cursor, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[Trace]:
    module = spot.module
    if name not in module.source.locals or name in module.source.overridden_in(("locals",)):
        yield spot.refuse(f"local.{name} is not declared in a file that is edited.", expression)
        return
    document, attribute = module.source.locals[name]
    given = read_attribute(document, attribute)
    there = replace(spot, document=document, scope=module.scope, aliases={}, element=None)
    yield from _follow(there.step(f"{document.at(attribute)} local.{name} = {source_of(document, given)}"), given, rest)


def _in_outputs(spot: Cursor, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[Trace]:
    try:
        children = spot.module.children(name)
    except Unknown as error:
        yield spot.refuse(f"The value comes from module.{name}, which is not read: {error}.", expression)
        return
    child = children.get(None)
    if child is None and rest:
        child = next((each for key, each in children.items() if str(key) == rest[0]), None)
        rest = rest[1:]
    if child is None or not rest or rest[0] not in child.source.outputs:
        yield spot.refuse(f"module.{name} has no such output.", expression)
        return
    document, block = child.source.outputs[rest[0]]
    given = read_attribute(document, document.attributes(block)["value"])
    there = replace(spot, document=document, scope=child.scope, module=child, aliases={}, element=None)
    line = f"{document.at(block)} {child.address}.{rest[0]} = {source_of(document, given)}"
    yield from _follow(there.step(line), given, rest[1:])
