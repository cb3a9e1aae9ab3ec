"""The body of SIGNALLED: what a source said about a signal."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from gateway.core.model.signal import SignalState
from gateway.core.records.record import Body, Stage


class RecordedScope(msgspec.Struct, frozen=True, kw_only=True):
    """Resources that a signal concerns."""

    stack: str
    addresses: tuple[str, ...]


class SignalledBody(Body, frozen=True, kw_only=True):
    """The signal as it stands. The record's mutation is the signal's id."""

    stage: ClassVar[Stage] = Stage.SIGNALLED

    source: str
    key: str
    name: str
    service: str
    state: SignalState
    at: str
    """Of the event."""
    since: str
    labels: Mapping[str, str]
    references: tuple[str, ...]
    """What evidence may call it."""
    scopes: tuple[RecordedScope, ...]
