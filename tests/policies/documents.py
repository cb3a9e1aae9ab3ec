"""Documents as `gateway.line.checks.policy_input` makes them, for tests that ask the policies alone."""

from typing import Any


def effect(resource_type: str, action: str, attribute: str, value: Any, **more: Any) -> dict[str, Any]:
    """One effect on a declared resource that nobody depends on."""
    return {
        "address": f"{resource_type}.x",
        "attribute": attribute,
        "action": action,
        "value": value,
        "before": None,
        "declared_value": None,
        "resource_type": resource_type,
        "identity": {},
        "declared": True,
        "exists": action != "create",
        "changes": True,
        "contract": {"managed_by_agent": True, "critical": False, "prevent_delete": False, "owner": ""},
        **more,
    }


def document(
    *effects: dict[str, Any],
    kind: str = "human",
    service: str = "ec2",
    operation: str = "DoSomething",
    parameters: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What the policies are shown of a call with these effects."""
    return {
        "now_ns": 1000000000000,
        "stack": "kafka",
        "mode": "enforce",
        "caller": {"actor": "somebody", "kind": kind, "roles": [], "on_behalf_of": "", "open_claims": 0},
        "motive": {
            "intent": "cost",
            "motivation": "budget",
            "text": "",
            "evidence": ["T-1"],
            "wanted_seconds": None,
            "proven": None,
        },
        "mutation": {
            "id": "mut_1",
            "service": service,
            "operation": operation,
            "account": "123456789012",
            "parameters": parameters or {},
            "controls": [],
            "class": "mutation",
            "understood": bool(effects),
            "effects": list(effects),
        },
        "security_groups": {"of": {}, "rules": {}},
        "dependants": [],
        "claims": [],
        "flips": {},
        "signals": [],
    }
