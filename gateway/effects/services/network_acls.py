"""The operations of EC2 on the rules of network ACLs.

A rule that is a resource of its own is changed exactly. Where the rules of the ACL are its own `ingress` or `egress`, that attribute changes
to a value that only AWS knows: the state writes protocols in another way than the code.
"""

from collections.abc import Mapping
from dataclasses import replace

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import effects_on
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation, controls
from gateway.effects.services.inline_rules import protocol_of
from gateway.effects.values import NotUnderstood

_ACL, _RULE = "aws_network_acl", "aws_network_acl_rule"
_OWN = {"RuleNumber": "rule_number", "Egress": "egress"}
_PORTS: Mapping[str, Json] = {"from_port": None, "to_port": None}


def _protocol(target: Target, value: object) -> Mapping[str, Json]:
    """The protocol's name, which AWS gives as a number; in the form that the state has, if it is the same one."""
    recorded, name = target.recorded.get("protocol"), protocol_of(value)
    return {"protocol": recorded if recorded and protocol_of(recorded) == name else name}


_ENTRY = Operation(
    resource_type=_RULE,
    identity={"NetworkAclId": "network_acl_id", "RuleNumber": "rule_number", "Egress": "egress"},
    attributes={
        "IcmpTypeCode.Code": "icmp_code",
        "IcmpTypeCode.Type": "icmp_type",
        "PortRange.From": "from_port",
        "PortRange.To": "to_port",
        "Protocol": _protocol,
    },
    controls=controls("DryRun"),
)


def _entry(action: EffectAction) -> Operation:
    """A row that creates, replaces or deletes one rule."""
    row = Operation(
        resource_type=_RULE,
        identity=_ENTRY.identity,
        action=action,
        attributes=_ENTRY.attributes if action is not DELETE else {},
        controls=_ENTRY.controls,
        defaults=_PORTS if action is SET else {},
    )

    def handler(context: CallContext) -> tuple[Effect, ...]:
        rule = context.target(_RULE, _identity(context))
        own: Mapping[str, Json] = {name: to_json(context.call.parameters[path]) for path, name in _OWN.items()}
        effects = tuple(effects_on(replace(row, constants=own) if action is CREATE else row, context, rule))
        acl = context.target(_ACL, {"id": context.text("NetworkAclId")})
        if rule.declared or not acl.recorded or context.inventory.find(_RULE, "network_acl_id", acl.identity["id"]):
            return effects
        direction = "egress" if context.call.parameters.get("Egress") else "ingress"
        return (acl.put(direction, None, action=INVOKE),)

    return Operation(resource_type=_RULE, other_types=(_ACL,), handler=handler)


def _identity(context: CallContext) -> dict[str, str]:
    number, egress = context.call.parameters.get("RuleNumber"), context.call.parameters.get("Egress")
    if isinstance(number, bool) or not isinstance(number, int) or not isinstance(egress, bool):
        raise NotUnderstood("the call does not say which rule")
    acl = context.text("NetworkAclId")
    return {"network_acl_id": acl, "rule_number": str(number), "egress": "true" if egress else "false"}


OPERATIONS: Mapping[str, Operation] = {
    "CreateNetworkAclEntry": _entry(CREATE),
    "ReplaceNetworkAclEntry": _entry(SET),
    "DeleteNetworkAclEntry": _entry(DELETE),
}
