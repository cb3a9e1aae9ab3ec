"""An applied mutation, read from the ledger's DECIDED record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction
from gateway.model.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedMutation:
    """A mutation that was carried out, according to the ledger."""

    id: str
    seq: int
    """Number of its DECIDED record; mutations are written back in this order."""
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
    """(address, attribute) of values that did not change and that the code leaves to their default: nothing is to be written."""
    intent: str = ""
    motivation: str = ""
    text: str = ""
    evidence: tuple[str, ...] = ()
    wanted_seconds: float | None = None
    approver: str = ""
    """Who approved it; empty if no approval was needed."""
    settled_at: datetime
    """When its outcome was recorded; the time of the decision if that is not known."""


def carried_out(record: Record) -> bool:
    """Whether a DECIDED record allowed the mutation."""
    return bool(_table(record.body.get("decision")).get("carried_out"))


def applied_mutation(record: Record, approvers: Mapping[str, str]) -> AppliedMutation:
    """The mutation of a DECIDED record; `approvers` maps the id of an approval to the person who gave it.

    Raises KeyError, TypeError or ValueError for a body that no release of the ledger wrote.
    """
    call, motive = _table(record.body["call"]), _table(record.body.get("motive"))
    caller, decision = _table(record.body.get("caller")), _table(record.body.get("decision"))
    effects = [_table(effect) for effect in _rows(record.body.get("effects"))]
    return AppliedMutation(
        id=record.mutation_id,
        seq=record.seq,
        stack=record.stack,
        actor=record.actor,
        kind=str(caller.get("kind") or ""),
        on_behalf_of=str(caller.get("on_behalf_of") or ""),
        at=record.at,
        operation=f"{call['service']}:{call['operation']}",
        # What the call only implied is read from AWS if it is to be written: nobody asked for it.
        effects=tuple(_effect_from_json(effect) for effect in effects if not effect.get("implied")),
        before={_key(effect): effect.get("before") for effect in effects},
        restated=frozenset(
            _key(effect) for effect in effects if effect.get("changes") is False and effect.get("declared") is None
        ),
        intent=str(motive.get("intent") or ""),
        motivation=str(motive.get("motivation") or ""),
        text=str(motive.get("text") or ""),
        evidence=tuple(str(reference) for reference in _rows(motive.get("evidence"))),
        wanted_seconds=motive.get("wanted_seconds"),
        approver=approvers.get(str(decision.get("approval") or ""), ""),
        settled_at=record.at,
    )


def _key(effect: Mapping[str, Any]) -> tuple[str, str]:
    return str(effect["address"]), str(effect["attribute"])


def _effect_from_json(form: Mapping[str, Any]) -> Effect:
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
