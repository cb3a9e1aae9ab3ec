"""Generates the table of sensitive parameters and replies (`gateway/effects/sensitive_members.json`) from botocore's models.

Run it with `python -m gateway.aws.models.generate_sensitive_members`. It covers the operations that are not reads: their parameters are
shown to approvers, and their replies are kept for a repeated attempt and given to agents without what hands out a secret (`answer_review`).
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.aws.models import call_classes
from gateway.aws.models.answer_review import Answer, review
from gateway.aws.models.curation import curation
from gateway.aws.models.read_review import marked_members, secret_members
from gateway.aws.models.routing_index import models
from gateway.core.model.mutation import CallClass
from gateway.effects.sensitive_members import SHIPPED

_HARMLESS = {"s3": {"SSEKMSEncryptionContext", "SSEKMSKeyId"}}
"""Marked members of replies that are no secrets: AWS writes an encryption context into plain text logs itself."""
_READS = frozenset({CallClass.READ, CallClass.SECRET, CallClass.CRYPTO})
_ITEMS = ("member", "item")
"""The elements of a list in XML, if its model names none ("XML protocols", Smithy)."""


def build() -> dict[str, Any]:
    """The table as plain data: the marked parameters by service and operation, the operations by service whose replies may hold secrets, and
    what is withheld of those that hand out one.
    """
    classes = call_classes.shipped()
    parameters: dict[str, dict[str, str]] = {}
    replies: dict[str, list[str]] = {}
    withheld: dict[str, dict[str, str]] = {}
    for service, model in models():
        changes = {name: it for name, it in model["operations"].items() if classes.of(service, name) not in _READS}
        parameters[service] = _parameters(model["shapes"], changes)
        withheld[service] = _withheld(service, model["shapes"], changes)
        replies[service] = sorted({*_replies(service, model["shapes"], changes), *withheld[service]})
    return {
        "parameters": {service: found for service, found in parameters.items() if found},
        "replies": {service: found for service, found in replies.items() if found},
        "withheld": {service: found for service, found in withheld.items() if found},
    }


def _parameters(shapes: Mapping[str, Any], operations: Mapping[str, Any]) -> dict[str, str]:
    found = {
        name: marked_members(shapes, definition["input"]["shape"])
        for name, definition in operations.items()
        if "input" in definition
    }
    return {name: " ".join(sorted(members)) for name, members in found.items() if members}


def _replies(service: str, shapes: Mapping[str, Any], operations: Mapping[str, Any]) -> list[str]:
    harmless = _harmless(service)
    return sorted(
        name
        for name, definition in operations.items()
        if "output" in definition and secret_members(shapes, definition["output"]["shape"]) - harmless
    )


def _harmless(service: str) -> frozenset[str]:
    """Marked members of a service that are no secrets."""
    return frozenset(_HARMLESS.get(service, set())) | curation().outputs.get(service, frozenset())


def _withheld(service: str, shapes: Mapping[str, Any], operations: Mapping[str, Any]) -> dict[str, str]:
    """Operation → where its reply hands out a secret, as `gateway.line.withheld` reads it: `parent/name` of members and elements, `@name` of
    headers, `*` for the whole body.
    """
    found, classes, harmless = {}, call_classes.shipped(), _harmless(service)
    for name, definition in operations.items():
        answer, call_class = Answer(service, name, shapes, definition), classes.of(service, name)
        secrets = answer.handed_out(review())
        if call_class is CallClass.MUTATION:
            # The answer of what is executed is what the caller asked for: of a change it is the change.
            secrets |= {member for member in answer.marked if member.partition(".")[2] not in harmless}
        # What hands out credentials is never sent.
        if secrets and call_class is not CallClass.CREDENTIAL:
            parents = _parents(answer)
            found[name] = " ".join(sorted({place for secret in secrets for place in _places(answer, secret, parents)}))
    return found


def _places(answer: Answer, secret: str, parents: Mapping[str, set[str]]) -> Iterator[str]:
    structure, _, member = secret.partition(".")
    reference = answer.members[secret].reference
    names = {member, reference.get("locationName", member)}
    if reference.get("location") in ("header", "headers"):
        yield from (f"@{name.lower()}" for name in names)
        return
    target = answer.shapes[reference["shape"]]
    if answer.shapes[structure].get("payload") == member and target["type"] != "structure":
        yield "*"
        return
    if target["type"] == "list":
        names.add(target["member"].get("locationName", member))
    yield from (f"{parent}/{name}" for parent in parents[structure] for name in names)


def _parents(answer: Answer) -> dict[str, set[str]]:
    """Structure → the names under which it stands in the reply: those of members, of elements of lists, and of the root."""
    output = answer.definition["output"]["shape"]
    found: dict[str, set[str]] = {output: {"", f"{answer.operation}Response", f"{answer.operation}Result"}}
    for name, member in answer.members.items():
        structure, _, own = name.partition(".")
        names = {own, member.reference.get("locationName", own)}
        if structure == output and answer.shapes[output].get("payload") == own:
            names.add("")
        shape = member.reference["shape"]
        while "members" not in answer.shapes[shape]:
            inner = answer.shapes[shape].get("member") or answer.shapes[shape].get("value")
            if inner is None:
                break
            # The keys of a map are any names.
            names |= {inner.get("locationName", own), *(_ITEMS if "member" in answer.shapes[shape] else ("value", "*"))}
            shape = inner["shape"]
        if "members" in answer.shapes[shape]:
            found.setdefault(shape, set()).update(names)
    return found


def table_text(data: dict[str, Any]) -> str:
    """The text of the shipped file, one operation per line."""
    return json.dumps(data, indent=0, sort_keys=True) + "\n"


def main() -> None:
    """Regenerate the shipped table and print how much it holds."""
    data = build()
    SHIPPED.write_text(table_text(data))
    counts = (sum(map(len, data[part].values())) for part in ("parameters", "replies", "withheld"))
    sys.stdout.write(
        "{}: {} operations with marked parameters, {} replies, {} with parts withheld\n".format(SHIPPED.name, *counts)
    )


if __name__ == "__main__":
    main()
