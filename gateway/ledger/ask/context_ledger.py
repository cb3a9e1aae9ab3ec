"""Answers questions about resources from the ledger: each answer is one snapshot, and each query is served by an index."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, bindparam, or_, select, tuple_

from gateway.context.ports import AppliedValue, KnownResource, LatestChange
from gateway.core.model.claim import ClaimEnd
from gateway.core.model.json import canonical_text
from gateway.core.model.path import AttributePath
from gateway.ledger.ask.change_history import commits_of
from gateway.ledger.decide.handovers import Handovers
from gateway.ledger.decide.ledger_view import LATEST_HOLDERS, OPEN_CLAIMS, claimed_attributes
from gateway.ledger.store.rows import AppliedValueRow, ClaimRow
from gateway.ledger.store.serialize import claim_from_row
from gateway.ledger.store.statements import Among, FoundBy, Query, Session, columns
from gateway.ledger.store.tables import CLAIMS, VALUES
from gateway.ledger.store.timestamps import from_text, to_text

_APPLIED: Final = Query.of(VALUES, AppliedValueRow, Among(VALUES.c.address, "addresses"), order_by=(VALUES.c.seq,))
_EVERY_APPLIED: Final = Query.of(
    VALUES,
    AppliedValueRow,
    tuple_(VALUES.c.address, VALUES.c.attribute) > tuple_(bindparam("address"), bindparam("attribute")),
    order_by=(VALUES.c.address, VALUES.c.attribute),
    limit=bindparam("most"),
)


def _latest_claims() -> Select[Any]:
    """The latest claim of each attribute ever claimed on `addresses`, without those of failed mutations and those that restated a value."""
    about, one = claimed_attributes(), CLAIMS.alias()
    latest = (
        select(one.c.id)
        .where(
            one.c.address == about.c.address,
            one.c.attribute == about.c.attribute,
            or_(one.c.until.is_(None), one.c.until > one.c.since),
            or_(one.c.end.is_(None), one.c.end != ClaimEnd.FAILED.value),
        )
        .order_by(one.c.since.desc(), one.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    return select(*columns(CLAIMS, ClaimRow)).select_from(about).join(CLAIMS, FoundBy(CLAIMS.c.id, latest))


_LATEST: Final = Query(_latest_claims(), ClaimRow)


def known_about(
    session: Session, addresses: Sequence[str], others: Sequence[str], now: datetime, flips_from: datetime
) -> KnownResource:
    """What is known about the resource, by all its names, and the claims on the `others`."""
    own = canonical_text(list(addresses))
    every = canonical_text([*addresses, *others])
    claims = session.rows(OPEN_CLAIMS, {"addresses": every, "now": to_text(now)})
    holders = session.rows(LATEST_HOLDERS, {"addresses": own, "from": to_text(flips_from)})
    handovers = Handovers(holders)
    attributes = {around for row in holders for around in AttributePath(row.attribute).enclosing}
    flips = {str(name): sum(handovers.flips(address, name) for address in addresses) for name in attributes}
    values = {row.attribute: _applied(row) for row in session.rows(_APPLIED, {"addresses": own})}
    return KnownResource(
        claims=tuple(claim_from_row(row) for row in claims), values=values, changes=_changes(session, own), flips=flips
    )


def every_applied(session: Session, after: tuple[str, str], limit: int) -> list[AppliedValue]:
    """Applied values that the code does not declare yet, by address and attribute, those after `after`."""
    rows = session.rows(_EVERY_APPLIED, {"address": after[0], "attribute": after[1], "most": limit})
    commits = commits_of(session, [row.mutation_id for row in rows])
    return [_applied(row, *commits.get(row.mutation_id, ("", ""))) for row in rows]


def _changes(session: Session, addresses: str) -> Mapping[str, LatestChange]:
    rows = sorted(session.rows(_LATEST, {"addresses": addresses}), key=lambda row: (row.since, row.id))
    commits = commits_of(session, [row.mutation_id for row in rows])
    changes = {}
    for row in rows:
        claim = claim_from_row(row)
        changes[claim.attribute] = LatestChange(
            actor=claim.actor,
            kind=claim.kind,
            motive=claim.motive,
            at=claim.since,
            mutation_id=claim.mutation_id,
            commit=commits.get(claim.mutation_id, ("", ""))[1],
        )
    return changes


def _applied(row: AppliedValueRow, branch: str = "", commit: str = "") -> AppliedValue:
    return AppliedValue(
        address=row.address,
        attribute=row.attribute,
        value=json.loads(row.value),
        at=from_text(row.at),
        mutation_id=row.mutation_id,
        seq=row.seq,
        branch=branch,
        commit=commit,
    )
