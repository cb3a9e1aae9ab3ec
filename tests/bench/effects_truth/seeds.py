"""The seeds: Terraform code for each resource type that the simulated AWS knows, with the second value of each changeable attribute.

A seed file is plain Terraform. A line `name = value # then other` says that `other` is the attribute's second value; what the file says
without these comments is what is created first. Lines of one resource are changed one after the other, never two at once.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SEEDS = Path(__file__).parents[2] / "cases" / "effects_truth"

_RESOURCE = re.compile(r'^resource "(?P<type>\w+)" "(?P<name>\w+)"')
_BLOCK = re.compile(r"^  (\w+) \{$")
_NAMED = re.compile(
    r"^(?:resource|data|ephemeral) .*$|\b(?:aws_\w+|local|module|var)\.seed\b|(?<!\w)(?P<name>seed)(?!\w)", re.MULTILINE
)
"""What the text calls `seed`: blocks and references to them, and by `name` what AWS is told."""
_CHANGE = re.compile(r"^(?P<start>\s*(?P<attribute>\w+)\s*=\s*)(?P<first>.*?)\s+# then (?P<second>.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A second value for one attribute of one resource."""

    address: str
    attribute: str
    """The attribute of the resource; for a line in a block that block."""
    line: int
    text: str
    """The line with the second value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """The seeds of one service: code and changes."""

    service: str
    text: str
    addresses: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def types(self) -> frozenset[str]:
        """The resource types that it creates."""
        return frozenset(address.partition(".")[0] for address in self.addresses)

    def rounds(self) -> list[tuple[Change, ...]]:
        """The changes in rounds: in each, at most one of each resource type, so that a call's type says whose it is."""
        waiting: Mapping[str, list[Change]] = defaultdict(list)
        for change in self.changes:
            waiting[change.address.partition(".")[0]].append(change)
        length = max((len(changes) for changes in waiting.values()), default=0)
        return [
            tuple(changes[number] for changes in waiting.values() if number < len(changes)) for number in range(length)
        ]

    def changed(self, changes: Sequence[Change]) -> str:
        """The code after these changes."""
        lines = self.text.splitlines()
        for change in changes:
            lines[change.line] = change.text
        return "\n".join(lines) + "\n"


def seed_names() -> list[str]:
    """The services with seeds, sorted."""
    return sorted(path.stem for path in SEEDS.glob("*.tf") if path.stem != "provider")


def read_seed(service: str) -> Seed:
    """The seeds of a service."""
    return parse_seed(service, (SEEDS / f"{service}.tf").read_text())


def read_module(service: str) -> Seed:
    """The seeds of a service for a root that has others too: what they call `seed` in AWS, where every name is taken once, has the service's name in it."""
    text = (SEEDS / f"{service}.tf").read_text()
    return parse_seed(service, _NAMED.sub(lambda found: f"seed{service}" if found["name"] else found[0], text))


def parse_seed(service: str, text: str) -> Seed:
    """A seed from the text of its file."""
    addresses: list[str] = []
    changes: list[Change] = []
    block = ""
    for number, line in enumerate(text.splitlines()):
        if found := _RESOURCE.match(line):
            addresses.append(f"{found['type']}.{found['name']}")
        if found := _BLOCK.match(line):
            block = found[1]
        if found := _CHANGE.match(line):
            nested = line.startswith("    ")
            changes.append(
                Change(
                    address=addresses[-1],
                    attribute=block if nested else found["attribute"],
                    line=number,
                    text=found["start"] + found["second"],
                )
            )
    return Seed(service=service, text=text, addresses=tuple(addresses), changes=tuple(changes))
