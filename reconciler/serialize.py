"""The JSON forms of what the line made: between its steps, and in the ledger's RECONCILED record."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateway.model.json import Json
from reconciler.drift.classify import ClassifiedDrift
from reconciler.model import Edit, Left, Proof
from reconciler.proof.propose import ProvedEdit

_DIFF = 64 * 1024
"""Largest diff kept in a record, in characters; the commit has the whole."""


def proposal(sorting: ClassifiedDrift, proved: ProvedEdit, message: str, *, base: str) -> dict[str, Any]:
    """Edits with their proofs: `files` by path (base64), `message`, `edits`, `proofs`, `left`, `kept_out`, `base` (commit)."""
    return {
        **nothing_written(sorting, left=proved.left),
        "base": base,
        "message": message,
        "files": {str(path): base64.b64encode(content).decode() for path, content in proved.edited.files.items()},
        "edits": [edit_to_json(edit) for edit in proved.edited.edits],
        "proofs": [proof_to_json(proof) for proof in proved.proofs],
    }


def nothing_written(
    sorting: ClassifiedDrift,
    *,
    left: Sequence[Left] = (),
    nothing_to_do: str = "",
    merged: bool = False,
    commit: str = "",
) -> dict[str, Any]:
    """The same where no file changes, with the reason; `commit` is that of an earlier run that was killed after it."""
    return {
        "base": "",
        "commit": commit,
        "message": "",
        "files": {},
        "edits": [],
        "proofs": [],
        "left": [left_to_json(entry) for entry in (*sorting.left, *left)],
        "kept_out": [left_to_json(entry) for entry in sorting.kept_out],
        "nothing_to_do": nothing_to_do,
        "merged": merged,
    }


def files(proposed: Mapping[str, Any]) -> dict[Path, bytes]:
    """The files of a proposal's JSON form."""
    return {Path(path): base64.b64decode(content) for path, content in proposed["files"].items()}


def body(proposed: Mapping[str, Any], *, branch: str, commit: str, diff: str) -> dict[str, Json]:
    """The body of RECONCILED.

    With a commit: `branch`, `commit`, `files`, `edits`, `diff`, `proofs`. `left` is what a human must look at, each with
    address, attribute, reason and chain; `kept_out` what does not belong in code. `nothing_to_do` says why nothing was
    written though nothing is left; `merged` is true where the protected branch itself declares the values.
    """
    told: dict[str, Json] = {name: proposed[name] for name in ("left", "kept_out") if proposed[name]}
    if commit:
        written: dict[str, Json] = {name: proposed[name] for name in ("edits", "proofs")}
        return {
            **told,
            **written,
            "branch": branch,
            "commit": commit,
            "files": sorted(proposed["files"]),
            "diff": diff[:_DIFF],
        }
    if proposed["nothing_to_do"]:
        return {**told, "nothing_to_do": proposed["nothing_to_do"], "merged": proposed["merged"]}
    if "left" not in told:
        return {**told, "nothing_to_do": "Nothing of it belongs in code.", "merged": False}
    return told


def left_to_json(entry: Left) -> dict[str, Json]:
    """What is left to a human. A secret's value is None in it already."""
    return {
        "address": entry.wanted.address,
        "attribute": entry.wanted.attribute,
        "value": entry.wanted.value,
        "reason": entry.reason,
        "chain": list(entry.chain),
    }


def proof_to_json(proof: Proof) -> dict[str, Json]:
    """A proof."""
    return {"name": proof.name, "held": proof.held, "detail": proof.detail}


def edit_to_json(edit: Edit) -> dict[str, Json]:
    """An edit, without its bytes; the commit has them."""
    return {
        "address": edit.wanted.address,
        "attribute": edit.wanted.attribute,
        "value": edit.wanted.value,
        "path": str(edit.path),
        "chain": list(edit.chain),
    }
