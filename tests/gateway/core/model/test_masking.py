"""Masks are keyed, keep the shape of a value, and equal secrets have equal masks under one key."""

import hashlib
import json
import re
from typing import Any

import pytest

from gateway.core.model.json import Json, digest
from gateway.core.model.masking import MEMBER, PER_RUN, Masker, holds_mask, is_masked, without_digests

ONE, OTHER = Masker(key=b"1" * 32), Masker(key=b"2" * 32)


def test_equal_secrets_are_equal_under_one_key_only() -> None:
    assert ONE.mask("hush") == Masker(key=b"1" * 32).mask("hush")
    assert ONE.mask("hush") != OTHER.mask("hush")
    assert ONE.mask("hush") != ONE.mask("hush ")


@pytest.mark.parametrize("pair", [(6, "6"), (True, "true"), (1.5, "1.5")])
def test_a_number_and_its_text_are_equal_as_terraform_has_it(pair: tuple[Json, Json]) -> None:
    assert ONE.mask(pair[0]) == ONE.mask(pair[1])


@pytest.mark.parametrize("value", [None, [], {}])
def test_nothing_is_nothing(value: Json) -> None:
    assert ONE.mask(value) == value


def test_names_and_length_stay_and_no_value_does() -> None:
    value: Json = {"variables": {"A": "hush", "B": ["hush", 4711, None]}}
    shown: Any = ONE.mask(value)
    assert list(shown["variables"]) == ["A", "B"]
    assert [is_masked(item) for item in shown["variables"]["B"]] == [True, True, False]
    assert "hush" not in repr(shown)
    assert "4711" not in repr(shown)


def test_what_is_masked_is_not_masked_again() -> None:
    shown = ONE.mask({"a": "hush"})
    assert ONE.mask(shown) == shown


@pytest.mark.parametrize("guess", ["4711", 4711])
def test_no_plain_digest_of_a_guess_fits(guess: Json) -> None:
    shown = repr(ONE.mask(guess))
    assert digest(guess) not in shown
    assert hashlib.sha256(str(guess).encode()).hexdigest() not in shown


def test_a_lone_surrogate_is_masked_too() -> None:
    assert is_masked(ONE.mask("\ud800"))


def test_digests_can_be_blanked_in_values_and_texts() -> None:
    shown = [ONE.mask({"a": "hush"}), json.dumps([ONE.mask("hush")]), f"://app:hmac_sha256:{'ab' * 8}@db", 6, None]
    blank: Any = without_digests(shown)
    assert blank[0] == {"a": {MEMBER: ""}}
    assert not re.search("[0-9a-f]{16}", repr(blank))
    assert json.loads(blank[1]) == [{MEMBER: ""}]
    assert blank[3:] == [6, None]


def test_the_key_is_not_shown() -> None:
    assert "1111" not in repr(ONE)
    assert len(PER_RUN.key) == 32


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({MEMBER: "ab"}, True),
        ([{"a": {MEMBER: "ab"}}], True),
        ({MEMBER: "ab", "b": 1}, False),
        ("ab", False),
        ({"a": ["b"]}, False),
        (None, False),
    ],
)
def test_masks_are_recognized_at_any_depth(value: Json, expected: bool) -> None:
    assert holds_mask(value) is expected
