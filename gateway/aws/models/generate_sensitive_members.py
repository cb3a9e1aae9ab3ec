"""Generates the table of sensitive parameters and replies (`gateway/effects/sensitive_members.json`) from botocore's models.

Run it with `python -m gateway.aws.models.generate_sensitive_members`. It covers the operations that are not reads: their parameters are
shown to approvers, and their replies are kept for a repeated attempt.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from gateway.aws.models import call_classes
from gateway.aws.models.curation import curation
from gateway.aws.models.read_review import marked_members, secret_members
from gateway.aws.models.routing_index import models
from gateway.core.model.mutation import CallClass
from gateway.effects.sensitive_members import SHIPPED

_HARMLESS = {"s3": {"SSEKMSEncryptionContext", "SSEKMSKeyId"}}
"""Marked members of replies that are no secrets: AWS writes an encryption context into plain text logs itself."""
_READS = frozenset({CallClass.READ, CallClass.SECRET, CallClass.CRYPTO})


def build() -> dict[str, Any]:
    """The table as plain data: the marked parameters by service and operation, and the operations by service whose replies may hold secrets."""
    classes = call_classes.shipped()
    parameters: dict[str, dict[str, str]] = {}
    replies: dict[str, list[str]] = {}
    for service, model in models():
        changes = {name: it for name, it in model["operations"].items() if classes.of(service, name) not in _READS}
        parameters[service] = _parameters(model["shapes"], changes)
        replies[service] = _replies(service, model["shapes"], changes)
    return {
        "parameters": {service: found for service, found in parameters.items() if found},
        "replies": {service: found for service, found in replies.items() if found},
    }


def _parameters(shapes: Mapping[str, Any], operations: Mapping[str, Any]) -> dict[str, str]:
    found = {
        name: marked_members(shapes, definition["input"]["shape"])
        for name, definition in operations.items()
        if "input" in definition
    }
    return {name: " ".join(sorted(members)) for name, members in found.items() if members}


def _replies(service: str, shapes: Mapping[str, Any], operations: Mapping[str, Any]) -> list[str]:
    harmless = _HARMLESS.get(service, set()) | curation().outputs.get(service, frozenset())
    return sorted(
        name
        for name, definition in operations.items()
        if "output" in definition and secret_members(shapes, definition["output"]["shape"]) - harmless
    )


def table_text(data: dict[str, Any]) -> str:
    """The text of the shipped file, one operation per line."""
    return json.dumps(data, indent=0, sort_keys=True) + "\n"


def main() -> None:
    """Regenerate the shipped table and print how much it holds."""
    data = build()
    SHIPPED.write_text(table_text(data))
    counts = (sum(map(len, data[part].values())) for part in ("parameters", "replies"))
    sys.stdout.write("{}: {} operations with marked parameters, {} replies\n".format(SHIPPED.name, *counts))


if __name__ == "__main__":
    main()
