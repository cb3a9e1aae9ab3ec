"""The effect of an edit: every attribute of every instance before and after it, including values that are not known.

A value that cannot be evaluated is represented by a mark: the shape of its expression with every part of it that is known.
Two marks are equal only if nothing that the value depends on has changed.

Read `changes.py` first. Imports only the evaluator of `gateway.terraform`.
"""

import hashlib
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from tree_sitter import Node

from gateway.core.model.path import AttributePath
from gateway.terraform.address import Key, parse_address
from gateway.terraform.config.module import META, Blocks, Module, ResourceInstance, body
from gateway.terraform.config.source import names_in_block
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.functions import READING
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Opaque, Unknown, Value
from reconciler.terraform.json_documents import document_in

Footprint: TypeAlias = "bool | int | float | str | list[Footprint] | dict[str, Footprint] | UnknownMark | None"
"""A value, some parts of which may be marks."""
WITHOUT_VALUES = frozenset({"lifecycle", "depends_on"})
"""Blocks and arguments without values of attributes. The plan shows whether their conditions still hold."""


@dataclass(frozen=True, slots=True)
class UnknownMark:
    """Represents a value that is not known."""

    shape: tuple[object, ...]


def footprint_of(instance: ResourceInstance) -> Mapping[str, Footprint]:
    """The attributes of one instance."""
    return Marker().instance(instance, META)


