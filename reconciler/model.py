"""The nouns of writing back: the values the code must declare, the edits that declare them, and the proofs, with their JSON forms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE, AttributePath

REPLACES = "replaces"
"""The member of a wanted value that says which id the address had."""
NAMES = "names"
"""The member of a new resource's wanted value with the attributes by which others name it."""
NAMING = "naming"
"""The member of a new resource's wanted value with the addresses of the other new ones that it names."""
OWNERS = "owners"
"""The member of a new resource's wanted value with the addresses of the declared resources that it names."""
COMES_WITH = "comes_with"
"""The member of a new resource's wanted value with the address of the new one whose entry in the code makes it too."""
TAKEN_BACK = "taken_back"
"""The member of a wanted value that says which commits of ours do not count any more, because the resource was created again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A value that the code must declare."""

    address: str
    """Terraform address of one instance, e.g. `module.jobs["a"].aws_sqs_queue.this`."""
    attribute: str
    """Dotted path, e.g. `desired_capacity`, `tags.owner`, `versioning_configuration.status`."""
    value: Json
    before: Json = field(default=None, compare=False)
    """What Terraform says the code declares there, in the provider's form; null if that is not known."""

    @property
    def path(self) -> AttributePath:
        """The attribute as a path."""
        return AttributePath(self.attribute)

    @property
    def key(self) -> tuple[str, str]:
        """(address, attribute)."""
        return self.address, self.attribute

    @property
    def top_key(self) -> tuple[str, str]:
        """(address, the resource's own attribute that the path begins with)."""
        return self.address, self.path.top


def is_gone(wanted: Wanted) -> bool:
    """Whether the code must not declare the resource any more."""
    return wanted.attribute == WHOLE and wanted.value is None


def is_new(wanted: Wanted) -> bool:
    """Whether the code must declare a new resource; the value then says how: see `reconciler.rewrite.create`."""
    return wanted.attribute == WHOLE and isinstance(wanted.value, Mapping)


def is_replacement(wanted: Wanted) -> bool:
    """Whether only the import of another resource is wanted for an address that the code has: see `reconciler.rewrite.imports`."""
    return is_new(wanted) and REPLACES in wanted.value  # type: ignore[operator]  # `is_new` says that it is a mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change to the text of one Terraform file: bytes `start` to `end` of `path` become `new`. Nothing else changes."""

    path: Path
    """Relative to the stack's root directory."""
    start: int
    end: int
    old: bytes
    new: bytes
    wanted: Wanted
    chain: tuple[str, ...] = ()
    """How the value was traced from the attribute to this place: one line per step, each with `file:line`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedEdit:
    """An edit without its bytes, which the commit has."""

    path: Path
    """Relative to the stack's root directory."""
    wanted: Wanted
    chain: tuple[str, ...] = ()
    """As in `Edit`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A wanted value that is left to a human, because no edit of the code can express it or be proved."""

    wanted: Wanted
    reason: str
    """A whole sentence."""
    chain: tuple[str, ...] = ()
    """How far the value was traced: one line per step, each with `file:line`."""
    superseded_by: str = ""
    """The id of the mutation that set the value again since; empty if none did."""
    diff: str = ""
    """What a person may apply instead: a unified diff of the code with all other edits; empty if there is no proposal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The result of editing: the new bytes of every changed file, the edits that were made, and the values left."""

    files: Mapping[Path, bytes] = field(default_factory=dict)
    """By path relative to the stack's root directory."""
    edits: tuple[Edit, ...] = ()
    left: tuple[Left, ...] = ()
    proposed: Mapping[Path, bytes] = field(default_factory=dict)
    """The files, as `files`, with the diffs of all that is left applied too; empty if none has one. Only a person writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftOrigin:
    """Who made a change that did not pass through Sentinel, according to CloudTrail."""

    actor: str
    event: str
    """`service:Operation`."""
    at: datetime
    event_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A live value that differs from the declared one."""

    wanted: Wanted
    """The live value, in the provider's form."""
    before: Json
    """The value in the code or in the state."""
    origin: DriftOrigin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One check of an edit, and whether it held."""

    name: str
    """parses, formatted, untouched, nothing_hidden, captured, plan_clean or nothing_else: see `reconciler.proof.proofs`."""
    held: bool
    detail: str = ""


def unified_diff(path: Path, old: bytes, new: bytes) -> str:
    """The change of a file as `diff -u` and `git diff` write it, with the path relative to the stack's root."""
    import difflib  # noqa: PLC0415  only where there is something to show

    before, after = (content.decode(errors="replace").splitlines(keepends=True) for content in (old, new))
    lines = difflib.unified_diff(before, after, fromfile=f"a/{path}", tofile=f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def left_to_json(left: Left) -> dict[str, Json]:
    """`address`, `attribute`, `value`, `reason`, `chain`, and `superseded_by` and `diff` if there is one. The value of a secret is None already."""
    more: dict[str, Json] = {"superseded_by": left.superseded_by, "diff": left.diff}
    said = {name: value for name, value in more.items() if value}
    return {**_wanted_to_json(left.wanted), "reason": left.reason, "chain": list(left.chain), **said}


def left_from_json(form: Mapping[str, Any]) -> Left:
    """The inverse of `left_to_json`."""
    return Left(
        wanted=_wanted_from_json(form),
        reason=form["reason"],
        chain=tuple(form["chain"]),
        superseded_by=form.get("superseded_by", ""),
        diff=form.get("diff", ""),
    )


def proof_to_json(proof: Proof) -> dict[str, Json]:
    """`name`, `held` and `detail`."""
    return {"name": proof.name, "held": proof.held, "detail": proof.detail}


def proof_from_json(form: Mapping[str, Any]) -> Proof:
    """The inverse of `proof_to_json`."""
    return Proof(name=form["name"], held=form["held"], detail=form["detail"])


def edit_to_json(edit: ProposedEdit) -> dict[str, Json]:
    """`address`, `attribute`, `value`, `path` and `chain`."""
    return {**_wanted_to_json(edit.wanted), "path": str(edit.path), "chain": list(edit.chain)}


def edit_from_json(form: Mapping[str, Any]) -> ProposedEdit:
    """The inverse of `edit_to_json`."""
    return ProposedEdit(path=Path(form["path"]), wanted=_wanted_from_json(form), chain=tuple(form["chain"]))


def _wanted_to_json(wanted: Wanted) -> dict[str, Json]:
    return {"address": wanted.address, "attribute": wanted.attribute, "value": wanted.value}


def _wanted_from_json(form: Mapping[str, Any]) -> Wanted:
    return Wanted(address=form["address"], attribute=form["attribute"], value=form["value"])
