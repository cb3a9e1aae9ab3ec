"""Takes out of AWS's reply to an agent's change what hands out a secret: a key that AWS made, or the environment that a change answers with.

Agents are refused reads whose answers hand out a secret. A change may answer with the same, and the change itself may be theirs to make: so it
is carried out, and its reply reaches them without those members. `gateway.effects.sensitive_members.handed_out` says which.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final
from xml.parsers.expat import ExpatError, ParserCreate

import msgspec

from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, InDoubt, Outcome, Reply
from gateway.effects.sensitive_members import handed_out

HEADER: Final = "x-sentinel-withheld"
"""Names what was taken out of a reply."""
_ALL: Final = "*"
_EMPTY_CBOR: Final = b"\xa0"
_STALE: Final = frozenset({"content-length", "content-encoding", "content-md5", "x-amz-crc32", HEADER})
"""Headers that state the length, the form or a checksum of the body, and the one that only Sentinel sets."""


def outcome_for_agent(call: Call, outcome: Outcome | None) -> Outcome | None:
    """The outcome as an agent may see it: without the secrets that AWS's reply to the call hands out. Refusals and failures have none."""
    if not isinstance(outcome, Applied | InDoubt) or outcome.reply is None:
        return outcome
    places = handed_out(call.service, call.operation)
    return replace(outcome, reply=_without(outcome.reply, places)) if places else outcome


def withheld_names(reply: Reply) -> list[str]:
    """What was taken out of a reply, by name."""
    found = next((value for name, value in reply.headers if name.lower() == HEADER), "")
    return found.split(", ") if found else []


def _without(reply: Reply, places: frozenset[str]) -> Reply:
    """The reply without what is at the places. A body that cannot be read is withheld whole."""
    hidden = {name.lower() for name, _ in reply.headers if f"@{name.lower()}" in places}
    headers = [(name, value) for name, value in reply.headers if name.lower() not in {HEADER, *hidden}]
    body, taken = _body(reply, places)
    taken |= hidden
    if body != reply.body:
        headers = [(name, value) for name, value in headers if name.lower() not in _STALE]
        headers.append(("content-length", str(len(body))))
    if taken:
        headers.append((HEADER, ", ".join(sorted(taken))))
    return Reply(status=reply.status, headers=tuple(headers), body=body)


def _body(reply: Reply, places: frozenset[str]) -> tuple[bytes, set[str]]:
    """The body without what is at the places, and the names of what was taken out."""
    if not reply.body:
        return b"", set()
    taken: set[str] = set()
    with suppress(ValueError, ExpatError, RecursionError):
        if _ALL in places:
            return _nothing(reply), {"body"}
        if reply.body.lstrip()[:1] == b"<":
            return _xml(reply.body, places, taken.add), taken
        document = _json(msgspec.json.decode(reply.body), "", places, taken.add)
        return msgspec.json.encode(document) if taken else reply.body, taken
    return _nothing(reply), {"body"}


def _nothing(reply: Reply) -> bytes:
    """A body in the form of the reply's that says nothing."""
    kind = next((value.lower() for name, value in reply.headers if name.lower() == "content-type"), "")
    return _EMPTY_CBOR if "cbor" in kind else b"{}" if "json" in kind else b""


def _json(value: Any, parent: str, places: frozenset[str], take: Callable[[str], None]) -> Any:
    """The value without the members at the places. What is in a list has the list's name."""
    match value:
        case dict():
            kept = {}
            for name, item in value.items():
                if f"{parent}/{name}" in places or f"{_ALL}/{name}" in places:
                    take(name)
                else:
                    kept[name] = _json(item, name, places, take)
            return kept
        case list():
            return [_json(item, parent, places, take) for item in value]
        case _:
            return value


def _xml(body: bytes, places: frozenset[str], take: Callable[[str], None]) -> bytes:
    """The document without the elements at the places, byte for byte. Raises ExpatError."""
    parser = ParserCreate()
    open_elements: list[str] = []
    cuts: list[tuple[int, int]] = []
    begun: list[tuple[int, int]] = []
    """Depth and start of the element that is being taken out, if one is."""

    def start(name: str, _: dict[str, str]) -> None:
        own, parent = name.rpartition(":")[2], open_elements[-1] if open_elements else ""
        if not begun and f"{parent}/{own}" in places:
            take(own)
            begun.append((len(open_elements), parser.CurrentByteIndex))
        open_elements.append(own)

    def end(_: str) -> None:
        open_elements.pop()
        if begun and begun[0][0] == len(open_elements):
            first = begun.pop()[1]
            # An element may be one tag, whose end the parser reports as the place after it.
            closed = body.index(b">", first)
            last = closed if body[closed - 1 : closed] == b"/" else body.index(b">", parser.CurrentByteIndex)
            cuts.append((first, last + 1))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(body, True)
    ends = [(0, 0), *cuts, (len(body), 0)]
    return b"".join(body[last:first] for (_, last), (first, _) in pairwise(ends))
