"""Reads which rules spoke against calls, decision by decision: from the newest back, or what is newer than what was read before."""

from collections.abc import Mapping
from datetime import datetime

import msgspec
from sqlalchemy import select

from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery, RuleSpoke, Spoken
from gateway.core.records.record import Stage
from gateway.ledger.ask.record_search import lists_of, merge_lists
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import BODY, RECORDS


class _Finding(msgspec.Struct, frozen=True):
    verdict: Verdict
    rule: str


class _Decision(msgspec.Struct, frozen=True):
    findings: tuple[_Finding, ...] = ()
    warned: tuple[_Finding, ...] = ()


class _Body(msgspec.Struct, frozen=True):
    decision: _Decision


_DECODE = msgspec.json.Decoder(_Body).decode


def rules_spoken(session: Session, *, after_seq: int = 0, before_seq: int = 0, limit: int) -> Spoken:
    """What rules said in the newest `limit` decisions between these records. A body that cannot be read has said nothing."""
    query = RecordQuery(stage=Stage.DECIDED, after_seq=after_seq, before_seq=before_seq, limit=limit)
    lists = lists_of(session, query)
    seqs = merge_lists(session.connection, lists, query, limit) if lists else []
    chosen = select(RECORDS.c.seq, RECORDS.c.at, RECORDS.c.mutation_id, BODY).where(RECORDS.c.seq.in_(seqs))
    rows = session.connection.execute(chosen.order_by(RECORDS.c.seq.desc())).all() if seqs else []
    said = [
        RuleSpoke(rule=rule, verdict=verdict, tried=tried, at=datetime.fromisoformat(at), mutation_id=mutation, seq=seq)
        for seq, at, mutation, body in rows
        for (rule, tried), verdict in _said(body).items()
    ]
    return Spoken(
        decisions=len(rows),
        first_seq=rows[-1][0] if rows else 0,
        last_seq=rows[0][0] if rows else 0,
        oldest=datetime.fromisoformat(rows[-1][1]) if rows else None,
        said=said,
    )


def _said(body: str) -> Mapping[tuple[str, bool], Verdict]:
    """The strongest verdict of each rule that held or denied, or would have if it were not only tried."""
    try:
        decision = _DECODE(body).decision
    except (msgspec.DecodeError, msgspec.ValidationError):
        return {}
    found: dict[tuple[str, bool], Verdict] = {}
    for tried, findings in ((False, decision.findings), (True, decision.warned)):
        for each in findings:
            if each.verdict is not Verdict.ALLOW and found.get((each.rule, tried)) is not Verdict.DENY:
                found[each.rule, tried] = each.verdict
    return found
