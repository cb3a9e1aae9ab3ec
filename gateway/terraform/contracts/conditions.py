"""The guards that Terraform code carries itself, read as bounds: validations of variables, pre- and postconditions.

They are looked at as `terraform plan` would after the change is written into the code: a variable that feeds an attribute
directly has the attribute's new value. So plan and gateway cannot disagree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tree_sitter import Node

from gateway.model.contract import Bound
from gateway.model.json import Json
from gateway.terraform.config.instance import META, ResourceInstance
from gateway.terraform.config.module import Module
from gateway.terraform.contracts.bounds import CONDITION
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.evaluate import EvaluationScope, Unknown, evaluate
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document

Attributes = Mapping[str, Json]
Roots = Callable[[str, Iterable[str]], Mapping[str, Json]]
"""For a module's address and root names such as `aws_sqs_queue` or `data`: what the state knows of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guard:
    """One condition with its message."""

    document: Document
    block: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class _Feed:
    """An attribute whose value is a variable, nothing else: in this module and, by arguments, in those above."""

    attribute: str
    module: Module
    variable: str


class CodeConditions:
    """The native guards of a stack's resources."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def of(self, instance: ResourceInstance | None) -> Callable[[Attributes], tuple[Bound, ...]]:
        """A function from the attributes after a change to the guards' bounds; for no instance, to nothing."""
        if instance is None:
            return lambda _after: ()
        feeds = tuple(_feeds(instance))
        own = tuple(_own_guards(instance))

        def bounds(after: Attributes) -> tuple[Bound, ...]:
            found = [bound for feed in feeds if feed.attribute in after for bound in _validations(feed, after)]
            fed = {
                f.variable: after[f.attribute] for f in feeds if f.module is instance.module and f.attribute in after
            }
            return (*found, *(_condition(guard, self._scope(instance, guard, after, fed)) for guard in own))

        return bounds

    def _scope(self, instance: ResourceInstance, guard: _Guard, after: Attributes, fed: Attributes) -> EvaluationScope:
        roots = _roots_of(guard) - {"self", "var", "local", "each", "count", "module"}
        names = {**self._roots(instance.module.address, roots), "self": after, "var": _Variables(instance.module, fed)}
        return replace(instance.scope, names=names)


class _Variables(Mapping[str, "Json"]):
    """A module's variables, some of them with the value they will have."""

    def __init__(self, module: Module, fed: Attributes) -> None:
        self._module = module
        self._fed = fed

    def __getitem__(self, name: str) -> Json:
        if name not in self._module.source.variables:
            raise KeyError(name)
        return self._fed[name] if name in self._fed else self._module.variable(name)  # type: ignore[return-value]  # Json but for Opaque, which evaluate refuses

    def __contains__(self, name: object) -> bool:
        return name in self._module.source.variables

    def __iter__(self) -> Iterator[str]:
        return iter(self._module.source.variables)

    def __len__(self) -> int:
        return len(self._module.source.variables)


def _feeds(instance: ResourceInstance) -> Iterator[_Feed]:
    for attribute, node in instance.document.attributes(instance.block).items():
        if attribute in META or attribute in instance.hidden:
            continue
        module: Module | None = instance.module
        variable = _variable(instance.document, node)
        while module is not None and variable:
            yield _Feed(attribute=attribute, module=module, variable=variable)
            module, variable = _above(module, variable)


def _above(module: Module, variable: str) -> tuple[Module | None, str]:
    """The calling module and its variable that is the argument, empty where the argument is anything else."""
    try:
        definition = module.definition(variable)
    except Unknown:
        return None, ""
    if definition.kind != "argument" or definition.document is None or definition.attribute is None:
        return None, ""
    return module.parent, _variable(definition.document, definition.attribute)


def _variable(document: Document, attribute: Node) -> str:
    """The name where the expression is `var.name` and nothing else."""
    expression = e.bare(read_attribute(document, attribute))
    if (
        isinstance(expression, e.AttributeAccess)
        and isinstance(expression.source, e.Name)
        and expression.source.name == "var"
    ):
        return expression.name
    return ""


def _validations(feed: _Feed, after: Attributes) -> Iterator[Bound]:
    declared = feed.module.source.variables.get(feed.variable)
    if declared is None:
        return
    names = {"var": _Variables(feed.module, {feed.variable: after[feed.attribute]})}
    document, block = declared
    for inner in document.blocks(block, "validation"):
        guard = _Guard(document=document, block=inner)
        yield _condition(guard, EvaluationScope(module=feed.module, names=names), attribute=feed.attribute)


def _own_guards(instance: ResourceInstance) -> Iterator[_Guard]:
    for lifecycle in instance.document.blocks(instance.block, "lifecycle"):
        for kind in ("precondition", "postcondition"):
            for block in instance.document.blocks(lifecycle, kind):
                yield _Guard(document=instance.document, block=block)


def _roots_of(guard: _Guard) -> set[str]:
    attributes = guard.document.attributes(guard.block)
    found = (read_attribute(guard.document, node) for node in attributes.values())
    return {part.name for expression in found for part in e.walk(expression) if isinstance(part, e.Name)}


def _condition(guard: _Guard, scope: EvaluationScope, *, attribute: str = "") -> Bound:
    attributes = guard.document.attributes(guard.block)
    source = guard.document.at(attributes.get("condition", guard.block))
    limit, unknown = _outcome(guard, "condition", scope)
    if not unknown and not isinstance(limit, bool):
        unknown = "the condition is neither true nor false"
    message, _ = _outcome(guard, "error_message", scope)
    return Bound(
        attribute=attribute,
        name=CONDITION,
        limit=limit,
        source=source,
        message=message if isinstance(message, str) else "",
        unknown=unknown,
    )


def _outcome(guard: _Guard, name: str, scope: EvaluationScope) -> tuple[Json, str]:
    attribute = guard.document.attributes(guard.block).get(name)
    if attribute is None:
        return None, f"it has no {name}"
    try:
        return evaluate(guard.document, read_attribute(guard.document, attribute), scope), ""
    except Unknown as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001  whatever breaks here is a condition that is not known, and that denies
        return None, f"{type(error).__name__} in {guard.document.at(attribute)}"
