"""Resolves a stack's contract rules to the `Contract` of any address, evaluated in the context of the module that has them."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gateway.core.errors import CodeInvalid
from gateway.core.model.contract import AgentGrant, Bound, Contract
from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.address import Address, fits, parse_address, written_key
from gateway.terraform.config.module import Module, ResourceInstance
from gateway.terraform.config.sensitive import is_sensitive
from gateway.terraform.contracts.attribute_names import Seen, check_attributes
from gateway.terraform.contracts.bounds import limit_problem
from gateway.terraform.contracts.conditions import CodeConditions, evaluate_condition
from gateway.terraform.contracts.contract import BoundRule, ConditionRule, ResourceRule
from gateway.terraform.contracts.remembered import Remembered, key_of, references
from gateway.terraform.contracts.targets import MissingTarget, missing_targets
from gateway.terraform.contracts.text import WrittenExpression
from gateway.terraform.lang.evaluate import EvaluationScope

Attributes = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    """A rule that matches a resource, and the module that its expressions are evaluated in."""

    rule: ResourceRule
    module: Module


class Contracts:
    """The contracts of one stack."""

    def __init__(
        self,
        *,
        root: Module,
        rules: Mapping[str, Sequence[ResourceRule]],
        instance: Callable[[str], ResourceInstance | None],
        declared: Callable[[str], Attributes],
        code_conditions: CodeConditions,
        seen: Seen = lambda _types: (),
    ) -> None:
        """`rules` are by the directory of their module, `.` for the root. `declared` returns the declared attributes of a resource that is not in the state yet.

        Raises `errors.CodeInvalid` if a rule refers to a variable or a local that its module does not have, or names an attribute that
        neither the provider's schema nor `seen` has.
        """
        self._modules = {module.address: module for module in root.modules()}
        self._rules = rules
        self._instance = instance
        self._declared = declared
        self._code_conditions = code_conditions
        self._resolved: dict[str, Contract] = {}
        for directory, group in rules.items():
            _check_references(group, root.sources[directory].variables, root.sources[directory].locals)
            check_attributes(group, seen)

    def contract(self, address: str) -> Contract:
        """All contracts for the resource at `address` in one; an empty contract if it is not an address."""
        contract = self._resolved.get(address)
        if contract is None:
            contract = self._resolved[address] = self._contract(address)
        return contract

    def warnings(self, addresses: Iterable[str], recorded: Callable[[str], Attributes | None]) -> tuple[str, ...]:
        """Likely mistakes: blocks that match no resource, bounds and conditions on attributes that no matched resource has."""
        matched: dict[str, list[Attributes | None]] = {}
        for address in addresses:
            for match in self._matches(address):
                matched.setdefault(match.rule.source, []).append(recorded(address))
        rules = [rule for group in self._rules.values() for rule in group]
        sentences = [sentence for rule in rules for sentence in _warnings(rule, matched.get(rule.source, []))]
        return tuple(dict.fromkeys([*sentences, *_idle_conditions(rules, matched)]))

    def missing(self, addresses: Iterable[str]) -> tuple[MissingTarget, ...]:
        """The contracts for a type or a resource that is not among the addresses of the code and the state, nor among the code's blocks."""
        blocks = (
            f"{module.address}.{name}" if module.address else name
            for module in self._modules.values()
            for name in module.source.resources
        )
        known = frozenset((*addresses, *blocks))
        rules = tuple(rule for group in self._rules.values() for rule in group)
        return missing_targets(rules, known, lambda address: (match.rule for match in self._matches(address)))

    def _matches(self, address: str) -> tuple[_Match, ...]:
        where = parse_address(address)
        return () if where is None else tuple(self._matching(where))

    def _matching(self, where: Address) -> Iterator[_Match]:
        """The matching rules of the resource's module and of every module above it. Each matches the address relative to its own module."""
        for depth in range(len(where.modules) + 1):
            address = ".".join(f"module.{name}{written_key(key)}" for name, key in where.modules[:depth])
            module = self._modules.get(address)
            if module is None:
                continue
            relative = replace(where, modules=where.modules[depth:])
            for rule in self._rules.get(module.source.directory, ()):
                if matches(rule, relative):
                    yield _Match(rule=rule, module=module)

    def _contract(self, address: str) -> Contract:
        matching = self._matches(address)
        judged = [_Judged.of(match) for match in matching]
        rules = [match.rule for match in matching]
        code_bounds = self._code_conditions.of(self._instance(address))
        declared = functools.partial(self._declared, address)

        def evaluate(after: Attributes, before: Attributes) -> tuple[Bound, ...]:
            whole = {**declared(), **after}
            bounds = [bound for each in judged for bound in each.bounds(whole, before)]
            # One enforce block may apply to a resource through several resource blocks of its contract.
            return tuple({(b.source, b.attribute, b.name): b for b in (*bounds, *code_bounds(whole))}.values())

        # Show the block that withholds the resource from agents, else the first.
        source = next((rule.source for rule in rules if not rule.managed_by_agent), rules[0].source if rules else "")
        return Contract(
            owner=next((rule.owner for rule in rules if rule.owner), ""),
            managed_by_agent=bool(rules) and all(rule.managed_by_agent for rule in rules),
            mutable=_joined(rule.mutable for rule in rules),
            bounded=_joined((bound.attribute for bound in rule.bounds) for rule in rules),
            immutable=_joined(rule.immutable for rule in rules),
            critical=any(rule.critical for rule in rules),
            prevent_delete=any(rule.prevent_delete for rule in rules),
            grants=tuple(_grant(rule) for rule in rules),
            source=source,
            evaluate=evaluate,
        )


