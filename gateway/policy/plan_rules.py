"""Reads from the policies' data what holds for the sessions of plans: who opens one, and which attributes guardrails judge by name.

Those that guardrails judge by class are not here: `gateway.effects.attribute_classes` has them.
"""

from collections.abc import Mapping
from typing import Any

from gateway.core.model.caller import ActorKind
from gateway.core.model.plan_session import PlanRules


def plan_rules(data: Mapping[str, Any]) -> PlanRules:
    """The rules of data that `data_schema.check_data` has validated. Without `plans`, people and pipelines open sessions."""
    identity, exposure, losses = (data.get(name, {}) for name in ("identity", "exposure", "data_loss"))
    usual = PlanRules()
    openers = data.get("plans", {}).get("open_sessions")
    return PlanRules(
        openers=usual.openers if openers is None else frozenset(map(ActorKind, openers)),
        exact_services=frozenset(identity.get("services", ())),
        guarded=frozenset(
            (
                *identity.get("documents", {}),
                *exposure.get("switches", {}),
                *exposure.get("names", {}),
                *exposure.get("policy_attributes", ()),
            )
        ),
        guarded_by_type={kind: frozenset(names) for kind, names in exposure.get("of_types", {}).items()},
        counted={
            str(kind): str(name)
            for size in data.get("budgets", {}).get("sizes", {}).values()
            for kind, name in size["created"].items()
        },
        stores=frozenset(losses.get("stores", ())),
    )
