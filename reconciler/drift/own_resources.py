"""Finds the values of a resource that the stack declares by resources of their own: the policy of a queue by an `aws_sqs_queue_policy`.

Somebody who sets such a value where there was none makes a new resource in the form of its siblings, although the provider shows the value
at what it belongs to.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import Module
from reconciler.changes.event_creations import Created
from reconciler.model import Drift, DriftOrigin
from reconciler.terraform.json_documents import document_in

_OWN: Final[Mapping[tuple[str, str], tuple[str, str, str]]] = {
    ("aws_efs_file_system", "policy"): ("aws_efs_file_system_policy", "file_system_id", "id"),
    ("aws_kms_key", "policy"): ("aws_kms_key_policy", "key_id", "id"),
    ("aws_secretsmanager_secret", "policy"): ("aws_secretsmanager_secret_policy", "secret_arn", "arn"),
    ("aws_sns_topic", "policy"): ("aws_sns_topic_policy", "arn", "arn"),
    ("aws_sqs_queue", "policy"): ("aws_sqs_queue_policy", "queue_url", "id"),
    ("aws_sqs_queue", "redrive_allow_policy"): ("aws_sqs_queue_redrive_allow_policy", "queue_url", "id"),
    ("aws_sqs_queue", "redrive_policy"): ("aws_sqs_queue_redrive_policy", "queue_url", "id"),
    ("aws_vpc_endpoint", "policy"): ("aws_vpc_endpoint_policy", "vpc_endpoint_id", "id"),
}
"""The type that declares a value by itself, how it names what the value belongs to, and the attribute of that; by type and attribute."""

_USUAL: Final = frozenset({("aws_sqs_queue", "policy")})
"""What is declared by a resource of its own too where the stack has no such value yet: the argument is older than the resource."""


def as_own_resources(
    code: Module, drifts: Sequence[Drift], live: Mapping[str, Mapping[str, Json]]
) -> tuple[list[tuple[Created, DriftOrigin]], list[Drift]]:
    """The new resources that values which nobody had set are, with who made them, and the drifts that are values all the same."""
    made: list[tuple[Created, DriftOrigin]] = []
    rest: list[Drift] = []
    for drift in drifts:
        parsed = parse_address(drift.wanted.address)
        own = _OWN.get((parsed.resource_type, drift.wanted.attribute)) if parsed is not None else None
        document = document_in(drift.wanted.value)
        said = live.get(drift.wanted.address, {})
        if parsed is None or own is None or document is None or drift.origin is None or not said.get(own[2]):
            rest.append(drift)
        elif _is_form(code, own[0], parsed.resource_type, drift.wanted.attribute):
            made.append((_created(drift, own, str(said[own[2]]), document), drift.origin))
        else:
            rest.append(drift)
    return made, rest


def _created(drift: Drift, own: tuple[str, str, str], parent: str, document: Json) -> Created:
    resource_type, naming, _ = own
    return Created(
        resource_type=resource_type,
        import_id=parent,
        attributes={naming: parent, drift.wanted.attribute: {"json": document}},
        name="",
        parent=parent,
        owner=drift.wanted.address,
    )


def _is_form(code: Module, own_type: str, owner_type: str, attribute: str) -> bool:
    """Whether the stack declares such values by resources of their own, and none where they belong to."""
    sources = list(code.sources.values())
    names = [name.partition(".")[0] for source in sources for name in source.resources]
    inline = any(
        attribute in document.attributes(block)
        for source in sources
        for name, (document, block) in source.resources.items()
        if name.partition(".")[0] == owner_type
    )
    return not inline and (own_type in names or (owner_type, attribute) in _USUAL)
