"""Checks every effect against the contract of its resource and the conditions in the code, attribute by attribute."""

from collections.abc import Iterator, Sequence

from gateway.core.model.caller import ActorKind
from gateway.core.model.contract import Bound, Contract
from gateway.core.model.equality import equal
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import CallClass, Effect, EffectAction, Mutation
from gateway.core.model.path import WHOLE, AttributePath, overlaps
from gateway.core.model.verdict import CounterOffer, Finding, Verdict
from gateway.line.checks.chain import Opinion, passed
from gateway.terraform.contracts.bounds import CONDITION, breach, nearest, shown

_MAX_NAMED = 5
GO_ON = (
    "Apply it with its plan (`sentinel apply`), or have it approved and keep what it did (`sentinel effects learn`)."
)
"""How a call goes on that is held because no row has it."""
_SETTING = (EffectAction.SET, EffectAction.CREATE)


class BoundsCheck:
    """Denies effects that break a contract."""

    name = "bounds"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """A finding for each broken rule, or one that allows. An effect that changes nothing cannot break a bound.

        But an agent may not even re-send the current value of an attribute it may not set: that would take a claim on it, and could
        revert a change made outside Sentinel.
        """
        if not mutation.understood:
            return Opinion(findings=(_not_understood(mutation),))
        if len(facts.subjects) != len(mutation.effects):
            reason = "Sentinel could not look at everything this call changes, so it was refused; nothing was sent."
            return Opinion(findings=(_denial("unsurveyed", reason),))
        nothing_changes = not any(subject.changes for subject in facts.subjects)
        # Several attributes of one resource can break the same rule; report it once.
        judge = _Judge()
        each = (
            finding for subject in facts.subjects for finding in _findings(mutation, subject, nothing_changes, judge)
        )
        findings = {
            (finding.rule, finding.address, finding.attribute, finding.source, finding.reason): finding
            for finding in each
        }
        return Opinion(findings=tuple(findings.values())) if findings else passed(self)


class _Judge:
    """Judges each bound of a resource once, however many of its attributes one call changes: else the cost would grow with the square."""

    def __init__(self) -> None:
        self._bounds: dict[str, tuple[Subject, tuple[Bound, ...]]] = {}
        self._problems: dict[tuple[str, ...], str] = {}

    def bounds(self, subject: Subject) -> tuple[Bound, ...]:
        """The bounds of the subject's resource, evaluated for the state after the change."""
        address = subject.effect.address
        known = self._bounds.get(address)
        if known is not None and _same_state(known[0], subject):
            return known[1]
        if known is not None:
            self._problems.clear()
        found = subject.contract.evaluate(subject.attributes_after, subject.attributes_before)
        self._bounds[address] = subject, found
        return found

    def problem(self, bound: Bound, subject: Subject) -> str:
        """How the value that the bound is about breaks it; empty if it does not."""
        effect = subject.effect
        if bound.attribute == effect.attribute:
            return _problem(bound, subject)
        # The bound is about a part of the attribute or about what holds it; the state after the change has that value.
        key = (effect.address, effect.action, bound.attribute, bound.name, bound.source)
        if key not in self._problems:
            self._problems[key] = _problem(bound, subject)
        return self._problems[key]


def _same_state(one: Subject, other: Subject) -> bool:
    pairs = ((one.attributes_after, other.attributes_after), (one.attributes_before, other.attributes_before))
    same = one.contract is other.contract and one.exists == other.exists
    return same and all(left is right or left == right for left, right in pairs)


def _problem(bound: Bound, subject: Subject) -> str:
    if bound.name == CONDITION:  # which is about no value of its own
        return breach(bound, None, None)
    wanted, before = _values(bound, subject)
    if wanted is None and subject.effect.action is EffectAction.CREATE:
        return ""  # it is created without this attribute, so there is no value to check
    if bound.name == "cidr_within" and subject.effect.unrecorded:
        return f"lets in {', '.join(subject.effect.unrecorded[:_MAX_NAMED])}, and no state records what addresses that has, so it lies outside cidr_within"
    return breach(bound, wanted, before, created=_created(subject))


def _findings(mutation: Mutation, subject: Subject, nothing_changes: bool, judge: _Judge) -> Iterator[Finding]:
    if mutation.caller.kind is ActorKind.AGENT:
        # An unchanged value that the call cannot leave out beside a real change (PutMetricAlarm would reset it) does not count as setting
        # the attribute. Any other one does: the known value may be older than what somebody set past Sentinel.
        sets = subject.changes or nothing_changes or not subject.effect.obliged
        yield from _for_agents(mutation, subject, sets=sets)
    if not subject.changes:
        return
    yield from _for_all(subject)
    if subject.effect.action in _SETTING:
        yield from _broken_bounds(subject, judge)
    elif _sets_unknown(subject.effect) and _binds_unknown(mutation, subject):
        yield _unforeseeable(mutation, subject)