def _grant(rule: ResourceRule) -> AgentGrant:
    return AgentGrant(source=rule.source, allow_delete=rule.allow_delete, allow_invoke=rule.allow_invoke)


def matches(rule: ResourceRule, where: Address) -> bool:
    """Whether the rule's patterns match the resource; `where` is relative to the rule's module."""
    if where.data or not fits(rule.types, where.resource_type):
        return False
    if not any(mark in rule.names for mark in ".["):
        return fits(rule.names, where.name)
    resource = f"{where.name}{written_key(where.key)}"
    forms = (
        str(where),
        str(where.bare),
        f"{where.resource_type}.{resource}",
        f"{where.resource_type}.{where.name}",
        resource,
    )
    return any(fits(rule.names, form) for form in forms)


Evaluated = Callable[[EvaluationScope], Bound]
_OF_THE_MODULE: Final = frozenset({"var", "local"})
"""Roots of names whose values are those of the module, whatever changes."""
_OF_THE_CHANGE: Final = frozenset({"self", "before"})
"""Roots of names whose members are the attributes of the resource, after and before the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """The bounds and conditions of a match, with what can be known of them before a change is."""

    module: Module
    bounds_and_own: tuple[Evaluated, ...]
    shared: tuple[tuple[frozenset[str], Evaluated], ...]
    """Conditions of the whole contract, with the attributes of the resource that they ask for."""

    @classmethod
    def of(cls, match: _Match) -> "_Judged":
        """Of a rule that matches."""
        rule, module = match.rule, match.module
        limits = (replace(each, limit=_told(each.limit, module)) for each in rule.bounds)
        return cls(
            module=module,
            bounds_and_own=(
                *(_once((each.limit,), functools.partial(_bound, each)) for each in limits),
                *(_condition(each, module) for each in rule.enforcements),
            ),
            shared=tuple((frozenset(_own_attributes(each)), _condition(each, module)) for each in rule.shared),
        )

    def bounds(self, after: Attributes, before: Attributes) -> Iterator[Bound]:
        """The bounds for a change; a condition of the whole contract only for a resource that has what it asks for."""
        scope = EvaluationScope(module=self.module, names={"self": after, "before": before})
        for evaluated in self.bounds_and_own:
            yield evaluated(scope)
        for own, evaluated in self.shared:
            if all(name in after or name in before for name in own):
                yield evaluated(scope)


def _told(expression: WrittenExpression, module: Module) -> WrittenExpression:
    """The expression; unknown if it reads a secret of the code: what a contract demands is shown to everyone, and whether it holds tells too."""
    if not is_sensitive(expression.parsed, module, unveiled=False):
        return expression
    return replace(expression, constant=(None, _NOT_TOLD))


_NOT_TOLD: Final = (
    "it refers to a value that the code marks as sensitive, and what a contract demands is shown to all callers"
)


def _condition(written: ConditionRule, module: Module) -> Evaluated:
    rule = replace(written, condition=_told(written.condition, module), message=_told(written.message, module))
    return _once((rule.condition, rule.message), functools.partial(evaluate_condition, rule))


def _once(expressions: Sequence[WrittenExpression], evaluated: Evaluated) -> Evaluated:
    """The same, evaluated once for each set of values that the expressions refer to; for what only the module has, once."""
    wanted = sorted(reference for reference in references(expressions) if reference[0] not in _OF_THE_MODULE)
    if any(root not in _OF_THE_CHANGE or not name for root, name in wanted):
        return evaluated
    known: Remembered[Bound] = Remembered()

    def remembered(scope: EvaluationScope) -> Bound:
        key = key_of([(scope.names[root], name) for root, name in wanted])
        return known.once(key, lambda: evaluated(scope))

    return remembered


def _bound(rule: BoundRule, scope: EvaluationScope) -> Bound:
    limit, unknown = rule.limit.evaluate(scope)
    if not unknown and (problem := limit_problem(rule.name, limit)):
        unknown = problem
    source = rule.limit.source
    return Bound(attribute=rule.attribute, name=rule.name, limit=limit, source=source, unknown=unknown)


def _own_attributes(enforcement: ConditionRule) -> set[str]:
    """The attributes of the resource itself (`self`) that the condition refers to."""
    return {name for root, name in enforcement.condition.references if root == "self"}


def _check_references(
    rules: Iterable[ResourceRule], variables: Mapping[str, object], locals_: Mapping[str, object]
) -> None:
    """Raise `CodeInvalid` for a misspelt variable or local at load; otherwise it would only show as a denial."""
    known = {"var": variables, "local": locals_}
    for rule in rules:
        conditions = [each for e in (*rule.enforcements, *rule.shared) for each in (e.condition, e.message)]
        for expression in (*(bound.limit for bound in rule.bounds), *conditions):
            for root, name in sorted(expression.references):
                if root in known and name not in known[root]:
                    have = ", ".join(sorted(known[root])) or "none"
                    raise CodeInvalid(f"{expression.source}: The module has no {root}.{name}. It has: {have}.")


def _warnings(rule: ResourceRule, resources: Sequence[Attributes | None]) -> Iterator[str]:
    if not resources:
        yield f'{rule.source}: No resource matches "{rule.types}" "{rule.names}", so this block has no effect.'
    recorded = [attributes for attributes in resources if attributes is not None]
    paths = [*(bound.attribute for bound in rule.bounds), *rule.mutable, *rule.immutable]
    for name in dict.fromkeys(AttributePath(path).top for path in paths):
        if recorded and not any(name in attributes for attributes in recorded):
            yield f'{rule.source}: None of the matching resources has an attribute "{name}" in the state.'


def _idle_conditions(
    rules: Sequence[ResourceRule], matched: Mapping[str, Sequence[Attributes | None]]
) -> Iterator[str]:
    """A sentence for each condition of a whole contract that applies to no resource, because none has its attributes."""
    applies: dict[str, bool] = {}
    for rule in rules:
        for enforcement in rule.shared:
            known = [attributes for attributes in matched.get(rule.source, ()) if attributes is not None]
            hit = any(_own_attributes(enforcement) <= set(attributes) for attributes in known)
            source = enforcement.condition.source
            applies[source] = applies.get(source, False) or hit
    for source, hit in applies.items():
        if not hit and any(attributes is not None for group in matched.values() for attributes in group):
            yield f"{source}: No resource of this contract has the attributes that the condition refers to, so it has no effect."


def _joined(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for group in groups for path in group))
