"""Reads back from the ledger's records what a mutation was and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction
from gateway.model.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedMutation:
    """A mutation that was carried out, as the ledger tells it."""

    id: str
    seq: int
    """Of its DECIDED record; the order in which mutations are written back."""
    stack: str
    actor: str
    kind: str = ""
    """`human`, `agent`, `service` or `pipeline`."""
    on_behalf_of: str = ""
    at: datetime
    operation: str
    """`service:Operation`."""
    effects: tuple[Effect, ...]
    before: Mapping[tuple[str, str], Json] = field(default_factory=dict)
    """Values before, by (address, attribute)."""
    restated: frozenset[tuple[str, str]] = frozenset()
    """What was set to the value it had, and the code leaves to its default: nothing changed, so nothing is to be written."""
    intent: str = ""
    motivation: str = ""
    text: str = ""
    evidence: tuple[str, ...] = ()
    wanted_seconds: float | None = None
    approval: str = ""
    """Id of the approval that let it pass, empty where none was needed."""
    approver: str = ""
    settled_at: datetime
    """When its outcome was recorded; the time of the decision where that is not known."""
    record: Record


def carried_out(record: Record) -> bool:
    """Whether a DECIDED record let the mutation pass."""
    return bool(_table(record.body.get("decision")).get("carried_out"))


def applied_mutation(record: Record, approvers: Mapping[str, str]) -> AppliedMutation:
    """The mutation of a DECIDED record; `approvers` names who gave each approval. Raises KeyError, TypeError or ValueError for
    a body that no release of the ledger wrote.
    """
    call, motive = _table(record.body["call"]), _table(record.body.get("motive"))
    caller, decision = _table(record.body.get("caller")), _table(record.body.get("decision"))
    forms = [_table(form) for form in _rows(record.body.get("effects"))]
    approval = str(decision.get("approval") or "")
    return AppliedMutation(
        id=record.mutation_id,
        seq=record.seq,
        stack=record.stack,
        actor=record.actor,
        kind=str(caller.get("kind") or ""),
        on_behalf_of=str(caller.get("on_behalf_of") or ""),
        at=record.at,
        operation=f"{call['service']}:{call['operation']}",
        effects=tuple(_effect(form) for form in forms),
        before={(str(form["address"]), str(form["attribute"])): form.get("before") for form in forms},
        restated=frozenset(
            (str(form["address"]), str(form["attribute"]))
            for form in forms
            if form.get("changes") is False and form.get("declared") is None
        ),
        intent=str(motive.get("intent") or ""),
        motivation=str(motive.get("motivation") or ""),
        text=str(motive.get("text") or ""),
        evidence=tuple(str(reference) for reference in _rows(motive.get("evidence"))),
        wanted_seconds=motive.get("wanted_seconds"),
        approval=approval,
        approver=approvers.get(approval, ""),
        settled_at=record.at,
        record=record,
    )


def _effect(form: Mapping[str, Any]) -> Effect:
    return Effect(
        address=str(form["address"]),
        attribute=str(form["attribute"]),
        action=EffectAction(form["action"]),
        value=form.get("value"),
        resource_type=str(form["resource_type"]),
        identity={str(key): str(value) for key, value in _table(form.get("identity")).items()},
        declared=bool(form["in_code"]),
        sensitive=bool(form["sensitive"]),
    )


def _table(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        message = f"a table was expected in the record, not {type(value).__name__}"
        raise TypeError(message)
    return value


def _rows(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
