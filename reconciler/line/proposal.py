"""What the line hands from proving to publishing: proved edits with their commit message, or the reason why no file changes."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from gateway.core.model.json import Json
from gateway.core.records.write_backs import ReconciledBody, RecordedEdit, RecordedLeft, RecordedProof
from reconciler import model
from reconciler.changes.classification import ClassifiedDrift, superseded_reason
from reconciler.line.one_change import OneChange
from reconciler.model import (
    Edit,
    Left,
    Proof,
    ProposedEdit,
    edit_from_json,
    edit_to_json,
    left_from_json,
    left_to_json,
    proof_from_json,
    proof_to_json,
)
from reconciler.proof.proofs import describe
from reconciler.proof.proved_edit import ProvedEdit
from reconciler.publish.commit_message import CodeBefore, commit_message

_NOTED = 50
"""How many differences that were there before a record names."""
_LONGEST_DIFF = 64 * 1024
"""Characters of a diff that a record keeps; the commit has the whole diff."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What is to be written back for one mutation."""

    base: str = ""
    """The commit of the stack's branch on which the edits were proved; empty if no file changes."""
    commit: str = ""
    """The commit of an earlier run that was killed after committing; then nothing is left to commit."""
    message: str = ""
    """The commit message; empty if there are no edits."""
    files: Mapping[Path, bytes] = field(default_factory=dict)
    """New bytes of the changed files, by path relative to the stack's root directory."""
    edits: tuple[ProposedEdit, ...] = ()
    proofs: tuple[Proof, ...] = ()
    left: tuple[Left, ...] = ()
    """Belongs in code, and a human must look at it."""
    kept_out: tuple[Left, ...] = ()
    """Does not belong in code."""
    nothing_to_do: str = ""
    """Why no file changes although nothing is left: a whole sentence, or empty."""
    merged: bool = False
    """Whether the protected branch itself declares the values; only with `nothing_to_do`."""
    noted: tuple[str, ...] = ()
    """What the plan would change with the edits and without them, a sentence each: it was there before and stays."""
    tried: Mapping[str, Json] = field(default_factory=dict)
    """In which circumstances something was left, see `Line.circumstances`; empty if nothing was."""
    corrects: int = 0
    """Number of the RECONCILED record that this corrects; 0 for the first one."""
    beside: Mapping[str, "Proposal"] = field(default_factory=dict)
    """What is written or left of the mutations that are one change with this one, by id: their edits are in the same commit."""

    def to_json(self) -> dict[str, Json]:
        """The form DBOS stores between steps: one member per field, files in base64."""
        return {
            "base": self.base,
            "commit": self.commit,
            "message": self.message,
            "files": {str(path): base64.b64encode(content).decode() for path, content in self.files.items()},
            "edits": [edit_to_json(edit) for edit in self.edits],
            "proofs": [proof_to_json(proof) for proof in self.proofs],
            "left": [left_to_json(left) for left in self.left],
            "kept_out": [left_to_json(left) for left in self.kept_out],
            "nothing_to_do": self.nothing_to_do,
            "merged": self.merged,
            "noted": list(self.noted),
            "tried": dict(self.tried),
            "corrects": self.corrects,
            "beside": {mutation: each.to_json() for mutation, each in self.beside.items()},
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> "Proposal":
        """The inverse of `to_json`."""
        return cls(
            base=form["base"],
            commit=form["commit"],
            message=form["message"],
            files={Path(path): base64.b64decode(content) for path, content in form["files"].items()},
            edits=tuple(edit_from_json(row) for row in form["edits"]),
            proofs=tuple(proof_from_json(row) for row in form["proofs"]),
            left=tuple(left_from_json(row) for row in form["left"]),
            kept_out=tuple(left_from_json(row) for row in form["kept_out"]),
            nothing_to_do=form["nothing_to_do"],
            merged=form["merged"],
            noted=tuple(form["noted"]),
            tried=form["tried"],
            corrects=form["corrects"],
            beside={mutation: cls.from_json(each) for mutation, each in form.get("beside", {}).items()},
        )

    def written_back(self, *, branch: str, commit: str, diff: str) -> "WrittenBack":
        """The bodies of the RECONCILED records; `commit` and `diff` are empty if nothing was committed."""
        beside = {
            mutation: each.record_body(branch=branch, commit=commit if each.edits else "", diff=diff)
            for mutation, each in self.beside.items()
        }
        return WrittenBack(body=self.record_body(branch=branch, commit=commit, diff=diff), beside=beside)

    def record_body(self, *, branch: str, commit: str, diff: str) -> ReconciledBody:
        """The body of the RECONCILED record; `commit` and `diff` are empty if nothing was committed."""
        body = ReconciledBody(
            left=tuple(map(_recorded, self.left)),
            kept_out=tuple(map(_recorded, self.kept_out)),
            noted=self.noted,
            tried=self.tried,
            corrects=self.corrects,
            superseded_by=self._superseded_by,
        )
        if commit:
            return structs.replace(
                body,
                edits=tuple(msgspec.convert(model.edit_to_json(edit), RecordedEdit) for edit in self.edits),
                proofs=tuple(RecordedProof(name=each.name, held=each.held, detail=each.detail) for each in self.proofs),
                branch=branch,
                commit=commit,
                files=tuple(sorted({str(path) for path in self.files or (edit.path for edit in self.edits)})),
                diff=diff[:_LONGEST_DIFF],
            )
        if self.nothing_to_do:
            return structs.replace(body, nothing_to_do=self.nothing_to_do, merged=self.merged)
        if not self.left:
            return structs.replace(body, nothing_to_do=self._why_nothing, merged=False)
        return body

    @property
    def _superseded_by(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entry.superseded_by for entry in self.kept_out if entry.superseded_by))

    @property
    def _why_nothing(self) -> str:
        if not self._superseded_by:
            return "Nothing of it belongs in code."
        rest = " The rest does not belong in code." if any(not kept.superseded_by for kept in self.kept_out) else ""
        return (
            f"It was superseded before it was written: {', '.join(self._superseded_by)} changed the same since.{rest}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBack:
    """What RECONCILED says of a mutation, and of those that are one change with it."""

    body: ReconciledBody
    beside: Mapping[str, ReconciledBody] = field(default_factory=dict)
    """By the mutation's id."""

    def to_json(self) -> dict[str, Json]:
        """The form DBOS stores between steps: the members of `body`, and `beside`."""
        return {**self.body.members, "beside": {mutation: each.members for mutation, each in self.beside.items()}}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> "WrittenBack":
        """The inverse of `to_json`."""
        members = {name: value for name, value in form.items() if name != "beside"}
        return cls(
            body=msgspec.convert(members, ReconciledBody),
            beside={
                mutation: msgspec.convert(each, ReconciledBody) for mutation, each in form.get("beside", {}).items()
            },
        )


def comparable_body(body: ReconciledBody) -> ReconciledBody:
    """What a RECONCILED record says, without when and why it was looked at."""
    return structs.replace(body, corrects=0, tried={}, claims_ended=None, noted=())


def proposal_with_edits(
    change: OneChange, proved: ProvedEdit, first: tuple[Edit, ...], *, before: CodeBefore
) -> Proposal:
    """The proposal of proved edits, after the edits `first`, which the code has already; `before` says what it declared.

    If nothing of the mutation itself is written, neither is anything of those that go with it: each of them has a turn of its own.
    """
    proofs, noted = proved.proofs, tuple(f"Before the edit too, {describe([each])}." for each in proved.noted[:_NOTED])
    edits = (*first, *proved.edited.edits) if proofs else ()
    beside = {
        part.applied.id: Proposal(
            edits=tuple(_proposed(edit) for edit in edits if part.has(edit.wanted)),
            proofs=proofs,
            left=(*part.classified.left, *(each for each in proved.left if part.has(each.wanted))),
            kept_out=part.classified.kept_out,
            noted=noted,
            corrects=part.applied.corrects,
        )
        for part in change.parts[1:]
    }
    beside = {mutation: each for mutation, each in beside.items() if each.edits or each.left}
    others = [part for part in change.parts[1:] if part.applied.id in beside]
    own = [edit for edit in edits if not any(part.has(edit.wanted) for part in others)]
    left = tuple(each for each in proved.left if not any(part.has(each.wanted) for part in others))
    classified = change.first.classified
    if edits and not own:
        return Proposal(left=(*classified.left, *left), kept_out=classified.kept_out)
    written = [part.applied for part in others if beside[part.applied.id].edits]
    return Proposal(
        message=commit_message(change.first.applied, edits, before, beside=written) if edits else "",
        files=proved.edited.files,
        edits=tuple(_proposed(edit) for edit in own),
        proofs=proofs,
        left=(*classified.left, *left),
        kept_out=classified.kept_out,
        noted=noted,
        beside=beside,
    )


def _proposed(edit: Edit) -> ProposedEdit:
    return ProposedEdit(path=edit.path, wanted=edit.wanted, chain=edit.chain)


def proposal_without_edits(
    classified: ClassifiedDrift,
    *,
    left: tuple[Left, ...] = (),
    nothing_to_do: str = "",
    merged: bool = False,
    commit: str = "",
) -> Proposal:
    """A proposal that changes no file: because of what is `left`, because there is `nothing_to_do`, or since the `commit` is made already."""
    return Proposal(
        commit=commit,
        left=(*classified.left, *left),
        kept_out=classified.kept_out,
        nothing_to_do=nothing_to_do,
        merged=merged,
    )


def name_superseding(proposal: Proposal, superseded: Mapping[tuple[str, str], str]) -> Proposal:
    """What was left because a mutation superseded it while it was proved, is no matter for a human."""
    left = tuple(entry for entry in proposal.left if entry.wanted.key not in superseded)
    by = [(entry, superseded[entry.wanted.key]) for entry in proposal.left if entry.wanted.key in superseded]
    named = (replace(entry, reason=superseded_reason(later), superseded_by=later) for entry, later in by)
    return replace(proposal, left=left, kept_out=(*proposal.kept_out, *named))


def _recorded(left: Left) -> RecordedLeft:
    return msgspec.convert(model.left_to_json(left), RecordedLeft)