def _binds_unknown(mutation: Mutation, subject: Subject) -> bool:
    """Whether bounds hold for an effect whose value only AWS knows. What somebody else than an agent only implies, by a scaling policy in
    the code that they apply, is not held.
    """
    bounded = any(overlaps(path, subject.effect.attribute) for path in subject.contract.bounded)
    only_implied = subject.effect.implied and not subject.effect.by
    return bounded and (mutation.caller.kind is ActorKind.AGENT or not only_implied)


# Rules for agents ---------------------------------------------------------------------------------------------------


def _for_agents(mutation: Mutation, subject: Subject, *, sets: bool) -> Iterator[Finding]:
    effect, contract = subject.effect, subject.contract
    if not effect.declared:
        yield _undeclared(effect)
        return
    if not contract.managed_by_agent:
        yield _not_managed(effect, contract)
        return
    if effect.implied and not effect.by and effect.action in (EffectAction.INVOKE, EffectAction.CREATE):
        # It is not what the agent asks for, so nobody has to grant it. Its bounds and the claims on it are judged.
        return
    yield from _withheld(mutation, effect, contract)
    if sets and (effect.action in _SETTING or _sets_unknown(effect)) and not _may_set(subject):
        yield _not_mutable(subject)


def _withheld(mutation: Mutation, effect: Effect, contract: Contract) -> Iterator[Finding]:
    """A denial if an agent deletes or invokes what not every matching block of the contract grants."""
    service, _, operation = effect.by.partition(":")
    if not effect.by:
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


def _not_managed(effect: Effect, contract: Contract) -> Finding:
    name = effect.address.rpartition(".")[2].partition("[")[0]
    block = f'resource "{effect.resource_type}" "{name}" {{ managed_by_agent = true … }}'
    where = f"the block at {contract.source} does not say so" if contract.source else "no contract names it"
    reason = f"{effect.address} is immutable skeleton for agents: {where}. Its owners would have to write {block} with the attributes' bounds; nothing was sent."
    return _denial("immutable_skeleton", reason, effect, source=contract.source)


def _may_set(subject: Subject) -> bool:
    """Whether an agent may set the attribute: the contract names it, or a new resource gets the value that the code declares."""
    effect, contract = subject.effect, subject.contract
    if effect.action is EffectAction.CREATE and effect.attribute == WHOLE:
        return True
    granted = (*contract.mutable, *contract.bounded)
    if effect.attribute in granted or any(AttributePath(path).covers(effect.attribute) for path in granted):
        return True
    if subject.hidden:
        return False  # that the code declares this very secret would tell the agent that its guess is right
    as_declared = subject.declared is not None and equal(subject.declared, effect.value)
    return effect.action is EffectAction.CREATE and as_declared


def _not_mutable(subject: Subject) -> Finding:
    effect, contract = subject.effect, subject.contract
    allowed = ", ".join(dict.fromkeys((*contract.bounded, *contract.mutable))) or "nothing"
    reason = f"Agents may not set {effect.attribute} of {effect.address}: {contract.source} neither bounds it nor lists it in `mutable`. Agents may set {allowed}.{_left_out(subject)}"
    return _denial("not_mutable", reason, effect, attribute=effect.attribute, source=contract.source)


def _left_out(subject: Subject) -> str:
    """What to do about a value that need not be in the call."""
    if subject.changes or subject.effect.obliged:
        return ""
    return (
        " Leave it out of the call: it is to stay as it is, and the value that the code knows may not be the live one."
    )


# Rules for all callers ----------------------------------------------------------------------------------------------


def _for_all(subject: Subject) -> Iterator[Finding]:
    effect, contract = subject.effect, subject.contract
    if effect.action is EffectAction.SET or _sets_unknown(effect):
        for path in contract.immutable:
            if overlaps(path, effect.attribute):
                reason = f"{effect.attribute} of {effect.address} is immutable ({contract.source}): it is set in code only, by a human."
                yield _denial("immutable", reason, effect, attribute=effect.attribute, source=contract.source)
    if effect.action is EffectAction.DELETE and contract.prevent_delete:
        yield _delete_prevented(subject)


def _delete_prevented(subject: Subject) -> Finding:
    addresses = [dependant.address for dependant in subject.dependants]
    more = f" and {len(addresses) - _MAX_NAMED} more" if len(addresses) > _MAX_NAMED else ""
    depend = f" What depends on it: {', '.join(addresses[:_MAX_NAMED])}{more}." if addresses else ""
    reason = f"{subject.effect.address} may not be deleted: its contract ({subject.contract.source}) says prevent_delete.{depend} Nothing was sent."
    return _denial("prevent_delete", reason, subject.effect, source=subject.contract.source)


