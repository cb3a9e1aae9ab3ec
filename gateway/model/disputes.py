"""Marks the effects that set an attribute to another value than a standing claim says it has."""

from dataclasses import replace

from gateway.model.claim import Claim
from gateway.model.facts import Facts, Subject
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction
from gateway.model.overlap import Overlaps
from gateway.model.path import AttributePath


def with_disputes(facts: Facts) -> Facts:
    """The facts, with `disputed` set on each subject. A claim of the caller itself counts too: it may be in doubt."""
    claims = Overlaps((each.claim.address, each.claim.attribute, each.claim) for each in facts.claims)
    return replace(facts, subjects=tuple(_marked(subject, claims) for subject in facts.subjects))


def _marked(subject: Subject, claims: Overlaps[Claim]) -> Subject:
    effect = subject.effect
    if effect.action is not EffectAction.SET:
        return subject
    disputed = any(_differs(effect, claim) for claim in claims.of(effect.address, effect.attribute))
    return replace(subject, disputed=True) if disputed else subject


def _differs(effect: Effect, claim: Claim) -> bool:
    """Whether claim and effect give different values to what both are about. A claim on the whole resource is on its deletion."""
    if claim.attribute == WHOLE:
        return True
    if AttributePath(effect.attribute).covers(claim.attribute):
        return _part(effect.value, claim.attribute, effect.attribute) != claim.value
    return _part(claim.value, effect.attribute, claim.attribute) != effect.value


def _part(value: Json, inner: str, outer: str) -> Json:
    """The part of the value of `outer` that is the attribute `inner`."""
    return value if inner == outer else AttributePath(inner[len(outer) + 1 :]).value_at(value)