@dataclass(frozen=True, slots=True)
class Marker:
    """Makes footprints and marks. Remembers the names it is following, so that circular references end."""

    following: set[tuple[int, str]] = field(default_factory=set)
    followed: dict[tuple[int, str], tuple[object, ...]] = field(default_factory=dict)
    """What was found behind each name. A name is followed once, however many definitions use it."""
    circles: list[tuple[int, str]] = field(default_factory=list)
    """Names at which following ended, because they were being followed."""

    def body(
        self, document: Document, block: Node, scope: EvaluationScope, without: frozenset[str]
    ) -> dict[str, Footprint]:
        """Footprints of the attributes and nested blocks of a block."""
        found = body(document, block, scope, without)
        # A dynamic block that makes no block is as good as none.
        return {name: self.of(value) for name, value in found.items() if value or not isinstance(value, Blocks)}

    def instance(self, instance: ResourceInstance, without: frozenset[str]) -> dict[str, Footprint]:
        """Footprints of the attributes and nested blocks of an instance, as override files leave them."""
        return {
            name: value
            for (document, block), names in instance.module.source.layers(instance.declared)
            for name, value in self.body(
                document, block, instance.scope, without | (names_in_block(document, block) - names)
            ).items()
        }

    def of(self, value: Value) -> Footprint:
        """The footprint of a value with opaque parts."""
        match value:
            case Opaque(origin=(e.Spanned() as expression, EvaluationScope() as scope)):
                return self.mark(cast("Expression", expression), scope)
            case Opaque(reason=reason):
                return UnknownMark(("opaque", reason))
            case Mapping():
                return {key: self.of(item) for key, item in value.items()}
            case str() | bool() | int() | float() | None:
                return value
            case _:
                return [self.of(item) for item in value]

    def expression(self, expression: Expression, scope: EvaluationScope) -> Footprint:
        """The footprint of an expression."""
        try:
            return self.of(value_of(expression, scope))
        except Unknown:
            return self.mark(expression, scope)

    def mark(self, expression: Expression, scope: EvaluationScope) -> UnknownMark:
        """The mark of an expression whose value is not known as a whole."""
        expression, scope = _of_instance(expression, scope)
        followed = self.follow(expression, scope)
        own = tuple(
            getattr(expression, name)
            for name in ("name", "operator", "names", "grouped", "expand", "text", "value", "heredoc")
            if isinstance(getattr(expression, name, None), str | bool | int | float | tuple)
        )
        texts = tuple(part for part in getattr(expression, "parts", ()) if isinstance(part, str))
        steps = tuple(step for step in getattr(expression, "steps", ()) if isinstance(step, str))
        of = self.mark if e.is_instance(expression) else self.expression
        inner = tuple(_frozen(of(child, scope)) for child in e.children(expression))
        shape = (type(expression).__name__, own, texts, steps, inner, followed, templates_read_by(expression, scope))
        # Marks hold marks, and definitions that use each other twice would double them with each.
        return UnknownMark((hashlib.sha256(repr(shape).encode()).hexdigest(),))

    def follow(self, expression: Expression, scope: EvaluationScope) -> tuple[object, ...]:
        """The footprints of the definition of the name that an expression begins with."""
        module = scope.module
        if not isinstance(expression, e.AttributeAccess | e.IndexAccess | e.Splat) or not isinstance(module, Module):
            return ()
        traversal = _whole_path(expression)
        if traversal is None or traversal[0] in scope.bound or traversal[0] in scope.names:
            return ()
        names = [step for step in traversal[1] if isinstance(step, str)]
        return self._once(module, traversal[0], names, _key_in(traversal[1], scope)) if names else ()

    def _once(self, module: Module, root: str, names: Sequence[str], instance: Key) -> tuple[object, ...]:
        key = (id(module), f"{root}.{names}.{instance!r}")
        if key in self.followed:
            return self.followed[key]
        if key in self.following:
            self.circles.append(key)
            return ()
        self.following.add(key)
        circles = len(self.circles)
        try:
            found = tuple(_frozen(part) for part in self._followed(module, root, names, instance))
        finally:
            self.following.discard(key)
        if circles == len(self.circles):  # Within a circle, what is found depends on where it was entered.
            self.followed[key] = found
        return found

    def _followed(self, module: Module, root: str, names: Sequence[str], key: Key) -> Iterator[Footprint]:  # noqa: C901  one case per root name
        """What a name stands for; of a resource or call with several instances only that of the key, if it is known."""
        if root == "var" and names[0] in module.source.variables:
            try:
                definition = module.definition(names[0])
            except Unknown:
                return
            yield self.expression(read_attribute(definition.document, definition.attribute), definition.scope)
        elif root == "local" and names[0] in module.source.locals:
            yield self.expression(read_attribute(*module.source.locals[names[0]]), module.scope)
        elif root == "module" and names[0] in module.source.calls:
            try:
                children = module.children(names[0])
            except Unknown:
                return
            for child in (each for own, each in children.items() if _is_at(own, key)):
                outputs = child.own_outputs()
                yield self.of({names[1]: outputs[names[1]]} if names[1:] and names[1] in outputs else outputs)
        elif root == "data" and ".".join(names[:2]) in module.source.data:
            document, block = module.source.data[".".join(names[:2])]
            yield {**self.body(document, block, module.scope, META)}
        elif f"{root}.{names[0]}" in module.source.resources:
            for instance in module.instances_of(f"{root}.{names[0]}"):
                address = parse_address(instance.address)
                if len(names) > 1 and (address is None or _is_at(address.key, key)):
                    yield self.instance(instance, WITHOUT_VALUES).get(names[1])


def _of_instance(expression: Expression, scope: EvaluationScope) -> tuple[Expression, EvaluationScope]:
    """`each.value.name` as `aws_queue.this.name`, if `each.value`, an iterator or a variable of a `for` is an instance of that resource."""
    if not isinstance(expression, e.AttributeAccess):
        return expression, scope
    traversal = e.steps_of(expression)
    if traversal is None or not (
        traversal[0] in scope.bound or traversal[0] in scope.iterators or traversal[0] == "each"
    ):
        return expression, scope
    try:
        source = value_of(expression.source, scope)
    except Unknown:
        return expression, scope
    match source:
        case Opaque(origin=(e.Spanned() as written, EvaluationScope() as there)):
            whole = cast("Expression", written)
            return e.AttributeAccess(expression.start, expression.end, whole, expression.name), there
    return expression, scope


