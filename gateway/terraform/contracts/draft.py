"""Drafts a contract for a stack that has none: what was changed lately is proposed for agents, within the values that were seen."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.core.model.masking import holds_mask
from gateway.terraform.address import parse_address
from gateway.terraform.lang.quoting import quoted_text

_FEW: Final = 5
"""Texts that an attribute had; more are no list of allowed ones."""


@dataclass(slots=True)
class Seen:
    """What was seen of one attribute."""

    values: list[Json] = field(default_factory=list)
    changes: int = 0

    def add(self, values: Iterable[Json]) -> None:
        """One change, with the values before and after it."""
        self.changes += 1
        for value in values:
            if value is not None and value not in self.values:
                self.values.append(value)


Changes = Mapping[tuple[str, str], Seen]
"""By address and attribute."""


def seen_changes(bodies: Iterable[Mapping[str, Any]]) -> Changes:
    """What records of decisions and of drift say was changed. A refused change was not, and a secret is not told."""
    found: dict[tuple[str, str], Seen] = {}
    for body in bodies:
        if "decision" not in body:  # a change from outside
            effects = [{**body, "value": body.get("live"), "before": body.get("declared")}]
        elif body["decision"].get("carried_out"):
            effects = [each for each in body["effects"] if each["action"] == "set" and each["changes"]]
        else:
            continue
        for each in effects:
            values = each.get("value"), each.get("before")
            if not each.get("sensitive") and not holds_mask(list(values)) and each.get("attribute") not in (None, "*"):
                found.setdefault((each["address"], each["attribute"]), Seen()).add(values)
    return found


def draft_contract(name: str, owner: str, addresses: Iterable[str], changes: Changes, stores: Collection[str]) -> str:
    """The contract's text. Agents get nothing but what was changed; what stores data is protected from deletion.

    Resources in modules are left out: a contract beside the code of the module is for these.
    """
    named: dict[tuple[str, str], list[str]] = {}
    for address in dict.fromkeys(addresses):
        found = parse_address(address)
        if found is not None and not found.modules and not found.data:
            named.setdefault((found.resource_type, found.name), []).append(address)
    lines = [
        "# A draft: what is here was seen, not decided. Read every line before you commit it.",
        f"contract {quoted_text(name)} {{",
    ]
    lines += [f"  owner = {quoted_text(owner)}"] if owner else []
    for (resource_type, label), instances in sorted(named.items()):
        own = _of_resource(instances, changes)
        block = _block(own, protected=resource_type in stores)
        if block:
            lines += ["", f"  resource {quoted_text(resource_type)} {quoted_text(label)} {{", *block, "  }"]
    return "\n".join([*lines, "}"]) + "\n"


def _of_resource(instances: Collection[str], changes: Changes) -> Mapping[str, Seen]:
    """What was changed of any instance of a resource, by attribute."""
    own: dict[str, Seen] = {}
    for (address, attribute), seen in changes.items():
        if address in instances:
            joined = own.setdefault(attribute, Seen())
            joined.changes += seen.changes
            joined.values += [each for each in seen.values if each not in joined.values]
    return own


def _block(own: Mapping[str, Seen], *, protected: bool) -> list[str]:
    lines = ["    critical         = true", "    prevent_delete   = true"] if protected else []
    if not own:
        return lines
    bounds = {attribute: _bounds(seen) for attribute, seen in sorted(own.items())}
    free = [attribute for attribute, found in bounds.items() if not found]
    lines.append("    managed_by_agent = true")
    if free:
        lines.append(f"    mutable          = [{', '.join(map(quoted_text, free))}]")
    for attribute, found in bounds.items():
        if found:
            times = own[attribute].changes
            lines += [
                "",
                f"    attribute {quoted_text(attribute)} {{ # changed {times} time{'' if times == 1 else 's'}",
            ]
            lines += [f"      {line}" for line in found] + ["    }"]
    return lines


def _bounds(seen: Seen) -> list[str]:
    """The bounds that the values suggest; none for values that no bound fits."""
    values = seen.values
    if values and all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
        numbers: list[Any] = list(values)
        return [f"min = {json.dumps(min(numbers))}", f"max = {json.dumps(max(numbers))}"]
    if values and len(values) <= _FEW and all(isinstance(each, str) for each in values):
        return [f"one_of = [{', '.join(quoted_text(str(each)) for each in sorted(map(str, values)))}]"]
    return []
