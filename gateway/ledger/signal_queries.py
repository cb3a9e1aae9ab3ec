"""Lists signals, for people and for the gateway's own memory of those that are open."""

import json
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from gateway.ledger.queries import MAX_PAGE
from gateway.ledger.record_kinds import RecordKind
from gateway.ledger.rows import SignalRow
from gateway.ledger.statements import columns
from gateway.ledger.tables import RECORDS, SIGNALS
from gateway.ledger.timestamps import from_text
from gateway.model.record import Stage
from gateway.model.signal import Signal, SignalScope, SignalState
from gateway.signal_ports import SignalQuery

_ANY: Final = "*"


def list_signals(connection: Connection, query: SignalQuery) -> Sequence[Signal]:
    """The signals that match, the latest first."""
    statement: Select[Any] = select(*columns(SIGNALS, SignalRow)).order_by(SIGNALS.c.at.desc(), SIGNALS.c.id)
    equal = {"state": query.state.value if query.state else "", "source": query.source, "service": query.service}
    statement = statement.where(*(SIGNALS.c[name] == value for name, value in equal.items() if value))
    found: list[Signal] = []
    for row in connection.execute(statement.limit(MAX_PAGE)):
        signal = signal_from_row(SignalRow._make(row))
        if query.stack and not {query.stack, _ANY} & {scope.stack for scope in signal.scopes}:
            continue
        found.append(signal)
    return found[: max(0, query.limit)]


def signals_version(connection: Connection) -> int:
    """The number of the latest record about a signal; 0 if there is none."""
    # The whole kind, so that the end of its list in the index is read, and not the list.
    kind = RecordKind(stage=Stage.SIGNALLED.value, verdict="", intent="", motivation="")
    conditions = (RECORDS.c[name] == value for name, value in kind._asdict().items())
    latest = select(func.max(RECORDS.c.seq)).where(*conditions)
    return int(connection.execute(latest).scalar() or 0)


def signal_from_row(row: SignalRow) -> Signal:
    """The signal of a row."""
    return Signal(
        id=row.id,
        source=row.source,
        key=row.key,
        name=row.name,
        service=row.service,
        state=SignalState(row.state),
        at=from_text(row.at),
        since=from_text(row.since),
        heard_at=from_text(row.heard_at),
        labels=json.loads(row.labels),
        references=tuple(json.loads(row.refs)),
        scopes=tuple(
            SignalScope(stack=scope["stack"], addresses=tuple(scope["addresses"])) for scope in json.loads(row.scopes)
        ),
    )
