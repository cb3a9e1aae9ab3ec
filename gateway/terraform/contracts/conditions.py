"""Evaluates conditions to bounds: those of contracts, and those of the Terraform code (validations, pre- and postconditions).

Conditions of the code are evaluated as `terraform plan` would after the change is written into the code: a variable that
directly feeds an attribute has the attribute's new value. So the plan and the gateway cannot disagree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from gateway.core.model.contract import Bound
from gateway.core.model.json import Json
from gateway.terraform.config.module import META, Module, ResourceInstance
from gateway.terraform.config.sensitive import is_sensitive
from gateway.terraform.contracts.bounds import CONDITION, limit_problem
from gateway.terraform.contracts.contract import ConditionRule
from gateway.terraform.contracts.remembered import Remembered, key_of, references
from gateway.terraform.contracts.text import WrittenExpression, written_expression
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.evaluate import EvaluationScope, Unknown
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document

Attributes = Mapping[str, Json]
Lookup = Callable[[str, Iterable[str]], Mapping[str, Json]]
"""From a module's address and root names such as `aws_sqs_queue` or `data` to what the state records for each."""

_NOT_IN_STATE = frozenset({"self", "var", "local", "each", "count", "module"})
_OF_THE_INSTANCE = frozenset({"local", "each", "count"})
"""Roots of names whose values are those of the instance and its module, whatever changes."""


def evaluate_condition(rule: ConditionRule, scope: EvaluationScope, *, attribute: str = "") -> Bound:
    """The condition as a bound, with its message unless it holds; `unknown` unless it is certainly true or false. Never raises."""
    limit, unknown = rule.condition.evaluate(scope)
    if not unknown:
        unknown = limit_problem(CONDITION, limit)
    message: Json = ""
    if unknown or limit is not True:
        message, _ = rule.message.evaluate(scope)
    return Bound(
        attribute=attribute,
        name=CONDITION,
        limit=limit,
        source=rule.condition.source,
        message=message if isinstance(message, str) else rule.fallback_message,
        unknown=unknown,
    )


def without_secrets(rule: ConditionRule, module: Module) -> ConditionRule:
    """The condition of the code, without its message if that tells a secret of the code. Terraform refuses to show such a message too."""
    if not is_sensitive(rule.message.parsed, module):
        return rule
    return replace(rule, message=replace(rule.message, constant=(None, "it tells a secret")))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Feed:
    """A variable that directly feeds an attribute: in the resource's module or, by arguments, in one above it."""

    attribute: str
    module: Module
    variable: str
    validations: tuple[ConditionRule, ...]
    of_the_module: bool
    """Whether the validations refer to nothing but what the module has, and the variable itself."""
    known: Remembered[tuple[Bound, ...]] = field(default_factory=Remembered)

    def validated(self, after: Attributes) -> tuple[Bound, ...]:
        """The validations of the variable, evaluated with the new value of the attribute that it feeds; once for each value."""
        key = key_of([(after, self.attribute)]) if self.of_the_module else None
        return self.known.once(key, lambda: tuple(_validated(self, after)))


class CodeConditions:
    """The conditions that a stack's Terraform code declares for its resources."""

    def __init__(self, state: Lookup) -> None:
        self._state = state

    def of(self, instance: ResourceInstance | None) -> Callable[[Attributes], tuple[Bound, ...]]:
        """A function from an instance's attributes after a change to bounds; without an instance it returns none."""
        if instance is None:
            return lambda _after: ()
        feeds = tuple(_feeds(instance))
        rules = tuple(self._judged(instance, rule) for rule in _lifecycle_rules(instance))

        def bounds(after: Attributes) -> tuple[Bound, ...]:
            effective = [feed for feed in feeds if feed.attribute in after]
            fed = {feed.variable: after[feed.attribute] for feed in effective if feed.module is instance.module}
            return (
                *(bound for feed in effective for bound in feed.validated(after)),
                *(judged(after, fed) for judged in rules),
            )

        return bounds

    def _judged(self, instance: ResourceInstance, rule: ConditionRule) -> Callable[[Attributes, Attributes], Bound]:
        """The rule as a bound, from the attributes after a change and the variables that it feeds; evaluated once for each set of values."""
        wanted = sorted(references((rule.condition, rule.message)))
        told = without_secrets(rule, instance.module)
        plain = all(root in _OF_THE_INSTANCE or (root in ("self", "var") and name) for root, name in wanted)
        asked = [(root, name) for root, name in wanted if root not in _OF_THE_INSTANCE]
        known: Remembered[Bound] = Remembered()

        def judged(after: Attributes, fed: Attributes) -> Bound:
            # A variable that nothing feeds has the module's value, whatever changes.
            key = key_of([(after if root == "self" else fed, name) for root, name in asked]) if plain else None
            return known.once(key, lambda: evaluate_condition(told, self._scope(instance, rule, after, fed)))

        return judged

    def _scope(
        self, instance: ResourceInstance, rule: ConditionRule, after: Attributes, fed: Attributes
    ) -> EvaluationScope:
        roots = {root for expression in (rule.condition, rule.message) for root, _ in expression.references}
        recorded = self._state(instance.module.address, roots - _NOT_IN_STATE)
        names = {**recorded, "self": after, "var": _Variables(instance.module, fed)}
        return replace(instance.scope, names=names)


