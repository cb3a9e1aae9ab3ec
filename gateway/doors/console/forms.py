"""The fields of a form that a page sent."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from gateway.errors import Malformed
from gateway.model.inbound import Inbound

LARGEST: Final = 64 * 1024
"""Bytes of a form."""
_MOST_FIELDS: Final = 50
_LEAST_LETTERS: Final = 3


async def form_of(inbound: Inbound) -> Mapping[str, str]:
    """The form's fields by name, each sent once. Raises `errors.Malformed`, `errors.BodyTooLarge`."""
    raw = await inbound.read_body()
    kind = (inbound.header("content-type") or "").partition(";")[0].strip().lower()
    if raw and kind != "application/x-www-form-urlencoded":
        raise Malformed("The console takes only its own forms. Nothing was changed.")
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise Malformed("The form cannot be read. Nothing was changed.") from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Malformed("The form has a field twice. Nothing was changed.")
    return fields


def reason_in(fields: Mapping[str, str]) -> str:
    """The reason that was given. Raises `errors.Malformed` for one that says nothing: those who come later read it in the record."""
    reason = " ".join(fields.get("reason", "").split())
    if sum(character.isalpha() for character in reason) < _LEAST_LETTERS:
        raise Malformed("Give a reason in words: it is recorded, and the requester reads it. Nothing was changed.")
    if not reason.isprintable():
        raise Malformed("The reason must be printable text. Nothing was changed.")
    return reason
