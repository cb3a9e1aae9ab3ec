"""Which values of the code are secret because the code says so: those of variables and outputs marked `sensitive`, and what is made of them.

Source of the rules: https://developer.hashicorp.com/terraform/language/manage-sensitive-data. What cannot be told is taken to be secret.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.core.model.masking import IN_WORDS, Masker, holds_mask, is_masked
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import Module, Nested, ResourceInstance, nested, pick
from gateway.terraform.config.source import Declared
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown

_MARKS: Final = ("sensitive", "ephemeral")
"""Arguments of variables and outputs."""
_FOLLOWED: Final = frozenset({"var", "local", "module"})
"""Roots of names whose values the code makes. Those of resources and data sources are known from the state, which has its own marks."""
_NAMED: Final = b"sensitive"
"""What a document has that calls the function."""
_PLAIN: Final = 4
"""Characters from which a secret is found in any place of a text."""

Steps = tuple[str, ...]
_Name = tuple[str, Steps]


def is_sensitive(expression: Expression, module: Module, *, unveiled: bool = True) -> bool:
    """Whether the value of an expression of the module is secret. With `unveiled`, what its `nonsensitive()` names is not."""
    try:
        return _any(expression, module, (), frozenset(), unveiled=unveiled)
    except RecursionError:
        return True


def veiled(instance: ResourceInstance, attribute: str, value: Json, masker: Masker, recorded: Json) -> Json:
    """The declared value of an attribute with everything masked that the code makes of a secret.

    Where an expression does not show which part of a map that is, the marks of the state's value in `recorded` count, if it has any.
    """
    steps = AttributePath(attribute).steps
    try:
        veil = _Veil(instance.module, masker)
        return veil.of_block(instance.holder(steps[0]), instance.scope, steps, value, recorded)
    except (Unknown, RecursionError):
        return masker.mask(value)


def tells_secret(instance: ResourceInstance, attribute: str) -> bool:
    """Whether the code makes an attribute, or a part of it, of a secret. Nothing is evaluated, so every block of a kind counts."""
    steps = AttributePath(attribute).steps
    document, block = instance.holder(steps[0])
    try:
        return any(
            _any(each, instance.module, rest, frozenset(), unveiled=True)
            for each, rest in _written(document, block, steps)
        )
    except RecursionError:
        return True


def _written(document: Document, block: Node, steps: Steps) -> Iterator[tuple[Expression, Steps]]:
    """The expressions that make what the steps lead to in a block, each with the steps that are left; without steps, all in the block."""
    for name, attribute in document.attributes(block).items():
        if not steps or name == steps[0]:
            yield read_attribute(document, attribute), steps[1:]
    for inner in document.blocks(block):
        header = document.header(inner)
        if header[0] == "content":
            yield from _written(document, inner, steps)
        elif not steps or steps[0] in (header[0], header[-1]):
            below = tuple(each for each in steps[1:2] if not each.isdigit()) + steps[2:]
            is_dynamic = header[0] == "dynamic"
            source = document.attributes(inner).get("for_each") if is_dynamic else None
            if source is not None:
                yield read_attribute(document, source), ()
            yield from _contents(document, inner, below) if is_dynamic else _written(document, inner, below)


def _contents(document: Document, dynamic: Node, steps: Steps) -> Iterator[tuple[Expression, Steps]]:
    for content in document.blocks(dynamic, "content"):
        yield from _written(document, content, steps)


def secret_texts(module: Module) -> frozenset[str]:
    """What the code gives variables and outputs that it marks as sensitive, and `sensitive()`, literal by literal, in the module and all below it.

    Raises `errors.CodeInvalid` for too many modules.
    """
    found: set[str] = set()
    seen: set[_Name] = set()
    todo = [marked for each in module.modules() for marked in _marked(each)]
    while todo:
        expression, scope = todo.pop()
        found |= _literals(expression)
        todo += _made_of(expression, scope, seen)
    return frozenset(found - {"", "True", "False"})


def _marked(module: Module) -> Iterator[tuple[Expression, Module]]:
    """The expressions of a module whose values the code marks, each with the module whose names it has."""
    source = module.source
    for name, declared in source.variables.items():
        if _is_marked(module, declared) and (given := _given(module, name)) is not None:
            yield given
    for name, declared in source.outputs.items():
        if _is_marked(module, declared) and (written := module.written_output(name)) is not None:
            yield written, module
    for document in (*source.documents.values(), *source.overrides):
        if _NAMED in document.source:
            for expression, _ in _written(document, document.root, ()):
                for part in e.walk(expression):
                    if isinstance(part, e.FunctionCall) and part.name == "sensitive":
                        yield from ((argument, module) for argument in part.arguments)


def _given(module: Module, name: str) -> tuple[Expression, Module] | None:
    """What a variable is given, with the module whose names that has; None if nobody gives it anything."""
    try:
        given = module.definition(name)
    except Unknown:
        return None
    scope = module.parent if given.kind == "argument" and module.parent is not None else module
    return read_attribute(given.document, given.attribute), scope


def _literals(expression: Expression) -> set[str]:
    """The literals in an expression."""
    found: set[str] = set()
    for part in e.walk(expression):
        if isinstance(part, e.LiteralValue) and isinstance(part.value, str | float | int):
            found.add(str(part.value))
        elif isinstance(part, e.Template):
            found |= {text.strip() for text in part.parts if isinstance(text, str)}
    return found


def _made_of(expression: Expression, module: Module, seen: set[_Name]) -> Iterator[tuple[Expression, Module]]:
    """What the names in an expression stand for, each name once: that of a local, and that of a variable which is the whole value. What stands
    in a text beside others is rarely the secret, and would be taken out wherever it stands.
    """
    for part in e.walk(expression):
        steps = e.steps_of(part) if isinstance(part, e.AttributeAccess) else None
        if steps is None or not isinstance(first := next(iter(steps[1]), None), str):
            continue
        name = f"{module.address} {steps[0]}", (first,)
        local = module.source.locals.get(first) if steps[0] == "local" else None
        is_whole = steps[0] == "var" and part is e.bare(expression)
        if name in seen or (local is None and not is_whole):
            continue
        seen.add(name)
        given = _given(module, first) if local is None else (read_attribute(*local), module)
        if given is not None:
            yield given


def without_texts(text: str, secrets: frozenset[str]) -> str:
    """The text without these secrets. One of a few characters is taken out where it stands in quotes, or as a whole value after `=`.

    Empty if there are so many secrets, and so much text, that looking for each of them would take minutes.
    """
    if len(secrets) * len(text) > MOST_COMPARED:
        return ""
    longest_first = sorted(secrets, key=lambda each: (-len(each), each))
    for secret in longest_first:
        if len(secret) >= _PLAIN:
            text = text.replace(secret, f"({IN_WORDS})")
    if few := "|".join(re.escape(secret) for secret in longest_first if len(secret) < _PLAIN):
        text = re.sub(rf'(=\s*"?|")(?:{few})(?="|\s*$)', rf"\1({IN_WORDS})", text, flags=re.MULTILINE)
    return text


MOST_COMPARED: Final = 500_000_000
"""Characters of a text that are looked at for secrets, once for each of these: 1 MB for 500 secrets."""


class _Veil:
    """Masks the parts of one value."""

    def __init__(self, module: Module, masker: Masker) -> None:
        self._module = module
        self._masker = masker

    def of_block(
        self, declared: Declared, scope: EvaluationScope, steps: Sequence[str], value: Json, recorded: Json
    ) -> Json:
        """The value at the steps of a block. Raises `Unknown`."""
        if value is None or is_masked(value):
            return value
        document, block = declared
        attribute = document.attributes(block).get(steps[0])
        if attribute is not None:
            return self._of(read_attribute(document, attribute), tuple(steps[1:]), value, recorded)
        if any(is_sensitive(each, self._module) for each in _repeated(document, block, steps[0])):
            return self._masker.mask(value)
        rows = nested(document, block, steps[0], scope)
        if len(steps) > 1 and rows:
            row, rest = pick(rows, steps)
            if rest:
                return self.of_block((document, row.block), row.scope, rest, value, recorded)
            rows, value = (row,), [value]
            return self._rows(document, rows, value)[0]
        return self._rows(document, rows, value)

    def _rows(self, document: Document, rows: Sequence[Nested], value: Json) -> list[Json]:
        if not isinstance(value, list) or len(value) != len(rows):
            raise Unknown("the blocks are not told apart")
        return [
            {name: self.of_block((document, row.block), row.scope, (name,), item, None) for name, item in each.items()}
            if isinstance(each, Mapping)
            else each
            for row, each in zip(rows, value, strict=True)
        ]

    def _of(self, expression: Expression, steps: Steps, value: Json, recorded: Json) -> Json:
        expression, steps = _narrowed(expression, steps)
        if not _any(expression, self._module, steps, frozenset(), unveiled=True):
            return value
        written = e.bare(expression)
        if isinstance(written, e.Object) and not steps and isinstance(value, Mapping):
            inner = {key: each.value for each in written.elements if isinstance(key := e.literal(each.key), str)}
            if inner.keys() >= value.keys():
                known = recorded if isinstance(recorded, Mapping) else {}
                return {name: self._of(inner[name], (), item, known.get(name)) for name, item in value.items()}
        if isinstance(written, e.Tuple) and not steps and isinstance(value, list) and len(value) == len(written.items):
            return [self._of(each, (), item, None) for each, item in zip(written.items, value, strict=True)]
        marked = isinstance(value, Mapping) and isinstance(recorded, Mapping) and value.keys() <= recorded.keys()
        return value if marked and holds_mask(recorded) else self._masker.mask(value)


def _repeated(document: Document, block: Node, kind: str) -> Iterator[Expression]:
    """What the dynamic blocks of a kind are made of."""
    for inner in document.blocks(block, "dynamic"):
        source = document.attributes(inner).get("for_each")
        if document.header(inner)[1:] == (kind,) and source is not None:
            yield read_attribute(document, source)


def _narrowed(expression: Expression, steps: Steps) -> tuple[Expression, Steps]:
    """The part of a written-out object that the steps lead to, and the steps that are left."""
    while steps and isinstance(written := e.bare(expression), e.Object):
        found = [each.value for each in written.elements if e.literal(each.key) == steps[0]]
        if len(found) != 1:
            break
        expression, steps = found[0], steps[1:]
    return expression, steps


def _any(expression: Expression, module: Module, steps: Steps, seen: frozenset[_Name], *, unveiled: bool) -> bool:
    """Whether the value that the steps lead to, in the value of the expression, is secret."""
    expression, steps = _narrowed(expression, steps)
    match e.bare(expression):
        case e.FunctionCall(name="sensitive"):
            return True
        case e.FunctionCall(name="nonsensitive") if unveiled:
            return False
        case e.AttributeAccess() | e.IndexAccess() | e.Splat() | e.Name() as traversal:
            return _traversed(traversal, module, steps, seen, unveiled=unveiled)
        case written:
            return any(_any(each, module, (), seen, unveiled=unveiled) for each in e.children(written))


def _traversed(expression: Expression, module: Module, steps: Steps, seen: frozenset[_Name], *, unveiled: bool) -> bool:
    """The same for what may be a name of the module with steps behind it."""
    found = e.steps_of(expression)
    if found is None:
        return any(_any(each, module, (), seen, unveiled=unveiled) for each in e.children(expression))
    root, taken = found
    if any(_any(each, module, (), seen, unveiled=unveiled) for each in taken if not isinstance(each, str)):
        return True
    if root not in _FOLLOWED:
        return False
    if root == "module" and len(taken) > 1 and not isinstance(taken[1], str):
        taken = (taken[0], *taken[2:])  # without the key of the call: every instance counts
    names = (each if isinstance(each, str) else e.literal(each) for each in taken)
    plain = [each for each in takewhile(lambda each: isinstance(each, str), names) if isinstance(each, str)]
    complete = len(plain) == len(taken) and not any(isinstance(each, e.Splat) for each in e.walk(expression))
    return _named(root, (*plain, *(steps if complete else ())), module, seen)


def _named(root: str, steps: Steps, module: Module, seen: frozenset[_Name]) -> bool:
    if not steps:
        return True  # all of them
    name = f"{module.address} {root}", steps
    if name in seen:
        return False  # a circle, which Terraform refuses
    known = module.sensitive_names
    if name not in known:
        known[name] = _OF[root](steps, module, seen | {name})
    return known[name]


def _variable(steps: Steps, module: Module, seen: frozenset[_Name]) -> bool:
    declared = module.source.variables.get(steps[0])
    if declared is None:
        return False
    if _is_marked(module, declared):
        return True
    try:
        given = module.definition(steps[0])
    except Unknown:
        return False
    if given.kind != "argument" or module.parent is None:
        return False
    return _any(read_attribute(given.document, given.attribute), module.parent, steps[1:], seen, unveiled=True)


def _local(steps: Steps, module: Module, seen: frozenset[_Name]) -> bool:
    declared = module.source.locals.get(steps[0])
    return declared is not None and _any(read_attribute(*declared), module, steps[1:], seen, unveiled=True)


def _output(steps: Steps, module: Module, seen: frozenset[_Name]) -> bool:
    try:
        children = module.children(steps[0]).values()
    except Unknown:
        return False
    return any(
        _is_marked(child, child.source.outputs[name])
        or (
            (written := child.written_output(name)) is not None and _any(written, child, steps[2:], seen, unveiled=True)
        )
        for child in children
        for name in (child.source.outputs if len(steps) == 1 else steps[1:2])
        if name in child.source.outputs
    )


_OF: Final = {"var": _variable, "local": _local, "module": _output}


def _is_marked(module: Module, declared: Declared) -> bool:
    for mark in _MARKS:
        argument = module.source.argument(declared, mark)
        if argument is not None and e.literal(read_attribute(*argument)) is not False:
            return True
    return False
