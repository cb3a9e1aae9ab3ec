"""Replaces secrets by keyed digests: equal secrets get equal digests, and nobody without the key can tell a short secret by trying."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.core.model.json import SCALARS, Json, canonical

MEMBER: Final = "hmac_sha256"
"""The only member of a masked value: `{"hmac_sha256": "64 hexadecimal digits"}`."""

_IN_TEXT: Final = re.compile(rf"({MEMBER}(?:\\?\"\s?:\s?\\?\"|:))[0-9a-f]{{16,64}}")
"""A mask inside a text: `hmac_sha256:` and 16 digits, or in JSON text the member with all 64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Masker:
    """Masks with one key. Two values compare equal after masking only if the same key masked them."""

    key: bytes = field(repr=False)

    def mask(self, value: Json) -> Json:
        """The value with every text, number and bool in it masked. Maps keep their keys, lists their length; None stays None.

        A member that is masked already stays as it is.
        """
        if value is None or is_masked(value):
            return value
        if isinstance(value, Mapping):
            return {key: self.mask(item) for key, item in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self.mask(item) for item in value]
        return {MEMBER: self.digest(_text(value))}

    def digest(self, text: str) -> str:
        """The HMAC-SHA-256 of a text, 64 hexadecimal digits."""
        return hmac.new(self.key, text.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()

    def short(self, secret: str) -> str:
        """What stands for a secret inside a text: `hmac_sha256:` and 16 digits."""
        return f"{MEMBER}:{self.digest(secret)[:16]}"


PER_RUN: Final = Masker(key=secrets.token_bytes(32))
"""The masker of a process that has no master key. What it masks compares equal within this process only."""


def is_masked(value: object) -> bool:
    """Whether the value is a mask and nothing else."""
    return type(value) not in SCALARS and isinstance(value, Mapping) and len(value) == 1 and MEMBER in value


def holds_mask(value: object) -> bool:
    """Whether the value is masked or has a masked part at any depth."""
    if type(value) in SCALARS:
        return False
    if is_masked(value):
        return True
    if isinstance(value, Mapping):
        return any(holds_mask(item) for item in value.values())
    return isinstance(value, Sequence) and not isinstance(value, str) and any(holds_mask(item) for item in value)


def without_digests(value: Json) -> Json:
    """The value with the digests of its masks blanked. Who may send calls could otherwise compare guesses with another's secret."""
    if is_masked(value):
        return {MEMBER: ""}
    if isinstance(value, str):
        return _IN_TEXT.sub(r"\1", value)
    if isinstance(value, Mapping):
        return {key: without_digests(item) for key, item in value.items()}
    return [without_digests(item) for item in value] if isinstance(value, Sequence) else value


IN_WORDS: Final = "a secret, not shown"
"""What people read in place of a mask."""
_MASK: Final = re.compile(rf'{{\s*\\?"{MEMBER}\\?"\s?:\s?\\?"[0-9a-f]*\\?"\s*}}|{MEMBER}:[0-9a-f]{{16,64}}')


def in_words(value: Json) -> Json:
    """The value for people who compare nothing: each mask, in a text too, is a few words."""
    if is_masked(value):
        return IN_WORDS
    if isinstance(value, str):
        return _MASK.sub(IN_WORDS, value)
    if isinstance(value, Mapping):
        return {key: in_words(item) for key, item in value.items()}
    return [in_words(item) for item in value] if isinstance(value, Sequence) else value


def _text(value: object) -> str:
    """A scalar as Terraform converts it to text, so that `6` and `"6"` have one digest."""
    return value if isinstance(value, str) else canonical(value).decode()
