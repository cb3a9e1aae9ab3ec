"""Change tickets in a file: a list of `{id, title, state, since, until, labels, references}`, or an object with such a list as `tickets`."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.core.errors import Malformed
from gateway.signals.forms.fields import (
    FiledSignal,
    items,
    labels,
    mapping,
    member,
    moment,
    optional,
    text,
    texts,
)

_OPEN: Final = frozenset({"open", "approved"})
_CLOSED: Final = frozenset({"closed", "rejected", "cancelled", "draft"})


def read(document: Any) -> Iterator[FiledSignal]:
    """One signal for each ticket that is open or approved. Raises `errors.Malformed`."""
    tickets = member(mapping(document, "file"), "tickets") if isinstance(document, dict) else document
    for each in items(tickets, "tickets"):
        ticket = mapping(each, "tickets")
        state = text(ticket, "state").lower()
        if state not in _OPEN | _CLOSED:
            raise Malformed(f"The state {state!r} of a ticket is none of {', '.join(sorted(_OPEN | _CLOSED))}.")
        if state not in _OPEN:
            continue
        key = text(ticket, "id")
        yield FiledSignal(
            key=key,
            name=optional(ticket, "title") or key,
            since=moment(member(ticket, "since"), "since"),
            until=None if ticket.get("until") is None else moment(ticket["until"], "until"),
            labels={"id": key, **labels(ticket.get("labels"), "labels")},
            references=texts(ticket, "references"),
        )
