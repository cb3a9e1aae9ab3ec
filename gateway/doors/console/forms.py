"""The fields of a form that a page sent, and the members of a query."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from gateway.core.errors import Malformed
from gateway.core.model.inbound import Inbound

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
    return read_members(raw, _MOST_FIELDS, "form", "Nothing was changed.")


def read_members(encoded: bytes, most: int, what: str, kept: str) -> Mapping[str, str]:
    """The members of a form or a query by name, each sent once. Raises `errors.Malformed`: `what` it is, and what was `kept`."""
    try:
        pairs = parse_qsl(encoded.decode("ascii"), keep_blank_values=True, max_num_fields=most, errors="strict")
    except ValueError as error:
        raise Malformed(f"The {what} cannot be read. {kept}") from error
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed(f"The {what} has a member twice. {kept}")
    return members


def reason_in(fields: Mapping[str, str]) -> str:
    """The reason that was given. Raises `errors.Malformed` for one that says nothing: those who come later read it in the record."""
    reason = " ".join(fields.get("reason", "").split())
    if sum(character.isalpha() for character in reason) < _LEAST_LETTERS:
        raise Malformed("Give a reason in words: it is recorded, and the requester reads it. Nothing was changed.")
    if not reason.isprintable():
        raise Malformed("The reason must be printable text. Nothing was changed.")
    return reason
