"""Encodes and decodes the bodies of records: which type the body of each stage has, and its JSON text in the ledger."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from gateway.core.errors import LedgerBroken
from gateway.core.model.json import canonical_text
from gateway.core.records.approvals import ApprovedBody, BrokeGlassBody, RejectedBody, WithdrawnBody
from gateway.core.records.claims import DowngradedBody, ExpiredBody, ReleasedBody, UndoneBody, UnneededBody
from gateway.core.records.decided import DecidedBody
from gateway.core.records.drift import DriftDecidedBody, DriftedBody, DriftLookedBody, DriftSettledBody
from gateway.core.records.keys import ChatLinkAskedBody, ChatLinkedBody, KeyIssuedBody, KeyRevokedBody
from gateway.core.records.notices import NotifiedBody, ResendAskedBody
from gateway.core.records.operators import BreakerBody, ResumedBody, StoppedBody
from gateway.core.records.plain_parts import has_plain_parts
from gateway.core.records.plans import PlanCheckedBody, PlanEndedBody
from gateway.core.records.policies import PolicyStagedBody
from gateway.core.records.record import Body, Record, Stage, UnreadableBody, unpacked
from gateway.core.records.requests import PassedBody, TurnedAwayBody
from gateway.core.records.settled import SettledBody
from gateway.core.records.signals import SignalledBody
from gateway.core.records.time_boxes import NotPutBackBody, RescheduledBody
from gateway.core.records.write_backs import ProposedBody, ReconciledBody

AnyBody = TypeVar("AnyBody", bound=Body)

BODIES: Final[Mapping[Stage, type[Body]]] = {
    body.stage: body
    for body in (
        ApprovedBody, BreakerBody, BrokeGlassBody, ChatLinkAskedBody, ChatLinkedBody, DecidedBody, DowngradedBody, DriftDecidedBody,
        DriftedBody, DriftLookedBody, DriftSettledBody, ExpiredBody, KeyIssuedBody, KeyRevokedBody, NotifiedBody, NotPutBackBody, PassedBody, PlanCheckedBody,
        PlanEndedBody, PolicyStagedBody,
        ProposedBody, ReconciledBody, RejectedBody, ReleasedBody, RescheduledBody, ResendAskedBody, ResumedBody, SettledBody, SignalledBody,
        StoppedBody, TurnedAwayBody, UndoneBody, UnneededBody, WithdrawnBody,
    )
}  # fmt: skip
"""The type of the body of each stage."""

_sorted: Final = msgspec.json.Encoder(order="sorted").encode
_DECODERS: Final = {stage.value: msgspec.json.Decoder(body).decode for stage, body in BODIES.items()}


def encode(body: Body) -> str:
    """The canonical JSON text of a body, which is hashed and stored.

    Raises TypeError or ValueError for a value that has no JSON form or cannot be encoded as UTF-8.
    """
    if isinstance(body, UnreadableBody):
        message = f"A body that cannot be read is not written: {body.problem}"
        raise TypeError(message)
    if has_plain_parts(body):
        try:
            return _sorted(body).decode()
        except TypeError:
            pass  # a key that is no text, or a part that only `to_json` knows
    return canonical_text(unpacked(body))


def decode(stage: str, text: str) -> Body:
    """The body of a record of this stage. Raises `errors.LedgerBroken` for a text that this version of Sentinel cannot read."""
    try:
        return _DECODERS[stage](text)
    except (KeyError, msgspec.MsgspecError) as error:
        message = (
            f"The body of a record of stage {stage} is not one that this Sentinel can read ({error}). Use a newer one."
        )
        raise LedgerBroken(message) from error


def decode_tolerantly(stage: str, text: str) -> Body:
    """As `decode`, but an object that does not fit the stage's type is an `UnreadableBody`, so that one record does not stop the others."""
    try:
        return decode(stage, text)
    except LedgerBroken as error:
        try:
            raw = msgspec.json.decode(text, type=dict[str, Any])
            return UnreadableBody(of=Stage(stage), raw=raw, problem=str(error))
        except (msgspec.DecodeError, ValueError):
            raise error from None


def decode_as(kind: type[AnyBody], text: str) -> AnyBody:
    """The body of a record whose stage the caller asked the ledger for. Raises as `decode`."""
    body: Any = decode(kind.stage, text)
    return body  # type: ignore[no-any-return]  # the type of this stage is this kind


def body_of(record: Record, kind: type[AnyBody]) -> AnyBody:
    """The body of a record of the kind's stage. Raises TypeError for a record of another stage and for a body that cannot be read."""
    if not isinstance(record.body, kind):
        message = f"Record {record.seq} is of stage {record.stage}, not {kind.stage}."
        raise TypeError(
            message if record.stage is not kind.stage else f"The body of record {record.seq} cannot be read."
        )
    return record.body


def bodies_of(records: Iterable[Record], kind: type[AnyBody]) -> Iterator[AnyBody]:
    """The bodies of the records of this kind; a body that cannot be read is left out."""
    return (record.body for record in records if isinstance(record.body, kind))
