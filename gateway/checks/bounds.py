"""The first check: what the contracts and the code's own guards allow, attribute by attribute."""

from collections.abc import Iterator, Sequence

from gateway.checks.chain import Opinion, passed
from gateway.model.caller import ActorKind
from gateway.model.contract import Bound, Contract
from gateway.model.equality import equal
from gateway.model.facts import Facts, Subject
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction, Mutation
from gateway.model.path import AttributePath
from gateway.model.verdict import CounterOffer, Finding, Verdict
from gateway.terraform.contracts.bounds import CONDITION, breach, nearest, shown

_NAMED = 5
_PUTS = (EffectAction.SET, EffectAction.CREATE)


class BoundsCheck:
    """Holds every effect against the contract of its thing."""

    name = "bounds"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """A finding for each rule that is broken, else one that allows. What changes nothing can break no bound.

        But an agent may not even restate what it may not set: it would claim it, and undo whatever was changed past the gate.
        """
        if not mutation.understood:
            return Opinion(findings=(_not_understood(mutation),))
        if len(facts.subjects) != len(mutation.effects):
            reason = "Sentinel could not look at everything this call changes, so it was refused; nothing was sent."
            return Opinion(findings=(_denial("unsurveyed", reason),))
        restates = not any(subject.changes for subject in facts.subjects)
        # The same contract speaks once, however many attributes of the resource are changed.
        judge = _Judge()
        told = (finding for subject in facts.subjects for finding in _found(mutation, subject, restates, judge))
        findings = {(each.rule, each.address, each.attribute, each.source, each.reason): each for each in told}
        return Opinion(findings=tuple(findings.values())) if findings else passed(self)


class _Judge:
    """Judges each bound of a resource once, however many of its attributes one call changes: else the cost would grow with the square."""

    def __init__(self) -> None:
        self._bounds: dict[str, tuple[Subject, tuple[Bound, ...]]] = {}
        self._breaches: dict[tuple[str, ...], str] = {}

    def bounds(self, subject: Subject) -> tuple[Bound, ...]:
        """The bounds of the subject's resource, evaluated for the state after the change."""
        address = subject.effect.address
        known = self._bounds.get(address)
        if known is not None and _same_state(known[0], subject):
            return known[1]
        if known is not None:
            self._breaches.clear()
        found = subject.contract.evaluate(subject.attributes_after, subject.attributes_before)
        self._bounds[address] = subject, found
        return found

    def breach(self, bound: Bound, subject: Subject) -> str:
        """How the value that the bound is about breaks it; empty if it does not."""
        effect = subject.effect
        if bound.attribute == effect.attribute:
            return _breach(bound, subject)
        # The bound is about what holds the attribute, or is in it, and the state after the change says what that is.
        key = (effect.address, effect.action.value, bound.attribute, bound.name, bound.source)
        if key not in self._breaches:
            self._breaches[key] = _breach(bound, subject)
        return self._breaches[key]


def _same_state(one: Subject, other: Subject) -> bool:
    pairs = ((one.attributes_after, other.attributes_after), (one.attributes_before, other.attributes_before))
    return one.contract is other.contract and all(left is right or left == right for left, right in pairs)


def _breach(bound: Bound, subject: Subject) -> str:
    wanted, before = _values(bound, subject)
    if _left_to_aws(bound, wanted, subject):
        return ""
    return breach(bound, wanted, before, created=_created(subject))


def _found(mutation: Mutation, subject: Subject, restates: bool, judge: _Judge) -> Iterator[Finding]:
    if mutation.caller.kind is ActorKind.AGENT:
        # Beside a change, a value that stays may be one that the operation demands, as PutMetricAlarm does.
        yield from _for_agents(mutation, subject, sets=subject.changes or restates)
    if not subject.changes:
        return
    yield from _for_all(subject)
    if subject.effect.action in _PUTS:
        yield from _broken_bounds(subject, judge)
    elif _moves(subject.effect) and any(_touch(path, subject.effect.attribute) for path in subject.contract.bounded):
        yield _unforeseeable(mutation, subject)


# What agents may touch ----------------------------------------------------------------------------------------------


def _for_agents(mutation: Mutation, subject: Subject, *, sets: bool) -> Iterator[Finding]:
    effect, contract = subject.effect, subject.contract
    if not effect.declared:
        yield _undeclared(effect)
        return
    if not contract.managed_by_agent:
        yield _skeleton(effect, contract)
        return
    yield from _withheld(mutation, effect, contract)
    if sets and (effect.action in _PUTS or _moves(effect)) and not _may_set(subject):
        yield _not_mutable(effect, contract)


