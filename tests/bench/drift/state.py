"""Reads a Terraform state file: the attributes of each instance by address."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read_state(path: Path) -> dict[str, dict[str, Any]]:
    """Attributes of every managed instance, by address; empty if there is no state."""
    if not path.is_file():
        return {}
    return dict(_instances(json.loads(path.read_text())))


def identities(state: dict[str, dict[str, Any]]) -> set[tuple[str, str]]:
    """(type, id) of every instance: what stays the same when an instance is moved to another address."""
    return {(type_of(address), str(attributes.get("id"))) for address, attributes in state.items()}


def type_of(address: str) -> str:
    """The resource type in an address; keys in brackets may hold dots."""
    depth, plain = 0, ""
    for letter in address:
        depth += (letter == "[") - (letter == "]")
        plain += letter if depth == 0 and letter != "]" else ""
    return plain.split(".")[-2]


def _instances(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for resource in document["resources"]:
        if resource["mode"] != "managed":
            continue
        base = ".".join(filter(None, (resource.get("module"), resource["type"], resource["name"])))
        for instance in resource["instances"]:
            key = instance.get("index_key")
            yield base + ("" if key is None else f"[{json.dumps(key)}]"), instance["attributes"]
