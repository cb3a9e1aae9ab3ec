"""How much a mutation adds, such as instances, as the policies' data measure it."""

from gateway.checks.fair_limits import Measure
from gateway.model.facts import Facts, Subject
from gateway.model.mutation import EffectAction, Mutation


def size_added(measure: Measure, mutation: Mutation, facts: Facts) -> int:
    """How much it adds. What gets less elsewhere gives nothing back: AWS may refuse it. A value that nobody knew before counts as a whole."""
    grown = sum(_growth(measure, subject) for subject in facts.subjects)
    return grown + sum(_created(measure, mutation, kind) for kind in _created_types(mutation))


def _growth(measure: Measure, subject: Subject) -> int:
    effect = subject.effect
    if effect.attribute not in measure.set.get(effect.resource_type, ()):
        return 0
    if effect.action not in (EffectAction.SET, EffectAction.CREATE):
        return 0
    return max(0, _number(effect.value) - _number(subject.before))


def _created_types(mutation: Mutation) -> set[str]:
    return {effect.resource_type for effect in mutation.effects if effect.action is EffectAction.CREATE}


def _created(measure: Measure, mutation: Mutation, kind: str) -> int:
    """How many resources of a type the call creates."""
    if kind not in measure.created:
        return 0
    asked = _number(mutation.call.parameters.get(measure.created[kind]))
    addresses = {
        effect.address
        for effect in mutation.effects
        if effect.action is EffectAction.CREATE and effect.resource_type == kind
    }
    return max(asked, len(addresses))


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
