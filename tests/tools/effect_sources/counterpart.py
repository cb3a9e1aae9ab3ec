"""The reviewed table of the Terraform type that manages the resources of a type of CloudFormation or IAM: `terraform_types.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MAPPING = Path(__file__).with_name("terraform_types.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """The Terraform type of a CloudFormation type, and the signs that say so."""

    terraform: str
    """Empty if several Terraform types manage such resources, each in its own way."""
    signs: tuple[str, ...]
    noun: str | None = None
    """The name that operations give it, where that is not the type's own; empty if no operation means this type."""


def mapping() -> Mapping[str, Counterpart]:
    """CloudFormation's or IAM's type → its counterpart, as reviewed."""
    return {
        name: Counterpart(terraform=entry["terraform"], signs=tuple(entry["signs"]), noun=entry.get("noun"))
        for name, entry in json.loads(MAPPING.read_text()).items()
    }


def entry(counterpart: Counterpart) -> dict[str, object]:
    """The counterpart as the table has it."""
    stated: dict[str, object] = {"signs": list(counterpart.signs), "terraform": counterpart.terraform}
    return stated if counterpart.noun is None else {**stated, "noun": counterpart.noun}


def mapping_text(entries: Mapping[str, Mapping[str, object]]) -> str:
    """The text of the mapping: a line per type, sorted."""
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(entry, sort_keys=True)}" for name, entry in sorted(entries.items())
    )
    return f"{{\n{lines}\n}}\n"
