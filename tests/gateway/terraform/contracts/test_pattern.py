"""Regular expressions of contracts: what they match, and that no pattern and no value makes the match slow."""

import pytest

from gateway.terraform.contracts import pattern
from gateway.terraform.contracts.pattern import LONGEST_VALUE, NotAPattern, check_pattern, matches_whole


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        ("t3\\..*", "t3.micro", True),
        ("a|b", "b", True),
        ("a|b", "ab", False),
        ("a", "a\n", False),
        ("a$", "a\n", False),
        ("(?m)^a$", "b\na", False),
        (".*", "a\nb", False),
        ("(?s).*", "a\nb", True),
        ("", "", True),
        ("", "a", False),
        ("[ä-ü]+", "äöü", True),
        (".", "\ud800", False),
        (".*", "x" * LONGEST_VALUE, True),
        (".*", "x" * (LONGEST_VALUE + 1), False),
    ],
)
def test_the_whole_value_must_match(written: str, value: str, expected: bool) -> None:
    assert matches_whole(written, value) is expected


REFUSED = {
    "not closed": "(a",
    "two patterns in one": "a)|(?:.*",
    "looks ahead": "(?=a)b",
    "looks back": "(?<=a)b",
    "refers back": r"(a)\1",
    "possessive": "a++b",
    "nested repetition": "((a{0,100}){0,100}){0,5}",
    "a long repetition": "a{100000}",
    "a repetition of many letters": r"\pL{300}",
    "a wide one": "|".join(f"(?:{letter}{{900}})" for letter in "abcdef"),
    "long": "a" * 3000,
    "half a surrogate pair": "\ud800",
}


@pytest.mark.parametrize("written", REFUSED.values(), ids=REFUSED.keys())
def test_what_could_take_long_is_no_pattern(written: str) -> None:
    with pytest.raises(NotAPattern):
        check_pattern(written)
    with pytest.raises(NotAPattern):
        matches_whole(written, "a")


SLOW_ELSEWHERE = [
    "(a+)+$",
    "(a|a)*b",
    "(a*)*b",
    "(.*)*" * 100 + "b",
    "(a|b|c)*" * 200,
    "(.*a.{20})*",
    "(a?){400}a{400}",
]


@pytest.mark.parametrize("written", SLOW_ELSEWHERE)
def test_a_pattern_that_backtracks_elsewhere_is_a_small_program_without_groups(written: str) -> None:
    """The time of a match is at most program times value, and both have a ceiling."""
    compiled = pattern._compiled(written)
    assert compiled.programsize <= pattern._LARGEST_PROGRAM
    assert compiled.options.never_capture
    assert matches_whole(written, "a" * (LONGEST_VALUE - 1) + "\n") is False
