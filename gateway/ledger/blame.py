"""Who set a value: the answer to "who, when, for what goal, why then, with whose consent, and what did it replace"."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, bindparam, select

from gateway.ledger.tables import APPROVALS, ATTEMPTS, CLAIMS, RECORDS, RESOURCES
from gateway.ledger.timestamps import from_text
from gateway.model.json import Json
from gateway.model.mutation import WHOLE
from gateway.model.record import Stage

_SETTERS: Final = (
    select(RECORDS, ATTEMPTS.c.state)
    .select_from(
        RESOURCES.join(ATTEMPTS, ATTEMPTS.c.seq == RESOURCES.c.seq).join(RECORDS, RECORDS.c.seq == RESOURCES.c.seq)
    )
    .where(
        RESOURCES.c.address == bindparam("where"),
        RESOURCES.c.attribute.in_(bindparam("attributes", expanding=True)),
        ATTEMPTS.c.state != "failed",
    )
    .order_by(RESOURCES.c.seq.desc())
    .limit(2)
)
_APPROVER: Final = select(APPROVALS.c.approver).where(APPROVALS.c.id == bindparam("approval"))
_RECONCILED: Final = (
    select(RECORDS.c.body)
    .where(RECORDS.c.mutation_id == bindparam("mutation"), RECORDS.c.stage == Stage.RECONCILED.value)
    .order_by(RECORDS.c.seq.desc())
    .limit(1)
)
_OPEN_CLAIM: Final = select(CLAIMS.c.until, CLAIMS.c.unsettled).where(
    CLAIMS.c.mutation_id == bindparam("mutation"),
    CLAIMS.c.address == bindparam("where"),
    CLAIMS.c.attribute.in_(bindparam("attributes", expanding=True)),
    CLAIMS.c.ended_at.is_(None),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """Everything known about who gave an attribute its value."""

    address: str
    attribute: str
    value: Json
    actor: str
    kind: str
    on_behalf_of: str
    at: datetime
    mutation_id: str
    outcome: str
    """applied, in_doubt or in_flight."""
    action: str
    """set, create, delete or invoke."""
    operation: str
    """`service:Operation`."""
    intent: str = ""
    motivation: str = ""
    text: str = ""
    evidence: tuple[str, ...] = ()
    approver: str = ""
    """Who consented, empty where no consent was needed."""
    previous: Json = None
    """The value it replaced, as far as was known; None also where it was secret."""
    previous_actor: str = ""
    """Who had set that through us, empty where nobody had."""
    previous_mutation_id: str = ""
    previous_at: datetime | None = None
    branch: str = ""
    """Branch and commit of the code that declares it, empty while it is not written back."""
    commit: str = ""
    claim_open: bool = False
    claim_until: datetime | None = None


def blame(connection: Connection, address: str, attribute: str, now: datetime) -> Blame | None:
    """Who set the attribute last; None where nobody did through us.

    What was done to the whole thing (created, deleted), or to an attribute around this one, counts.
    """
    attributes = _covering(attribute)
    rows = connection.execute(_SETTERS, {"where": address, "attributes": attributes}).all()
    if not rows:
        return None
    row = rows[0]
    body = json.loads(row.body)
    effect = _effect(body, address, attributes)
    written = _written_back(connection, row.mutation_id)
    claim = connection.execute(
        _OPEN_CLAIM, {"mutation": row.mutation_id, "where": address, "attributes": attributes}
    ).first()
    until = from_text(claim.until) if claim is not None and claim.until and not claim.unsettled else None
    before = rows[1] if len(rows) > 1 else None
    return Blame(
        address=address,
        attribute=effect["attribute"],
        value=effect["value"],
        action=effect["action"],
        actor=row.actor,
        kind=body["caller"]["kind"],
        on_behalf_of=body["caller"]["on_behalf_of"],
        at=from_text(row.at),
        mutation_id=row.mutation_id,
        outcome=row.state,
        operation=f"{body['call']['service']}:{body['call']['operation']}",
        **_motive(body["motive"]),
        approver=_approver(connection, body["decision"]["approval"]),
        previous=effect["before"],
        previous_actor=before.actor if before is not None else "",
        previous_mutation_id=before.mutation_id if before is not None else "",
        previous_at=from_text(before.at) if before is not None else None,
        branch=str(written.get("branch") or ""),
        commit=str(written.get("commit") or ""),
        claim_open=claim is not None and (until is None or until > now),
        claim_until=until,
    )


def _covering(attribute: str) -> list[str]:
    """The attribute, those around it (`tags` of `tags.owner`), and the whole, nearest first."""
    steps = attribute.split(".")
    return [".".join(steps[:count]) for count in range(len(steps), 0, -1)] + [WHOLE]


def _effect(body: Mapping[str, Any], address: str, attributes: list[str]) -> Mapping[str, Any]:
    """The nearest effect on the attribute; the record was found by having one."""
    there = {effect["attribute"]: effect for effect in body["effects"] if effect["address"] == address}
    return next(there[attribute] for attribute in attributes if attribute in there)


def _motive(form: Mapping[str, Any] | None) -> dict[str, Any]:
    if form is None:
        return {}
    known = {name: form[name] for name in ("intent", "motivation", "text")}
    return {**known, "evidence": tuple(form["evidence"])}


def _approver(connection: Connection, approval: str) -> str:
    return str(connection.execute(_APPROVER, {"approval": approval}).scalar() or "") if approval else ""


def _written_back(connection: Connection, mutation_id: str) -> Mapping[str, Any]:
    body = connection.execute(_RECONCILED, {"mutation": mutation_id}).scalar()
    found: Mapping[str, Any] = json.loads(body) if body else {}
    return found
