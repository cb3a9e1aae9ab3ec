"""All contracts of a stack bound to its code: the `Contract` of any address, evaluated in its module's context."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.errors import CodeInvalid
from gateway.model.contract import Bound, Contract
from gateway.model.json import Json
from gateway.terraform.address import Address, parse_address, written_key
from gateway.terraform.config.instance import ResourceInstance
from gateway.terraform.config.module import Module
from gateway.terraform.contracts.bounds import CONDITION, limit_problem
from gateway.terraform.contracts.conditions import CodeConditions
from gateway.terraform.contracts.contract import BoundRule, Enforcement, Expression, ResourceRule
from gateway.terraform.lang.evaluate import EvaluationScope, Unknown, evaluate_text

Attributes = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    """A resource block of a contract that names the resource, and the module whose names its expressions use."""

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
        guards: CodeConditions,
    ) -> None:
        """`rules` by directory of their module, `.` for the root's; `declared` gives the attributes of what the state does not know yet.

        Raises `errors.CodeInvalid` where a rule refers to a variable or a local that its module does not have.
        """
        self._modules = {module.address: module for module in root.modules()}
        self._rules = rules
        self._instance = instance
        self._declared = declared
        self._guards = guards
        self._known: dict[str, Contract] = {}
        for directory, group in rules.items():
            _must_resolve(group, root.sources[directory].variables, root.sources[directory].locals)

    def contract(self, address: str) -> Contract:
        """All law for the resource at `address`; an empty contract for what is no address."""
        contract = self._known.get(address)
        if contract is None:
            contract = self._known[address] = self._contract(address)
        return contract

    def warnings(self, addresses: Iterable[str], recorded: Callable[[str], Attributes | None]) -> tuple[str, ...]:
        """What an author should look at: blocks that name nothing, bounds and conditions on attributes that nothing has."""
        named: dict[str, list[Attributes | None]] = {}
        for address in addresses:
            for match in self._matches(address):
                named.setdefault(match.rule.source, []).append(recorded(address))
        rules = [rule for group in self._rules.values() for rule in group]
        sentences = [sentence for rule in rules for sentence in _warnings(rule, named.get(rule.source, []))]
        return tuple(dict.fromkeys([*sentences, *_idle_conditions(rules, named)]))

    def _matches(self, address: str) -> tuple[_Match, ...]:
        where = parse_address(address)
        return () if where is None else tuple(self._matching(where))

    def _matching(self, where: Address) -> Iterator[_Match]:
        """Rules of the module the resource is in and of every module above, each seeing the address from where it stands."""
        for depth in range(len(where.modules) + 1):
            above = ".".join(f"module.{name}{written_key(key)}" for name, key in where.modules[:depth])
            module = self._modules.get(above)
            if module is None:
                continue
            seen = replace(where, modules=where.modules[depth:])
            for rule in self._rules.get(module.source.directory, ()):
                if names(rule, seen):
                    yield _Match(rule=rule, module=module)

    def _contract(self, address: str) -> Contract:
        matches = self._matches(address)
        rules = [match.rule for match in matches]
        guards = self._guards.of(self._instance(address))
        declared = functools.partial(self._declared, address)

        def evaluate(after: Attributes, before: Attributes) -> tuple[Bound, ...]:
            whole = {**declared(), **after}
            bounds = [bound for match in matches for bound in _evaluated(match, whole, before)]
            # One enforce block may reach a resource through several blocks of its contract.
            return tuple({(b.source, b.attribute, b.name): b for b in (*bounds, *guards(whole))}.values())

        # The block that withholds the resource from agents is the one to show; else the first.
        source = next((rule.source for rule in rules if not rule.managed_by_agent), rules[0].source if rules else "")
        return Contract(
            owner=next((rule.owner for rule in rules if rule.owner), ""),
            managed_by_agent=bool(rules) and all(rule.managed_by_agent for rule in rules),
            mutable=_joined(rule.mutable for rule in rules),
            bounded=_joined((bound.attribute for bound in rule.bounds) for rule in rules),
            immutable=_joined(rule.immutable for rule in rules),
            critical=any(rule.critical for rule in rules),
            prevent_delete=any(rule.prevent_delete for rule in rules),
            source=source,
            evaluate=evaluate,
        )


def names(rule: ResourceRule, where: Address) -> bool:
    """Whether the rule's patterns name the resource, its address seen from the rule's module."""
    if where.data or not _glob(rule.types).fullmatch(where.resource_type):
        return False
    pattern = _glob(rule.names)
    if not any(mark in rule.names for mark in ".["):
        return pattern.fullmatch(where.name) is not None
    resource = f"{where.name}{written_key(where.key)}"
    forms = (
        str(where),
        str(where.bare),
        f"{where.resource_type}.{resource}",
        f"{where.resource_type}.{where.name}",
        resource,
    )
    return any(pattern.fullmatch(form) for form in forms)


@functools.lru_cache(maxsize=4096)
def _glob(pattern: str) -> re.Pattern[str]:
    """`*` and `?` and nothing else: brackets stand for themselves, since addresses hold them."""
    marks = {"*": ".*", "?": "."}
    return re.compile("".join(marks.get(character, re.escape(character)) for character in pattern), re.DOTALL)


def _evaluated(match: _Match, after: Attributes, before: Attributes) -> Iterator[Bound]:
    scope = EvaluationScope(module=match.module, names={"self": after, "before": before})
    for rule in match.rule.bounds:
        yield _bound(rule, scope)
    for enforcement in match.rule.enforcements:
        yield condition(enforcement, scope)
    for enforcement in match.rule.shared:
        if _mentioned(enforcement) <= {*after, *before}:
            yield condition(enforcement, scope)


def _bound(rule: BoundRule, scope: EvaluationScope) -> Bound:
    limit, unknown = outcome(rule.limit, scope)
    if not unknown and (problem := limit_problem(rule.name, limit)):
        unknown = problem
    source = rule.limit.source
    return Bound(attribute=rule.attribute, name=rule.name, limit=limit, source=source, unknown=unknown)


def condition(enforcement: Enforcement, scope: EvaluationScope, *, attribute: str = "") -> Bound:
    """The bound of a condition in this scope; `unknown` where it is not certainly true or false."""
    limit, unknown = outcome(enforcement.condition, scope)
    if not unknown:
        unknown = limit_problem(CONDITION, limit)
    written, _ = outcome(enforcement.message, scope)
    message = written if isinstance(written, str) else enforcement.message.text
    source = enforcement.condition.source
    return Bound(attribute=attribute, name=CONDITION, limit=limit, source=source, message=message, unknown=unknown)


def outcome(expression: Expression, scope: EvaluationScope) -> tuple[Json, str]:
    """The value and an empty text, or None and why there is none. Never raises."""
    return _tried(expression.text, scope) if expression.references else _constant(expression.text)


@functools.lru_cache(maxsize=4096)
def _constant(text: str) -> tuple[Json, str]:
    """Most limits refer to nothing and are evaluated once."""
    return _tried(text, EvaluationScope())


def _tried(text: str, scope: EvaluationScope) -> tuple[Json, str]:
    try:
        return evaluate_text(text, scope), ""
    except Unknown as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001  whatever breaks here is a limit that is not known, and that denies
        return None, f"{type(error).__name__} while evaluating `{text[:80]}`"


def _mentioned(enforcement: Enforcement) -> set[str]:
    return {name for root, name in enforcement.condition.references if root == "self"}


def _must_resolve(
    rules: Iterable[ResourceRule], variables: Mapping[str, object], locals_: Mapping[str, object]
) -> None:
    """A misspelt variable would only show when it denies; say it at load."""
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
        yield f'{rule.source}: No resource is named by "{rule.types}" "{rule.names}", so this block guards nothing.'
    recorded = [attributes for attributes in resources if attributes is not None]
    paths = [*(bound.attribute for bound in rule.bounds), *rule.mutable, *rule.immutable]
    for path in dict.fromkeys(path.partition(".")[0] for path in paths):
        if recorded and not any(path in attributes for attributes in recorded):
            yield f'{rule.source}: None of the resources named here has an attribute "{path}" in the state.'


def _idle_conditions(rules: Sequence[ResourceRule], named: Mapping[str, Sequence[Attributes | None]]) -> Iterator[str]:
    """Conditions of a whole contract that no resource has the attributes for."""
    reached: dict[str, bool] = {}
    for rule in rules:
        for enforcement in rule.shared:
            known = [attributes for attributes in named.get(rule.source, ()) if attributes is not None]
            hit = not known or any(_mentioned(enforcement) <= set(attributes) for attributes in known)
            source = enforcement.condition.source
            reached[source] = reached.get(source, False) or (hit and bool(known))
    for source, hit in reached.items():
        if not hit and any(attributes is not None for group in named.values() for attributes in group):
            yield f"{source}: No resource of this contract has the attributes that the condition refers to, so it guards nothing."


def _joined(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for group in groups for path in group))
