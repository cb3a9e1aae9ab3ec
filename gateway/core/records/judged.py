"""What the checks by contracts decide by, beside what a record has anyway: kept with a decision, so that other contracts can judge it later.

The checks by contracts are those of bounds, of derived rows and of dependencies. Kept is what a contract may ask for: the attributes of the
resources, with masks in place of secrets, and what depends on them. What the contracts themselves said is not kept: it is asked again.
"""

from collections.abc import Mapping
from typing import Final

from gateway.core.model.caller import ActorKind
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Basis, EffectAction, Mutation

_SETTING: Final = (EffectAction.SET, EffectAction.CREATE)


def judged_on(mutation: Mutation, facts: Facts) -> Json:
    """What is kept: `resources` by address, and for each effect what its record does not say. Both are empty where no contract was judged.

    None for a call of a plan's session, whose contracts were judged with the plan.
    """
    if mutation.part is not None:
        return None
    if len(facts.subjects) != len(mutation.effects):
        return {"effects": [], "resources": {}}
    resources: dict[str, Json] = {}
    for subject in facts.subjects:
        known = resources.setdefault(subject.effect.address, {"exists": subject.exists})
        if isinstance(known, dict):
            known.update(_of_resource(mutation, subject, known))
    return {"effects": [_of_effect(subject) for subject in facts.subjects], "resources": resources}


def _of_resource(mutation: Mutation, subject: Subject, known: Mapping[str, Json]) -> dict[str, Json]:
    """What an effect adds to what is kept of its resource: only what a check may look at."""
    effect, more = subject.effect, {}
    if not effect.declared:
        return {}
    if "before" not in known and (effect.action in _SETTING or effect.basis is Basis.RESOURCE):
        more["before"] = to_json(dict(subject.attributes_before))
    agent_sets = effect.action is EffectAction.SET and mutation.caller.kind is ActorKind.AGENT
    if "dependants" not in known and (agent_sets or effect.action is EffectAction.DELETE):
        more["dependants"] = [[each.address, each.direct, each.recorded] for each in subject.dependants]
    return more


def _of_effect(subject: Subject) -> Json:
    effect = subject.effect
    kept: dict[str, Json] = {
        "by": effect.by,
        "disputed": subject.disputed,
        "hidden": subject.hidden,
        "obliged": effect.obliged,
        "unrecorded": list(effect.unrecorded),
        "untold": effect.untold,
    }
    return {name: value for name, value in kept.items() if value}
