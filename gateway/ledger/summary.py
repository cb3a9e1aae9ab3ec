"""Cuts the record of a call that is not carried out to a summary of limited size, so that it stores no multiple of the request.

An effect carries the value asked for, the one before and the one in the code, and a finding may quote all three: a denied call of 64 kB
became a record of 717 kB. Such a call changed nothing, so an investigator needs who asked for what and why it was refused, not every
value. The call itself, which an approver reads, is kept.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.ledger.serialize import canonical_text
from gateway.model.json import Json
from gateway.model.verdict import Verdict

MAX_DENIED: Final = 32 * 1024
"""Characters of the body of a denied call's record. A larger one is cut to its first effects and findings, without values."""
MAX_HELD: Final = 128 * 1024
"""The same for a held call, whose record also keeps the parameters (at most 64 KiB) for the approver."""

_KEPT: Final = 12
"""Effects and findings that a summary keeps, and items of any other list."""
_TEXT: Final = 240
"""Characters of a text that a summary keeps."""
_ORDER: Final = {"deny": 0, "hold": 1}


def refused_body(body: Mapping[str, Json], verdict: Verdict) -> Mapping[str, Json]:
    """The body of the record of a call that is not carried out: as it is if it is small, otherwise a summary that says what it leaves out."""
    held = verdict is Verdict.HOLD
    if len(canonical_text(body)) <= (MAX_HELD if held else MAX_DENIED):
        return body
    decision = _mapping(body["decision"])
    effects, findings = _sequence(body["effects"]), _sequence(decision["findings"])
    objections = sorted(findings, key=lambda finding: _ORDER.get(str(_mapping(finding).get("verdict")), 2))
    return {
        **body,
        "call": body["call"] if held else _cut(body["call"]),
        "effects": [_effect(_mapping(effect)) for effect in effects[:_KEPT]],
        "decision": {
            **_cut_members(decision),
            "findings": [_cut({**_mapping(finding), "offer": None}) for finding in objections[:_KEPT]],
            "binding": _binding_digest(decision.get("binding")),
        },
        "cut": {"effects": max(0, len(effects) - _KEPT), "findings": max(0, len(findings) - _KEPT)},
    }


def _binding_digest(binding: Json) -> Json:
    """The digest of what an approval is bound to, whose whole text the hold's row keeps: so that the row follows from the record."""
    return {"sha256": hashlib.sha256(canonical_text(binding).encode()).hexdigest()}


def _effect(effect: Mapping[str, Any]) -> Json:
    return {**_cut_members(effect), "value": None, "before": None, "declared": None}


def _cut_members(members: Mapping[str, Any]) -> dict[str, Json]:
    return {str(name)[:_TEXT]: _cut(value) for name, value in list(members.items())[: 2 * _KEPT]}


def _cut(value: Any) -> Json:
    """The value with long texts and lists cut."""
    match value:
        case str() if len(value) > _TEXT:
            return f"{value[:_TEXT]}…"
        case list() | tuple():
            return [_cut(item) for item in value[:_KEPT]]
        case Mapping():
            return _cut_members(value)
    return value  # type: ignore[no-any-return]  # a JSON value


def _mapping(value: Json) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Json) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
