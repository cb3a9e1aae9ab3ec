"""The operations of Systems Manager on documents. The calls of automations are unpacked in `gateway.effects.proxies.automation`."""

from collections.abc import Mapping

from gateway.effects.naming import plain
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation, controls
from gateway.effects.tags import set_tags

_DOCUMENT = "aws_ssm_document"
_BY_NAME = {"Name": plain("name")}

OPERATIONS: Mapping[str, Operation] = {
    "CreateDocument": Operation(
        resource_type=_DOCUMENT,
        identity=_BY_NAME,
        action=CREATE,
        attributes={"Tags": set_tags},
        controls=controls("DisplayName"),
    ),
    "UpdateDocument": Operation(
        resource_type=_DOCUMENT, identity=_BY_NAME, action=SET, controls=controls("DisplayName", "DocumentVersion")
    ),
    "DeleteDocument": Operation(resource_type=_DOCUMENT, identity=_BY_NAME, action=DELETE),
    "StartAutomationExecution": Operation(
        resource_type=_DOCUMENT,
        identity={"DocumentName": plain("name")},
        action=INVOKE,
        controls=controls("ClientToken", "DocumentVersion", "MaxConcurrency", "MaxErrors", "Mode"),
        content=frozenset({"Parameters", "Tags"}),
    ),
}
