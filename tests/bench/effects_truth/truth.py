"""What really changes: the resources and attributes that a plan of Terraform says, and which resource type sent a request."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ALSO = frozenset({"tags_all", "id", "arn"})
"""Attributes that follow from others: a plan shows them, no call carries them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a plan does to one resource."""

    address: str
    creates: bool = False
    deletes: bool = False
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    """Without what is only known after the apply."""
    done: bool = True
    """Whether Terraform got through with it."""
    made: Mapping[str, Any] = field(default_factory=dict)
    """Of a creation the texts in the state after the apply, which name it."""

    @property
    def type(self) -> str:
        """Its resource type."""
        return self.address.partition(".")[0]

    @property
    def changed(self) -> frozenset[str]:
        """The attributes that an update changes; empty for a creation and a deletion."""
        if self.creates or self.deletes:
            return frozenset()
        names = {*self.before, *self.after} - ALSO
        return frozenset(name for name in names if name in self.after and self.before.get(name) != self.after[name])


def read_planned(document: Mapping[str, Any]) -> dict[str, Planned]:
    """What `terraform show -json` says of a plan, by address; without resources that stay as they are."""
    found: dict[str, Planned] = {}
    for resource in document.get("resource_changes", []):
        change = resource["change"]
        actions = set(change["actions"])
        if actions & {"create", "update", "delete"} and resource["mode"] == "managed":
            unknown = change.get("after_unknown") or {}
            after = {name: value for name, value in (change["after"] or {}).items() if not unknown.get(name)}
            found[resource["address"]] = Planned(
                address=resource["address"],
                creates="create" in actions,
                deletes="delete" in actions,
                before=change["before"] or {},
                after=after,
            )
    return found


def completed(output: str) -> frozenset[str]:
    """The addresses that `terraform apply -json` got through with."""
    lines = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    return frozenset(line["hook"]["resource"]["addr"] for line in lines if line["type"] == "apply_complete")


def recorded(state: Path) -> dict[str, dict[str, str]]:
    """The attributes that are text, by address, as a state file has them; empty if there is none."""
    document = json.loads(state.read_text()) if state.exists() else {"resources": []}
    return {
        f"{resource['type']}.{resource['name']}": {
            name: value for name, value in instance["attributes"].items() if isinstance(value, str)
        }
        for resource in document["resources"]
        if resource["mode"] == "managed"
        for instance in resource["instances"]
    }


def said(output: str) -> str:
    """The errors of `terraform apply -json`, one a line, each with its resource."""
    lines = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    errors = [line["diagnostic"] for line in lines if line["@level"] == "error" and "diagnostic" in line]
    return "\n".join(f"{each.get('address', '')}: {' '.join(each['summary'].split())}" for each in errors)


def senders(log: Path, start: int) -> tuple[dict[str, str], int]:
    """The resource type that sent each request, by its SDK's invocation id, from byte `start` of the provider's log; and where it ends."""
    with log.open("rb") as file:
        file.seek(start)
        text = file.read()
    end = text.rfind(b"\n") + 1
    return dict(_senders(text[:end])), start + end


def _senders(text: bytes) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if b'"HTTP Request Sent"' in line and b'"tf_resource_type"' in line:
            entry = json.loads(line)
            if invocation := entry.get("http.request.header.amz_sdk_invocation_id"):
                yield invocation, entry["tf_resource_type"]
