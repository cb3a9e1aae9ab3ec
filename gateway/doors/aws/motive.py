"""The motive that a request to the AWS door states in its signed headers (form and words: `gateway.doors.motive`)."""

from gateway.doors.aws.request_head import RequestHead
from gateway.doors.motive import INTENT_HEADER, MOTIVATION_HEADER, read_motive
from gateway.errors import Malformed
from gateway.model.motive import Motive

_PREFIX = "x-sentinel-"
_KNOWN = frozenset({INTENT_HEADER, MOTIVATION_HEADER})


def stated_motive(head: RequestHead) -> Motive | None:
    """The motive, None where the request states none.

    Raises `errors.Malformed` for half a motive, an unknown `x-sentinel-` header (a slip of the pen must not lose the motive) and for
    one that the signature does not cover: somebody on the way could have put it there.
    """
    given = {name for name in head.headers if name.startswith(_PREFIX)}
    if not given:
        return None
    if strange := given - _KNOWN:
        _bad(f"Sentinel knows no header {min(strange)[:60]}; it knows {' and '.join(sorted(_KNOWN))}.")
    if unsigned := given - head.signed:
        _bad(f"The header {min(unsigned)} is not among SignedHeaders; add it before the request is signed.")
    if missing := _KNOWN - given:
        _bad(f"A motive is stated in two headers, and {min(missing)} is missing.")
    return read_motive(head.headers[INTENT_HEADER], head.headers[MOTIVATION_HEADER])


def _bad(reason: str) -> None:
    raise Malformed(reason, aws_code="ValidationError", code="motive")
