"""Presents each inner call of a mutation as if its caller had sent it alone, so that no rule is passed by having AWS make the call."""

from collections.abc import Iterator
from dataclasses import replace

from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import canonical_text
from gateway.core.model.mutation import CallClass, Effect, InnerCall, Mutation
from gateway.line.checks.policy_input import told_apart


def each_alone(mutation: Mutation, facts: Facts) -> Iterator[tuple[Mutation, Facts]]:
    """The mutations, with the facts about what each changes. Calls that policies cannot tell apart are one; those that only read are none."""
    alike: dict[tuple[str, ...], list[InnerCall]] = {}
    for inner in mutation.inner:
        # Of a call that is understood only a plan has inner calls without effects: those that it does not show, and that only its roles are about.
        shown = inner.effects or not mutation.understood
        if inner.call_class is not CallClass.READ and shown:
            key = (inner.name, inner.call_class.value, canonical_text(told_apart(inner.call)))
            alike.setdefault(key, []).append(inner)
    subjects = {(each.effect.address, each.effect.attribute): each for each in facts.subjects}
    for group in alike.values():
        effects = {(effect.address, effect.attribute): effect for inner in group for effect in inner.effects}
        found = tuple(subjects.get(key) or _unsurveyed(effect) for key, effect in effects.items())
        yield (
            replace(
                mutation,
                call=group[0].call,
                call_class=group[0].call_class,
                effects=tuple(subject.effect for subject in found),
                inner=(),
            ),
            replace(facts, subjects=found),
        )


def _unsurveyed(effect: Effect) -> Subject:
    """The subject of an effect that only an inner call has: nothing is known about its resource, and no contract grants it."""
    return Subject(
        effect=effect, before=None, declared=None, attributes_before={}, attributes_after={}, contract=Contract()
    )