# Bounds -------------------------------------------------------------------------------------------------------------


def _broken_bounds(subject: Subject, judge: _Judge) -> Iterator[Finding]:
    bounds = judge.bounds(subject)
    relevant = [bound for bound in bounds if not bound.attribute or overlaps(bound.attribute, subject.effect.attribute)]
    if subject.effect.untold and (secret := [bound for bound in relevant if bound.name != CONDITION]):
        yield _untold(subject, secret[0])
        relevant = [bound for bound in relevant if bound.name == CONDITION]
    for bound in relevant:
        if problem := judge.problem(bound, subject):
            same_attribute = [
                other for other in relevant if other.attribute == bound.attribute and other.name != CONDITION
            ]
            yield _broken(subject, bound, problem, same_attribute)


def _broken(subject: Subject, bound: Bound, problem: str, same_attribute: Sequence[Bound]) -> Finding:
    """The denial for a broken bound. The bounds on the same attribute give the nearest legal value."""
    effect = subject.effect
    wanted, before = _values(bound, subject)
    attribute = bound.attribute or effect.attribute
    offer = None if bound.name == CONDITION else nearest(same_attribute, wanted, before, created=_created(subject))
    instead = "" if offer is None else f"; the nearest legal value is {shown(offer)}"
    if bound.name == CONDITION and not bound.unknown:
        sentence = f"{bound.message or 'A condition of the code does not hold.'} ({bound.source}) Nothing was sent."
    else:
        what = _sentence_subject(bound, attribute, wanted)
        sentence = f"{what} {problem} ({bound.source}){instead}."
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


def _sentence_subject(bound: Bound, attribute: str, wanted: Json) -> str:
    if bound.name == CONDITION:
        return f"A change of {attribute}"
    is_scalar = isinstance(wanted, str | int | float | bool)
    return f"{attribute} = {shown(wanted)}" if is_scalar else attribute


def _values(bound: Bound, subject: Subject) -> tuple[Json, Json]:
    """The value of the bound's attribute after the change, and before it."""
    if bound.attribute == subject.effect.attribute:
        return subject.effect.value, subject.before
    return AttributePath(bound.attribute).value_at(subject.attributes_after), AttributePath(bound.attribute).value_at(
        subject.attributes_before
    )


def _created(subject: Subject) -> bool:
    return subject.effect.action is EffectAction.CREATE or not subject.exists


def _sets_unknown(effect: Effect) -> bool:
    """Whether the effect changes an attribute to a value that only AWS knows."""
    return effect.action is EffectAction.INVOKE and effect.attribute != WHOLE


def _unforeseeable(mutation: Mutation, subject: Subject) -> Finding:
    effect = subject.effect
    operation = f"{mutation.call.service}:{mutation.call.operation}"
    return Finding(
        check="bounds",
        verdict=Verdict.HOLD,
        rule="bounds.unforeseeable",
        reason=f"{operation} changes {effect.attribute} of {effect.address} to a value that only AWS knows, so its bounds cannot be judged. Set the value itself, or have it approved.",
        address=effect.address,
        attribute=effect.attribute,
        source=subject.contract.source,
    )


def _untold(subject: Subject, bound: Bound) -> Finding:
    """The hold of a planned secret: the mask in its place is no value, so to call it illegal would be wrong."""
    effect = subject.effect
    return Finding(
        check="bounds",
        verdict=Verdict.HOLD,
        rule="bounds.untold",
        reason=f"The plan does not tell {effect.attribute} of {effect.address}, which Terraform takes for a secret, so its bounds ({bound.source}) cannot be judged. Let a human decide; in the plan's session the value is judged when it is sent.",
        address=effect.address,
        attribute=effect.attribute,
        source=bound.source,
    )


def _not_understood(mutation: Mutation) -> Finding:
    operation = f"{mutation.call.service}:{mutation.call.operation}"
    why = f" ({mutation.not_understood})" if mutation.not_understood else ""
    does = "all that it makes AWS do" if mutation.inner else "what it does to declared resources"
    reason = f"Sentinel does not understand {operation}: it does not know {does}{why}. {GO_ON}"
    if mutation.call_class is CallClass.DATA:
        reason = (
            f"{operation} writes data and names no resource that a contract could let an actor use, or asks for more than data. "
            f"The setting data_plane says whether such calls of kind {mutation.caller.kind} pass."
        )
    return Finding(check="bounds", verdict=Verdict.HOLD, rule="bounds.not_understood", reason=reason)


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
