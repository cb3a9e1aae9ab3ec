"""Base 85 as `base64` of the standard library has it, which is written in Python, in less of the time: every decision is written in it, and a replay reads it."""

from typing import Final

_ALPHABET: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_DIGITS: Final = bytes(_ALPHABET.find(byte) % 256 for byte in range(256))
"""The digit of each character."""
_CHARACTERS: Final = _ALPHABET + bytes(256 - len(_ALPHABET))
"""The character of each digit."""
_DIGITS_OF_A_WORD: Final = 5
_BYTES_OF_A_WORD: Final = 4
_LANE: Final = 8
"""Bytes for each word while it is computed: what is larger than a word is seen in the upper half."""

_FRACTION: Final = -(-(1 << 38) // 85)
"""An 85th as a fraction of 2^38: exact for every word, since what is rounded up (21) times a word is less than 2^38, and it fits into a lane."""
_QUOTIENT: Final = bytes((0, 0, 0, 0, 3, 255, 255, 255))
"""The bits of a lane that an 85th of a word can have."""


def b85encode(content: bytes) -> str:
    """The text that `base64.b85encode` makes of these bytes.

    All words are divided at once, as the lanes of one integer.
    """
    padding = -len(content) % _BYTES_OF_A_WORD
    words = (len(content) + padding) // _BYTES_OF_A_WORD
    padded, lanes = content + bytes(padding), bytearray(words * _LANE)
    for place in range(_BYTES_OF_A_WORD):
        lanes[_LANE - _BYTES_OF_A_WORD + place :: _LANE] = padded[place::_BYTES_OF_A_WORD]
    whole, quotients = int.from_bytes(lanes, "big"), int.from_bytes(_QUOTIENT * words, "big")
    digits = bytearray(words * _DIGITS_OF_A_WORD)
    for place in reversed(range(1, _DIGITS_OF_A_WORD)):
        divided = (whole * _FRACTION >> 38) & quotients
        digits[place::_DIGITS_OF_A_WORD] = (whole - divided * 85).to_bytes(words * _LANE, "big")[_LANE - 1 :: _LANE]
        whole = divided
    digits[::_DIGITS_OF_A_WORD] = whole.to_bytes(words * _LANE, "big")[_LANE - 1 :: _LANE]
    return digits.translate(_CHARACTERS)[: len(digits) - padding].decode()


def b85decode(text: str) -> bytes:
    """The bytes that `base64.b85encode` made this of. Raises ValueError for a text that it cannot have made.

    All words are computed at once, as the lanes of one integer.
    """
    written = text.encode(errors="surrogatepass")
    if written.translate(None, _ALPHABET):
        message = "It has a character that base 85 does not have."
        raise ValueError(message)
    padding = -len(written) % _DIGITS_OF_A_WORD
    digits = (written + _ALPHABET[-1:] * padding).translate(_DIGITS)
    words = len(digits) // _DIGITS_OF_A_WORD
    lanes = bytearray(words * _LANE)
    whole = 0
    for place in range(_DIGITS_OF_A_WORD):
        lanes[_LANE - 1 :: _LANE] = digits[place::_DIGITS_OF_A_WORD]
        whole = whole * len(_ALPHABET) + int.from_bytes(lanes, "big")
    computed = whole.to_bytes(words * _LANE, "big")
    if any(computed[3::_LANE]):
        message = "It has a word that is larger than four bytes."
        raise ValueError(message)
    found = bytearray(words * _BYTES_OF_A_WORD)
    for place in range(_BYTES_OF_A_WORD):
        found[place::_BYTES_OF_A_WORD] = computed[_LANE - _BYTES_OF_A_WORD + place :: _LANE]
    return bytes(found[: len(found) - padding])
