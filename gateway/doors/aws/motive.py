"""Reads the motive from the signed headers of a request to the AWS door (`gateway.doors.motive` has the grammar)."""

from gateway.doors.aws.request_head import RequestHead
from gateway.doors.motive import INTENT_HEADER, MOTIVATION_HEADER, read_motive
from gateway.errors import Malformed
from gateway.model.motive import Motive

_PREFIX = "x-sentinel-"
_KNOWN = frozenset({INTENT_HEADER, MOTIVATION_HEADER})


def motive_of_head(head: RequestHead) -> Motive | None:
    """The motive that the request states, None if it states none.

    Raises `errors.Malformed` for an incomplete motive, for an unknown `x-sentinel-` header (a misspelled header must not lose the motive)
    and for a header that the signature does not cover, because an intermediary could have added it.
    """
    given = {name for name in head.headers if name.startswith(_PREFIX)}
    if not given:
        return None
    if unknown := given - _KNOWN:
        _refuse_motive(f"Sentinel knows no header {min(unknown)[:60]}; it knows {' and '.join(sorted(_KNOWN))}.")
    if unsigned := given - head.signed:
        _refuse_motive(f"The header {min(unsigned)} is not among SignedHeaders; add it before the request is signed.")
    if missing := _KNOWN - given:
        _refuse_motive(f"A motive is stated in two headers, and {min(missing)} is missing.")
    return read_motive(head.headers[INTENT_HEADER], head.headers[MOTIVATION_HEADER])


def _refuse_motive(reason: str) -> None:
    raise Malformed(reason, aws_code="ValidationError", code="motive")