def _withheld(mutation: Mutation, effect: Effect, contract: Contract) -> Iterator[Finding]:
    """A denial if an agent deletes or invokes what not every matching block of the contract grants."""
    service, operation = mutation.call.service, mutation.call.operation
    if (
        effect.action is EffectAction.DELETE
        and not contract.prevent_delete
        and (sources := contract.withholding_delete())
    ):
        yield _not_granted("delete", f"delete {effect.address}", "`allow_delete = true`", effect, sources)
    if effect.action is EffectAction.INVOKE and (sources := contract.withholding_invoke(service, operation)):
        what, wanted = f"invoke {service}:{operation} on {effect.address}", f'`allow_invoke = ["{operation}"]`'
        yield _not_granted("invoke", what, wanted, effect, sources)


def _not_granted(rule: str, what: str, wanted: str, effect: Effect, sources: Sequence[str]) -> Finding:
    blocks = f"the block at {sources[0]} does" if len(sources) == 1 else f"the blocks at {', '.join(sources)} do"
    reason = f"Agents may not {what}: {blocks} not say so. Its owners would have to add {wanted} there, or a human makes the change; nothing was sent."
    return _denial(f"{rule}_not_allowed", reason, effect, source=sources[0])


def _undeclared(effect: Effect) -> Finding:
    if effect.action is EffectAction.CREATE:
        reason = f"No Terraform code declares {effect.address}, and agents may not create what no code declares. Add a block for it, with a contract, and let a human merge both; nothing was sent."
        return _denial("undeclared_create", reason, effect)
    reason = f"No Terraform code declares {effect.address}, so no contract lets an agent touch it. Declare and import it, with a contract, or ask a human; nothing was sent."
    return _denial("undeclared", reason, effect)


def _skeleton(effect: Effect, contract: Contract) -> Finding:
    name = effect.address.rpartition(".")[2].partition("[")[0]
    block = f'resource "{effect.resource_type}" "{name}" {{ managed_by_agent = true … }}'
    where = f"the block at {contract.source} does not say so" if contract.source else "no contract names it"
    reason = f"{effect.address} is immutable skeleton for agents: {where}. Its owners would have to write {block} with the attributes' bounds; nothing was sent."
    return _denial("immutable_skeleton", reason, effect, source=contract.source)


def _may_set(subject: Subject) -> bool:
    """Whether an agent may set the attribute: the contract names it, or it is what the code says a new thing has."""
    effect, contract = subject.effect, subject.contract
    if effect.action is EffectAction.CREATE and effect.attribute == WHOLE:
        return True
    if any(AttributePath(path).covers(effect.attribute) for path in (*contract.mutable, *contract.bounded)):
        return True
    as_declared = subject.declared is not None and equal(subject.declared, effect.value)
    return effect.action is EffectAction.CREATE and as_declared


def _not_mutable(effect: Effect, contract: Contract) -> Finding:
    allowed = ", ".join(dict.fromkeys((*contract.bounded, *contract.mutable))) or "nothing"
    reason = f"Agents may not set {effect.attribute} of {effect.address}: {contract.source} neither bounds it nor lists it in `mutable`. Agents may set {allowed}."
    return _denial("not_mutable", reason, effect, attribute=effect.attribute, source=contract.source)


# What nobody may do -------------------------------------------------------------------------------------------------


def _for_all(subject: Subject) -> Iterator[Finding]:
    effect, contract = subject.effect, subject.contract
    if effect.action is EffectAction.SET or _moves(effect):
        for path in contract.immutable:
            if _touch(path, effect.attribute):
                reason = f"{effect.attribute} of {effect.address} is immutable ({contract.source}): it is set in code only, by a human."
                yield _denial("immutable", reason, effect, attribute=effect.attribute, source=contract.source)
    if effect.action is EffectAction.DELETE and contract.prevent_delete:
        yield _prevented(subject)


def _prevented(subject: Subject) -> Finding:
    addresses = [dependant.address for dependant in subject.dependants]
    more = f" and {len(addresses) - _NAMED} more" if len(addresses) > _NAMED else ""
    depend = f" What depends on it: {', '.join(addresses[:_NAMED])}{more}." if addresses else ""
    reason = f"{subject.effect.address} may not be deleted: its contract ({subject.contract.source}) says prevent_delete.{depend} Nothing was sent."
    return _denial("prevent_delete", reason, subject.effect, source=subject.contract.source)


