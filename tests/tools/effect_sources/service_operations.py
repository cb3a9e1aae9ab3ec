"""Reads from botocore's models the operations that do more than read, with their parameters and the names of their IAM actions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.aws.models import call_classes
from gateway.aws.models.curation import curation
from gateway.aws.models.routing_index import models
from gateway.core.model.mutation import CallClass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOperation:
    """One operation of one service, by botocore's names."""

    service: str
    service_id: str
    """The service's name in words, e.g. `Elastic Load Balancing v2`."""
    name: str
    prefixes: tuple[str, ...]
    """The prefixes that the action may have in IAM, the most likely first."""
    call_class: CallClass
    parameters: tuple[str, ...]
    """The names at the top of its input."""
    required: frozenset[str]
    texts: frozenset[str]
    """Those whose value is a text or a list of texts: only they can name a resource."""
    tokens: frozenset[str]
    """Parameters that make a call idempotent or only try it."""


def operations() -> Iterator[ServiceOperation]:
    """Every operation that does more than read, by service and name."""
    classes = call_classes.shipped()
    prefixes = curation().iam_prefix
    for service, model in models():
        for name in sorted(model["operations"]):
            call_class = classes.of(service, name)
            if call_class not in (CallClass.READ, CallClass.SECRET):
                yield read_operation(service, name, model, call_class, prefix=prefixes.get(service))


def read_operation(
    service: str, name: str, model: Mapping[str, Any], call_class: CallClass, *, prefix: str | None = None
) -> ServiceOperation:
    """The operation as botocore's model of the service describes it. `prefix` is that of its IAM action, where no rule finds it."""
    metadata = model["metadata"]
    definition = model["operations"][name]
    guesses = (
        [prefix]
        if prefix
        else [metadata.get("signingName"), metadata["endpointPrefix"], service, service.replace("-", "")]
    )
    shape = model["shapes"].get(definition.get("input", {}).get("shape"), {})
    members: Mapping[str, Any] = shape.get("members", {})
    tokens = {
        each for each, member in members.items() if member.get("idempotencyToken") or each in ("DryRun", "dryRun")
    }
    return ServiceOperation(
        service=service,
        service_id=metadata.get("serviceId", service),
        name=name,
        prefixes=tuple(dict.fromkeys(guess for guess in guesses if guess)),
        call_class=call_class,
        parameters=tuple(members),
        required=frozenset(shape.get("required", ())) & frozenset(members),
        texts=frozenset(each for each, member in members.items() if _is_text(model["shapes"], member["shape"])),
        tokens=frozenset(tokens),
    )


def _is_text(shapes: Mapping[str, Any], name: str) -> bool:
    shape = shapes.get(name, {"type": "string"})
    return bool(shape["type"] == "string" or (shape["type"] == "list" and _is_text(shapes, shape["member"]["shape"])))