def validated(module: Module, variable: str, value: Json) -> Iterator[Bound]:
    """The validations of a variable as bounds, evaluated as if it had the value."""
    scope = EvaluationScope(module=module, names={"var": _Variables(module, {variable: value})})
    rules = (without_secrets(rule, module) for rule in validation_rules(module, variable))
    return (evaluate_condition(rule, scope) for rule in rules)


class _Variables(Mapping[str, "Json"]):
    """A module's variables, some of them with the value they will have."""

    def __init__(self, module: Module, fed: Attributes) -> None:
        self._module = module
        self._fed = fed

    def __getitem__(self, name: str) -> Json:
        if name not in self._module.source.variables:
            raise KeyError(name)
        return self._fed[name] if name in self._fed else self._module.variable(name)  # type: ignore[return-value]  # JSON, or an Opaque, which evaluate refuses

    def __contains__(self, name: object) -> bool:
        return name in self._module.source.variables

    def __iter__(self) -> Iterator[str]:
        return iter(self._module.source.variables)

    def __len__(self) -> int:
        return len(self._module.source.variables)


def _feeds(instance: ResourceInstance) -> Iterator[_Feed]:
    for attribute in sorted(instance.names - META):
        document, block = instance.holder(attribute)
        node = document.attributes(block).get(attribute)
        if node is None:
            continue
        module: Module | None = instance.module
        variable = _variable(document, node)
        while module is not None and variable:
            rules = tuple(validation_rules(module, variable))
            roots = {root for rule in rules for root, _ in references((rule.condition, rule.message))}
            yield _Feed(
                attribute=attribute,
                module=module,
                variable=variable,
                validations=rules,
                of_the_module=roots <= {"var", "local"},
            )
            module, variable = _caller(module, variable)


def _caller(module: Module, variable: str) -> tuple[Module | None, str]:
    """The calling module and the variable of it that is passed as the argument; empty if the argument is anything else."""
    try:
        definition = module.definition(variable)
    except Unknown:
        return None, ""
    if definition.kind != "argument":
        return None, ""
    return module.parent, _variable(definition.document, definition.attribute)


def _variable(document: Document, attribute: Node) -> str:
    """The variable's name if the attribute's expression is just `var.name`, else empty."""
    match e.bare(read_attribute(document, attribute)):
        case e.AttributeAccess(source=e.Name(name="var"), name=name):
            return name
    return ""


def _validated(feed: _Feed, after: Attributes) -> Iterator[Bound]:
    """The validations of a variable, evaluated with the new value of the attribute it feeds."""
    names = {"var": _Variables(feed.module, {feed.variable: after[feed.attribute]})}
    scope = EvaluationScope(module=feed.module, names=names)
    rules = (without_secrets(rule, feed.module) for rule in feed.validations)
    return (evaluate_condition(rule, scope, attribute=feed.attribute) for rule in rules)


def validation_rules(module: Module, variable: str) -> Iterator[ConditionRule]:
    """The `validation` blocks of a variable; none if the module has no such variable."""
    if variable in module.source.variables:
        document, block = module.source.variables[variable]
        for validation in document.blocks(block, "validation"):
            yield _rule(document, validation)


def _lifecycle_rules(instance: ResourceInstance) -> Iterator[ConditionRule]:
    for (document, holder), _ in instance.module.source.layers(instance.declared):
        for lifecycle in document.blocks(holder, "lifecycle"):
            for kind in ("precondition", "postcondition"):
                for block in document.blocks(lifecycle, kind):
                    yield _rule(document, block)


def _rule(document: Document, block: Node) -> ConditionRule:
    return ConditionRule(
        condition=_written(document, block, "condition"), message=_written(document, block, "error_message")
    )


def _written(document: Document, block: Node, name: str) -> WrittenExpression:
    """The expression of a block's attribute; one that cannot be evaluated if the block does not have the attribute."""
    attribute = document.attributes(block).get(name)
    if attribute is None:
        missing = e.Unsupported(block.start_byte, block.end_byte, f"it has no {name}")
        return written_expression(missing, text="", source=document.at(block))
    text = document.text(document.expression(attribute))
    return written_expression(read_attribute(document, attribute), text=text, source=document.at(attribute))