# Bounds -------------------------------------------------------------------------------------------------------------


def _broken_bounds(subject: Subject, judge: _Judge) -> Iterator[Finding]:
    bounds = judge.bounds(subject)
    concerned = [bound for bound in bounds if not bound.attribute or _touch(bound.attribute, subject.effect.attribute)]
    for bound in concerned:
        if broken := judge.breach(bound, subject):
            beside = [other for other in concerned if other.attribute == bound.attribute and other.name != CONDITION]
            yield _broken(subject, bound, broken, beside)


def _broken(subject: Subject, bound: Bound, broken: str, beside: Sequence[Bound]) -> Finding:
    effect = subject.effect
    wanted, before = _values(bound, subject)
    attribute = bound.attribute or effect.attribute
    offer = None if bound.name == CONDITION else nearest(beside, wanted, before, created=_created(subject))
    instead = "" if offer is None else f"; the nearest legal value is {shown(offer)}"
    if bound.name == CONDITION and not bound.unknown:
        sentence = f"{bound.message or 'A condition of the code does not hold.'} ({bound.source}) Nothing was sent."
    else:
        what = _subject_of(bound, attribute, wanted)
        sentence = f"{what} {broken} ({bound.source}){instead}."
    return Finding(
        check="bounds",
        verdict=Verdict.DENY,
        rule=f"bounds.{bound.name}",
        reason=sentence,
        address=effect.address,
        attribute=attribute,
        source=bound.source,
        offer=CounterOffer(address=effect.address, attribute=attribute, nearest=offer),
    )


def _subject_of(bound: Bound, attribute: str, wanted: Json) -> str:
    if bound.name == CONDITION:
        return f"A change of {attribute}"
    plain = isinstance(wanted, str | int | float | bool)
    return f"{attribute} = {shown(wanted)}" if plain else attribute


def _values(bound: Bound, subject: Subject) -> tuple[Json, Json]:
    """The value that the bound is about after the change, and the one before."""
    if bound.attribute == subject.effect.attribute:
        return subject.effect.value, subject.before
    return AttributePath(bound.attribute).value_at(subject.attributes_after), AttributePath(bound.attribute).value_at(
        subject.attributes_before
    )


def _created(subject: Subject) -> bool:
    return subject.effect.action is EffectAction.CREATE or not subject.exists


def _left_to_aws(bound: Bound, wanted: Json, subject: Subject) -> bool:
    """Whether a new thing is made without this attribute, so that there is nothing to judge."""
    return wanted is None and bound.name != CONDITION and subject.effect.action is EffectAction.CREATE


def _touch(path: str, attribute: str) -> bool:
    """Whether setting the attribute sets the path, a part of it, or something that holds it."""
    return attribute == WHOLE or AttributePath(path).covers(attribute) or AttributePath(attribute).covers(path)


def _moves(effect: Effect) -> bool:
    """Whether the effect changes an attribute to a value that only AWS knows."""
    return effect.action is EffectAction.INVOKE and effect.attribute != WHOLE


def _unforeseeable(mutation: Mutation, subject: Subject) -> Finding:
    effect = subject.effect
    operation = f"{mutation.call.service}:{mutation.call.operation}"
    return Finding(
        check="bounds",
        verdict=Verdict.HOLD,
        rule="bounds.unforeseeable",
        reason=f"{operation} changes {effect.attribute} of {effect.address} to a value that only AWS knows, so its bounds cannot be judged. Set the value itself, or let a human decide.",
        address=effect.address,
        attribute=effect.attribute,
        source=subject.contract.source,
    )


def _not_understood(mutation: Mutation) -> Finding:
    operation = f"{mutation.call.service}:{mutation.call.operation}"
    return Finding(
        check="bounds",
        verdict=Verdict.HOLD,
        rule="bounds.not_understood",
        reason=f"Sentinel does not know what {operation} does to declared resources.",
    )


def _denial(rule: str, reason: str, effect: Effect | None = None, *, attribute: str = "", source: str = "") -> Finding:
    return Finding(
        check="bounds",
        verdict=Verdict.DENY,
        rule=f"bounds.{rule}",
        reason=reason,
        address=effect.address if effect else "",
        attribute=attribute,
        source=source,
    )