def _whole_path(expression: Expression) -> tuple[str, tuple[str | Expression, ...]] | None:
    """Root name and steps of a traversal, those of a splat included."""
    if isinstance(expression, e.Splat):
        before = e.steps_of(expression.source)
        return None if before is None else (before[0], (*before[1], *expression.steps))
    return e.steps_of(expression)


def _key_in(steps: Sequence[str | Expression], scope: EvaluationScope) -> Key:
    """The key behind the first name of a path, as in `jobs[each.key].arn`; None if there is none, or it is not known."""
    if len(steps) < 2 or isinstance(steps[1], str):  # noqa: PLR2004  a name and its key
        return None
    try:
        key = value_of(steps[1], scope)
    except Unknown:
        return None
    return key if isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool)) else None


def _is_at(own: Key, key: Key) -> bool:
    """Whether an instance is the one that a key names, which may be written as a text or as a number. Without a key, all are."""
    return own is None or key is None or str(own) == str(key)


def _frozen(footprint: Footprint) -> object:
    """The footprint in a form that `==` compares with types: `true` is not `1`."""
    match footprint:
        case UnknownMark():
            return footprint
        case dict():
            return ("{", tuple((key, _frozen(footprint[key])) for key in sorted(footprint)))
        case list():
            return ("[", tuple(_frozen(item) for item in footprint))
        case _:
            return (type(footprint).__name__ if isinstance(footprint, bool) else "", footprint)


def differences(before: Footprint, after: Footprint, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The deepest paths at which two footprints differ. A map that is added or removed differs in each of its keys."""
    if isinstance(before, dict | None) and isinstance(after, dict | None) and (before or after):
        one, other = before or {}, after or {}
        for key in sorted(one.keys() | other.keys()):
            both = key in one and key in other
            if both or one.get(key) or other.get(key):
                yield from differences(one.get(key), other.get(key), (*path, key))
            else:
                yield (*path, key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one_item, other_item) in enumerate(zip(before, after, strict=True)):
            yield from differences(one_item, other_item, (*path, str(index)))
    elif _frozen(before) != _frozen(after) and not _is_converted(before, after):
        yield path


def _is_converted(before: Footprint, after: Footprint) -> bool:
    """Whether a number or bool is the text of the other, to which Terraform converts it: an attribute has one type.

    An entry more or less may decide whether a map of objects becomes one of texts.
    """
    text, plain = (before, after) if isinstance(before, str) else (after, before)
    return isinstance(text, str) and isinstance(plain, bool | int | float) and values.text(plain) == text


def locate(footprint: Footprint, path: AttributePath) -> tuple[tuple[str, ...], Footprint]:
    """The steps to a path in a footprint, and the footprint there (None if there is none).

    The index of a single nested block is added if the path omits it. A map key that contains dots is one step.
    """
    done: tuple[str, ...] = ()
    here = footprint
    for position, step in enumerate(path.steps):
        here = cast("Footprint", document_in(here) or here)
        if isinstance(here, list) and not step.isdecimal() and len(here) == 1:
            done, here = (*done, "0"), here[0]
        if isinstance(here, dict):
            rest = ".".join(path.steps[position:])
            if step not in here and rest in here:
                return (*done, rest), here[rest]
            here = here.get(step)
        elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        else:
            here = None
        done = (*done, step)
    return done, here


def templates_read_by(expression: Expression, scope: EvaluationScope) -> tuple[tuple[str, str], ...]:
    """Names and digests of the module's templates that a function may read; all of them if its path is not known."""
    module = scope.module
    if not isinstance(expression, e.FunctionCall) or not expression.arguments or not isinstance(module, Module):
        return ()
    if expression.name.removeprefix("core::") not in READING:
        return ()
    try:
        path = posixpath.normpath(values.text(value_of(expression.arguments[0], scope)))
    except Unknown:
        path = ""
    read = {name: content for name, content in module.source.templates.items() if path in ("", name.as_posix())}
    return tuple((name.as_posix(), hashlib.sha256(content).hexdigest()) for name, content in sorted(read.items()))
