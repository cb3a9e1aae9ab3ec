"""The kinds of records that a ledger has, or that it has of one actor: the combinations of stage, verdict, intent and motivation.

There are few, however many records there are. The records of one kind follow each other in an index, so whatever a filter combines,
its records are found by merging the lists of the kinds that fit.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, FromClause, Select, bindparam, func, select

from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask.record_indexes import KIND
from gateway.ledger.store.statements import Query, Session
from gateway.ledger.store.tables import RECORDS


class RecordKind(NamedTuple):
    """What the records of one kind have in common."""

    stage: str
    verdict: str
    intent: str
    motivation: str

    def fits(self, query: RecordQuery) -> bool:
        """Whether the query asks for records of this kind, of any actor."""
        if query.refused and self.stage != Stage.TURNED_AWAY and self.verdict != Verdict.DENY:
            return False
        asked = RecordKind(query.stage.value if query.stage else "", query.verdict, query.intent, query.motivation)
        return all(value in ("", own) for value, own in zip(asked, self, strict=True))


def record_kinds(session: Session, actor: str = "") -> Sequence[RecordKind]:
    """The kinds that there are, each found by a few steps in an index; with `actor`, those of that actor's records."""
    return session.rows(_OF_ACTOR, {"who": actor}) if actor else session.rows(_ALL, {})


def _kinds(*, of_actor: bool) -> Select[Any]:
    """A loose index scan: from each kind to the next one that differs from it in the last column possible."""
    names = KIND
    one, then = RECORDS.alias(), RECORDS.alias()
    first = _first(RECORDS.alias(), [], names, of_actor=of_actor)
    kinds = select(*(one.c[name] for name in names)).where(one.c.seq == first).cte("kinds", recursive=True)
    steps = (_following(kinds, number, of_actor=of_actor) for number in reversed(range(len(names))))
    following = kinds.join(then, then.c.seq == func.coalesce(*steps))
    return select(kinds.union_all(select(*(then.c[name] for name in names)).select_from(following)))


def _following(kinds: FromClause, number: int, *, of_actor: bool) -> ColumnElement[int]:
    """The first record whose kind has the same first columns and a later one after them."""
    later, names = RECORDS.alias(), KIND
    conditions = [later.c[name] == kinds.c[name] for name in names[:number]]
    conditions.append(later.c[names[number]] > kinds.c[names[number]])
    return _first(later, conditions, names[number:], of_actor=of_actor)


def _first(
    table: FromClause, conditions: list[ColumnElement[bool]], order: Sequence[str], *, of_actor: bool
) -> ColumnElement[int]:
    own = [table.c.actor == bindparam("who")] if of_actor else []
    columns = (table.c[name] for name in (*order, "seq"))
    return select(table.c.seq).where(*own, *conditions).order_by(*columns).limit(1).scalar_subquery()


_ALL: Final = Query(_kinds(of_actor=False), RecordKind)
_OF_ACTOR: Final = Query(_kinds(of_actor=True), RecordKind)
