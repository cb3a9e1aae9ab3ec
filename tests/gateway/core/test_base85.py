"""Base 85 is read and written as the standard library does."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.base85 import b85decode, b85encode

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


@given(st.binary(max_size=300))
def test_what_is_written_is_read(content: bytes) -> None:
    assert b85decode(base64.b85encode(content).decode()) == content


@given(st.binary(max_size=300))
def test_it_is_written_as_the_standard_library_writes_it(content: bytes) -> None:
    assert b85encode(content) == base64.b85encode(content).decode()


@pytest.mark.parametrize("word", [0, 1, 84, 85, 86, 85**2 - 1, 85**2, 85**4 - 1, 85**4, 2**31, 2**32 - 86, 2**32 - 1])
def test_words_at_the_bounds_of_a_digit_are_written_beside_others(word: int) -> None:
    content = b"".join(each.to_bytes(4, "big") for each in (2**32 - 1, word, 0, word, 2**32 - 1))
    assert b85encode(content) == base64.b85encode(content).decode()


@given(st.text(ALPHABET, max_size=24))
def test_any_text_is_read_or_refused_as_the_standard_library_does(text: str) -> None:
    try:
        expected = base64.b85decode(text)
    except ValueError:
        with pytest.raises(ValueError, match="larger than four bytes"):
            b85decode(text)
    else:
        assert b85decode(text) == expected


@pytest.mark.parametrize("text", ["0000 ", '"', "00é00", "0\x000", "00\ud800"])
def test_other_characters_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a character"):
        b85decode(text)


@pytest.mark.parametrize("text", ["~~~~~", "0000000000~~~~~", "|NsC1"])
def test_a_word_larger_than_four_bytes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="larger than four bytes"):
        b85decode(text)


def test_the_largest_word_is_none_too_large() -> None:
    assert b85decode("|NsC0") == b"\xff" * 4
