"""The result of a refresh: the live attributes of resources, and the resources that Terraform read at all."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.core.model.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """The live system, as far as a refresh read it."""

    read: frozenset[str]
    """The addresses that were read. What the state has of any other is old."""
    objects: Mapping[str, Mapping[str, Json]]
    """Attributes by address. A resource that was read and is absent here does not exist."""

    def exists(self, address: str) -> bool | None:
        """Whether the resource exists; None if it was not read."""
        return address in self.objects if address in self.read else None


def read_refreshed(events: bytes, document: Mapping[str, Any]) -> Refreshed:
    """The refresh of a plan: `events` is what `plan -json` printed, `document` the plan in the form of `show -json`."""
    return Refreshed(read=frozenset(_read(events)), objects=live_objects(document))


def live_objects(document: Mapping[str, Any]) -> dict[str, Mapping[str, Json]]:
    """The live attributes of every resource in the state, by address, in a plan in the form of `show -json`."""
    return dict(_objects(document.get("prior_state", {}).get("values", {}).get("root_module", {})))


def messages(events: bytes) -> list[str]:
    """The errors that `plan -json` printed."""
    return [str(event.get("@message", "")) for event in _events(events) if event.get("@level") == "error"]


def _read(events: bytes) -> Iterator[str]:
    for event in _events(events):
        if event.get("type") == "refresh_start":
            yield str(event["hook"]["resource"]["addr"])


def _events(events: bytes) -> Iterator[Mapping[str, Any]]:
    for line in events.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # a warning of terraform itself, as plain text
        if isinstance(event, dict):
            yield event


def _objects(module: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for resource in module.get("resources", []):
        yield resource["address"], resource.get("values") or {}
    for child in module.get("child_modules", []):
        yield from _objects(child)
