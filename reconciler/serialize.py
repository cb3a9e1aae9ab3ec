"""JSON forms of edits, proofs and values left to a human: in RECONCILED records, between DBOS steps and in `--json` output."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.model.json import Json
from reconciler.model import Left, Proof, ProposedEdit, Wanted


def left_to_json(left: Left) -> dict[str, Json]:
    """`address`, `attribute`, `value`, `reason`, `chain`, and `superseded_by` if it was. The value of a secret is None already."""
    superseded: dict[str, Json] = {"superseded_by": left.superseded_by} if left.superseded_by else {}
    return {**_wanted_to_json(left.wanted), "reason": left.reason, "chain": list(left.chain), **superseded}


def left_from_json(form: Mapping[str, Any]) -> Left:
    """The inverse of `left_to_json`."""
    return Left(
        wanted=_wanted_from_json(form),
        reason=form["reason"],
        chain=tuple(form["chain"]),
        superseded_by=form.get("superseded_by", ""),
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
