"""From an attribute to the places that define it: every place where an edit could change its value, the likeliest first.

Tracing follows the expression as Terraform would evaluate it, and turns arithmetic round. It judges nothing: whether an edit
at a place changes only what is wanted, `reconciler.guard` says afterwards.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform import expression as e
from gateway.terraform import values
from gateway.terraform.evaluate import Scope, value_of
from gateway.terraform.expression import Expression
from gateway.terraform.grammar import read_attribute
from gateway.terraform.hcl import Document
from gateway.terraform.instance import Instance, Nested, nested, pick
from gateway.terraform.module import Module
from gateway.terraform.values import Failed, Unknown, Value

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
class _Alias:
    """What `each`, a dynamic block's iterator or a variable of a `for` stands for: one item of a collection."""

    document: Document
    source: Expression
    spot: "_Spot"
    key: str
    whole: bool
    """Whether the name is the item itself, or has it under `value`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    """Where tracing stands: the scope, what names stand for, the way here, and how to turn the value round."""

    document: Document
    scope: Scope
    module: Module
    aliases: Mapping[str, _Alias] = field(default_factory=dict)
    chain: tuple[str, ...] = ()
    convert: Inverse = field(default=lambda value: value)
    element: e.Element | None = None
    holder: e.Object | None = None
    depth: int = 0

    def step(self, line: str) -> "_Spot":
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
    if steps[0] in instance.hidden:
        reason = f"{steps[0]} is set by an override file, which is not edited."
        return (Trace(kind="refused", refused=reason),)
    if _ignored(instance, steps[0]):
        reason = f"lifecycle.ignore_changes names {steps[0]}: the code leaves it to others."
        return (Trace(kind="refused", refused=f"{instance.document.at(instance.block)}: {reason}"),)
    aliases = _each(instance.document, instance.block, instance.module, instance.scope)
    spot = _Spot(document=instance.document, scope=instance.scope, module=instance.module, aliases=aliases)
    try:
        return tuple(_in_block(spot, instance.block, steps, address)) or (spot.refuse("No place was found."),)
    except (Unknown, RecursionError) as error:
        return (spot.refuse(f"The value cannot be traced: {error}."),)


def _ignored(instance: Instance, name: str) -> bool:
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


def _each(document: Document, block: Node, module: Module, scope: Scope) -> Mapping[str, _Alias]:
    """What `each` stands for in a resource or module block."""
    attribute = document.attributes(block).get("for_each")
    if attribute is None or scope.each is None:
        return {}
    source = read_attribute(document, attribute)
    spot = _Spot(document=document, scope=module.scope, module=module)
    return {"each": _Alias(document, source, spot, scope.each[0], whole=False)}


# ---------------------------------------------------------------------------------------------------- blocks


def _in_block(spot: _Spot, block: Node, steps: Sequence[str], name: str) -> Iterator[Trace]:
    document = spot.document
    attribute = document.attributes(block).get(steps[0])
    if attribute is not None:
        expression = read_attribute(document, attribute)
        line = f"{document.at(attribute)} {name}.{steps[0]} = {_shown(document, expression)}"
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


def _within(spot: _Spot, row: Nested, kind: str) -> _Spot:
    """The spot inside a nested block."""
    if row.dynamic is None:
        return replace(spot, scope=row.scope)
    given = spot.document.attributes(row.dynamic)
    iterator = read_attribute(spot.document, given["iterator"]) if "iterator" in given else None
    name = iterator.name if isinstance(iterator, e.Name) else kind
    source = read_attribute(spot.document, given["for_each"])
    alias = _Alias(spot.document, source, replace(spot, chain=()), values.text(row.key), whole=False)
    return replace(spot, scope=row.scope, aliases={**spot.aliases, name: alias})


def _shown(document: Document, expression: Expression) -> str:
    """The source of an expression on one line, shortened."""
    text = " ".join(document.source[expression.start : expression.end].decode().split())
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004  a readable line


# ----------------------------------------------------------------------------------------------- expressions


def _follow(  # noqa: C901, PLR0912  one case for each form
    spot: _Spot, expression: Expression, path: tuple[str, ...]
) -> Iterator[Trace]:
    """Places that define the value at `path` inside an expression."""
    if spot.depth > _DEPTH:
        yield spot.refuse("The definition is nested too deeply, or refers to itself.", expression)
        return
    spot = replace(spot, depth=spot.depth + 1)
    match expression:
        case e.Group(inner=inner):
            yield from _follow(spot, inner, path)
        case e.Literal() if not path:
            yield spot.place("literal", expression)
        case e.Tuple():
            yield from _in_tuple(spot, expression, path)
        case e.Object():
            yield from _in_object(spot, expression, path)
        case e.Name() | e.Attribute() | e.Index():
            yield from _in_traversal(spot, expression, path)
        case e.Call():
            yield from _in_call(spot, expression, path)
        case e.Unary(operator="-", operand=operand) if not path:
            convert = _then(_negated, spot.convert)
            yield from _follow(replace(spot, convert=convert), operand, path)
        case e.Binary() if not path:
            yield from _in_arithmetic(spot, expression)
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


def _in_tuple(spot: _Spot, expression: e.Tuple, path: tuple[str, ...]) -> Iterator[Trace]:
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


def _is(spot: _Spot, expression: Expression, text: str) -> bool:
    try:
        return values.text(value_of(expression, spot.scope)) == text
    except Unknown:
        return False


def _in_object(spot: _Spot, expression: e.Object, path: tuple[str, ...]) -> Iterator[Trace]:
    if not path:
        yield spot.place("literal", expression)
        return
    elements = {values.text(value_of(element.key, spot.scope)): element for element in expression.elements}
    for length in range(1, len(path) + 1):
        element = elements.get(".".join(path[:length]))
        if element is not None:
            line = f"{spot.document.at(element.start)} {_shown(spot.document, element.key)} = " + _shown(
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


def _in_conditional(spot: _Spot, expression: e.Conditional, path: tuple[str, ...]) -> Iterator[Trace]:
    try:
        truth = values.truth(value_of(expression.condition, spot.scope))
    except Unknown as error:
        yield spot.refuse(f"Which branch holds is not known: {error}.", expression)
        return
    condition = _shown(spot.document, expression.condition)
    line = f"{spot.document.at(expression.start)} {condition} is {'true' if truth else 'false'}"
    yield from _follow(spot.step(line), expression.then if truth else expression.otherwise, path)


def _in_for(spot: _Spot, expression: e.For, path: tuple[str, ...]) -> Iterator[Trace]:
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
            alias = _Alias(spot.document, expression.source, replace(spot, chain=()), values.text(key), whole=True)
            aliases = {**spot.aliases, expression.names[-1]: alias}
            yield from _follow(replace(spot, scope=scope, aliases=aliases), expression.value, path[1:])
            return
    yield spot.refuse(f"The `for` makes no {path[0]}.", expression)


# ------------------------------------------------------------------------------------------------ traversals


def _steps(spot: _Spot, expression: Expression) -> tuple[str, tuple[str, ...]] | None:
    """Root and plain steps of a traversal, index expressions evaluated; None where it is no plain traversal."""
    steps: list[str] = []
    while not isinstance(expression, e.Name):
        match expression:
            case e.Attribute(source=source, name=name):
                steps.append(name)
            case e.Index(source=source, key=key):
                steps.append(values.text(value_of(key, spot.scope)))
            case e.Group(inner=source):
                pass
            case _:
                return None
        expression = source
    return expression.name, tuple(reversed(steps))


def _in_traversal(spot: _Spot, expression: Expression, path: tuple[str, ...]) -> Iterator[Trace]:
    traversal = _steps(spot, expression)
    shown = _shown(spot.document, expression)
    if traversal is None:
        source = expression.source if isinstance(expression, e.Attribute | e.Index) else None
        if source is None:
            yield spot.refuse(f"{shown} is not followed.", expression)
        else:
            step = expression.name if isinstance(expression, e.Attribute) else _index(spot, expression)
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


def _index(spot: _Spot, expression: Expression) -> str:
    return values.text(value_of(expression.key, spot.scope)) if isinstance(expression, e.Index) else ""


def _in_alias(spot: _Spot, expression: Expression, alias: _Alias, steps: tuple[str, ...]) -> Iterator[Trace]:
    shown = _shown(spot.document, expression)
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
    line = f"{alias.document.at(alias.source.start)} {alias.key} of {_shown(alias.document, alias.source)}"
    yield from _follow(there.step(line), alias.source, (alias.key, *steps))


def _in_variable(spot: _Spot, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[Trace]:
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
    line = f"{document.at(definition.attribute)} {label}{name} = {_shown(document, given)}"
    if definition.kind == "default" and module.parent is not None:
        yield from _argument(spot.step(line), name, rest)
        return
    if definition.kind == "argument" and module.parent is not None and module.call is not None:
        parent = module.parent
        aliases = _each(document, module.call, parent, module.call_scope)
        there = replace(spot, document=document, scope=module.call_scope, module=parent, aliases=aliases, element=None)
        line = f"{document.at(definition.attribute)} {module.address}: {name} = {_shown(document, given)}"
    else:
        there = replace(spot, document=document, scope=Scope(), aliases={}, element=None)
    yield from _follow(there.step(line), given, rest)


def _argument(spot: _Spot, name: str, rest: tuple[str, ...]) -> Iterator[Trace]:
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


def _in_local(spot: _Spot, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[Trace]:
    module = spot.module
    if name not in module.source.locals or name in module.source.hidden_in(("locals",)):
        yield spot.refuse(f"local.{name} is not declared in a file that is edited.", expression)
        return
    document, attribute = module.source.locals[name]
    given = read_attribute(document, attribute)
    there = replace(spot, document=document, scope=module.scope, aliases={}, element=None)
    yield from _follow(there.step(f"{document.at(attribute)} local.{name} = {_shown(document, given)}"), given, rest)


def _in_outputs(spot: _Spot, expression: Expression, name: str, rest: tuple[str, ...]) -> Iterator[Trace]:
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
    line = f"{document.at(block)} {child.address}.{rest[0]} = {_shown(document, given)}"
    yield from _follow(there.step(line), given, rest[1:])


# ------------------------------------------------------------------------------------------------- functions


_SAME = frozenset({"tolist", "toset", "tomap", "tonumber", "tostring", "tobool", "sensitive", "nonsensitive"})


def _in_call(spot: _Spot, expression: e.Call, path: tuple[str, ...]) -> Iterator[Trace]:
    arguments = expression.arguments
    if expression.expand:
        yield spot.refuse(f"{expression.name}() with `...` is not followed.", expression)
    elif expression.name in _SAME and len(arguments) == 1:
        yield from _follow(spot, arguments[0], path)
    elif expression.name == "merge" and path:
        yield from _in_merge(spot, expression, path)
    elif expression.name == "lookup" and len(arguments) > 1:
        yield from _in_lookup(spot, expression, path)
    elif expression.name in ("try", "coalesce"):
        yield from _in_choice(spot, expression, path)
    else:
        yield spot.refuse(f"{expression.name}() is not turned round.", expression)


def _in_merge(spot: _Spot, expression: e.Call, path: tuple[str, ...]) -> Iterator[Trace]:
    """The last map that holds the key; then maps after it that are written right there and could hold it."""
    later: list[Expression] = []
    for argument in reversed(expression.arguments):
        try:
            holds = _holds(value_of(argument, spot.scope), path)
        except Unknown as error:
            yield spot.refuse(f"Which map of merge() holds the value is not known: {error}.", argument)
            break
        if holds:
            line = f"{spot.document.at(argument.start)} of merge(): {_shown(spot.document, argument)}"
            yield from _follow(spot.step(line), argument, path)
            break
        later.append(argument)
    written = [argument for argument in later if isinstance(e.bare(argument), e.Object)]
    for argument in written or later[:1]:
        yield from _follow(spot, argument, path)


def _holds(value: Value, path: tuple[str, ...]) -> bool:
    if values.known(value) is None:
        return False
    table = values.mapping(value, "merge()")
    return any(".".join(path[:length]) in table for length in range(1, len(path) + 1))


def _in_lookup(spot: _Spot, expression: e.Call, path: tuple[str, ...]) -> Iterator[Trace]:
    source, key, *default = expression.arguments
    name = values.text(value_of(key, spot.scope))
    yield from _follow(spot, source, (name, *path))
    if name not in values.mapping(value_of(source, spot.scope), "lookup()") and default:
        yield from _follow(spot, default[0], path)


def _in_choice(spot: _Spot, expression: e.Call, path: tuple[str, ...]) -> Iterator[Trace]:
    """What was passed over could be given a value of its own; then the argument that holds."""
    for argument in expression.arguments:
        try:
            value = value_of(argument, spot.scope)
        except Failed:
            value = None
        except Unknown as error:
            yield spot.refuse(f"Which argument of {expression.name}() holds is not known: {error}.", argument)
            return
        passed = value is None or (value == "" and expression.name == "coalesce")
        for place in _follow(spot, argument, path):
            if not passed or place.kind == "entry" or place.element is not None:
                yield place
        if not passed:
            return
    yield spot.refuse(f"No argument of {expression.name}() holds.", expression)


# ------------------------------------------------------------------------------------------------ arithmetic


def _then(first: Inverse, second: Inverse) -> Inverse:
    """An inverse that takes what an outer one gives."""
    return lambda value: first(second(value))


def _negated(value: Json) -> Json:
    return values.number(-values.decimal(value))


def _in_arithmetic(spot: _Spot, expression: e.Binary) -> Iterator[Trace]:
    """The side that is named, turned round by the side that is known."""
    sides = ((expression.left, expression.right, True), (expression.right, expression.left, False))
    for side, other, left in sides:
        if isinstance(e.bare(side), e.Literal) or expression.operator not in "+-*/":
            continue
        try:
            constant = value_of(other, spot.scope)
            inverse = _inverse(expression.operator, constant, left=left)
        except Unknown as error:
            yield spot.refuse(f"The calculation cannot be turned round: {error}.", expression)
            continue
        line = f"{spot.document.at(expression.start)} turned round: {_shown(spot.document, expression)}"
        yield from _follow(replace(spot.step(line), convert=_then(inverse, spot.convert)), side, ())
    if all(isinstance(e.bare(side), e.Literal) for side, _, _ in sides) or expression.operator not in "+-*/":
        yield spot.refuse("The value is calculated from numbers in place.", expression)


def _inverse(operator: str, constant: Value, *, left: bool) -> Inverse:
    """What to put on one side so that the result is the value; exact, and whole."""
    known = values.decimal(constant)
    if operator in "*/" and not known:
        raise Failed("a factor is zero")

    def invert(value: Json) -> Json:
        wanted = values.decimal(value)
        match operator:
            case "+":
                result = wanted - known
            case "-":
                result = wanted + known if left else known - wanted
            case "*":
                result = values.EXACT.divide(wanted, known)
            case _:
                result = wanted * known if left else values.EXACT.divide(known, wanted)
        if result != result.to_integral_value():
            raise Unknown(f"{value} is not reachable by a whole number")
        return int(result)

    return invert
