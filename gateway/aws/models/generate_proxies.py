"""Generates what the unpacking of calls needs of botocore's models (`gateway/effects/proxies/models.json`): batches, and names of SDKs.

Run it with `python -m gateway.aws.models.generate_proxies`. A batch is an operation that changes something and has

- in its name `Batch` and otherwise the name of another operation of its service, singular or plural, or only its plural (`CancelJobs`), and
- a list whose items are what that operation takes: structures whose members are all parameters of it (but for a label, `Id`), or texts, if
  exactly one required parameter of it is missing among the others, and
- no parameter besides the list that the single operation does not have too.

Every other operation with a list of requests is no batch here, and is held if no row explains it. The file is reviewed when it changes.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.aws.models import call_classes
from gateway.aws.models.routing_index import models
from gateway.core.model.mutation import CallClass
from gateway.effects.proxies.sdk_models import SHIPPED

_LABELS = frozenset({"Id", "id"})
"""Members that name an entry inside its batch."""
_HARMLESS = frozenset({CallClass.READ, CallClass.SECRET, CallClass.CRYPTO})
_MOST = 0.9
_OTHER_NAMES = {"eventbridge": "events", "states": "stepfunctions", "elasticmapreduce": "emr"}
"""Names that Step Functions and Scheduler use, which no model has."""


def build() -> dict[str, Any]:
    """The table as plain data."""
    classes = call_classes.shipped()
    found: dict[str, dict[str, list[str]]] = {}
    names: dict[str, str] = {}
    lower: list[str] = []
    for service, model in models():
        batches = {
            name: batch
            for name in sorted(model["operations"])
            if classes.of(service, name) not in _HARMLESS and (batch := _batch(model, name)) is not None
        }
        if batches:
            found[service] = batches
        names[_sdk_name(model)] = service
        if _is_lower(model):
            lower.append(service)
    names |= _OTHER_NAMES
    return {
        "batches": found,
        "sdk_names": {name: service for name, service in sorted(names.items()) if name != service},
        "lower_case": sorted(lower),
    }


def _sdk_name(model: Mapping[str, Any]) -> str:
    """The name of the service in the SDK for Java, which universal targets use: the service id in lower case without spaces."""
    return re.sub(r"[^a-z0-9]", "", model["metadata"]["serviceId"].lower())


def _is_lower(model: Mapping[str, Any]) -> bool:
    """Whether the parameters of the service begin in lower case. Some services have one operation or two that differ."""
    inputs = [model["shapes"][each["input"]["shape"]] for each in model["operations"].values() if "input" in each]
    members: list[str] = [name for shape in inputs for name in shape.get("members", {})]
    return sum(name[0].islower() for name in members) > len(members) * _MOST


def _batch(model: Mapping[str, Any], name: str) -> list[str] | None:
    """The single operation, the parameter with the list, the parameter that an item is ("" if an item has several), and an item's label."""
    parameters = _input(model, name)
    fitting = [
        [single, each, *parameter]
        for single in _singles(name)
        if single in model["operations"] and single != name
        for each, member in parameters.get("members", {}).items()
        if model["shapes"][member["shape"]]["type"] == "list"
        for parameter in _as_single(model, parameters, _input(model, single), each)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _singles(name: str) -> Iterator[str]:
    """The names that the single operation may have."""
    base = name.replace("Batch", "")
    plurals = (("ies", "y"), ("es", ""), ("s", ""))
    yield from dict.fromkeys([base, *(base.removesuffix(end) + new for end, new in plurals if base.endswith(end))])


def _as_single(
    model: Mapping[str, Any], parameters: Mapping[str, Any], single: Mapping[str, Any], each: str
) -> Iterator[tuple[str, str]]:
    """The parameter of the single operation that an item is, "" for a structure, and the label; nothing if it is no list of requests."""
    shapes = model["shapes"]
    item = shapes[shapes[parameters["members"][each]["shape"]]["member"]["shape"]]
    others, taken = set(parameters["members"]) - {each}, set(single.get("members", {}))
    missing = set(single.get("required", ())) - others
    if others - taken:
        return
    if item["type"] == "structure":
        members = set(item["members"])
        if not members - taken - _LABELS and not missing - members and members & taken:
            yield "", min(members - taken, default="")
    elif item["type"] == "string" and len(missing) == 1:
        yield min(missing), ""


def _input(model: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    shape = model["operations"][name].get("input", {}).get("shape")
    return model["shapes"][shape] if shape else {}


def table_text(data: dict[str, Any]) -> str:
    """The text of the shipped file, one batch per line."""
    return json.dumps(data, indent=0, sort_keys=True).replace(",\n", ", ").replace("}, ", "},\n") + "\n"


def main() -> None:
    """Regenerate the shipped table and print how much it holds."""
    data = build()
    SHIPPED.write_text(table_text(data))
    count = sum(map(len, data["batches"].values()))
    sys.stdout.write(
        f"{SHIPPED.name}: {count} batches of {len(data['batches'])} services, {len(data['sdk_names'])} names\n"
    )


if __name__ == "__main__":
    main()
