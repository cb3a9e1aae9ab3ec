"""Functions of text. `test_functions.py` holds every function to Terraform; here is what no table shows."""

import pytest

from gateway.terraform.lang.functions_text import FUNCTIONS
from gateway.terraform.lang.values import Unknown


@pytest.mark.parametrize(
    ("written", "expected"), [("$1-$2", "l-"), ("${1}x", "lx"), ("$1x", ""), ("$$1", "$1"), ("$0", "ll"), ("$9", "")]
)
def test_references_of_a_replacement_are_those_of_go(written: str, expected: str) -> None:
    assert FUNCTIONS["replace"]("hello", "/(l)l(x)?/", written) == f"he{expected}o"


def test_a_pattern_takes_linear_time() -> None:
    assert FUNCTIONS["regexall"]("(a+)+$", "a" * 5000 + "b") == []


def test_text_whose_letters_are_not_single_characters_is_unknown() -> None:
    for name, arguments in (
        ("strrev", ["e\u0301"]),
        ("substr", ["e\u0301x", 0, 1]),
        ("title", ["é"]),
        ("lower", ["İ"]),
    ):
        with pytest.raises(Unknown):
            FUNCTIONS[name](*arguments)
