"""The parts of a canonical request, case by case. The vectors in test_sigv4.py test the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.identity import canonical


@pytest.mark.parametrize(
    ("raw", "literal", "expected"),
    [
        ("", False, "/"),
        ("", True, "/"),
        ("/", False, "/"),
        ("/a/b", False, "/a/b"),
        ("/a/../b", False, "/b"),
        ("/a/../b", True, "/a/../b"),
        ("/../../a", False, "/a"),
        ("//a//b/", False, "/a/b/"),
        ("/a/.", False, "/a/"),
        ("/a/..", False, "/"),
        ("/a%20b", False, "/a%2520b"),
        ("/a%20b", True, "/a%20b"),
        ("/\u00e1\u0088\u00b4", False, "/%E1%88%B4"),
        ("/.well-known", False, "/.well-known"),
    ],
)
def test_paths_are_normalised_and_encoded_again_unless_literal(raw: str, *, literal: bool, expected: str) -> None:
    assert canonical.canonical_path(raw, literal=literal) == expected


def test_a_path_may_be_encoded_without_being_normalised() -> None:
    assert canonical.canonical_path("/a//../b c", literal=False, normalise=False) == "/a//../b%20c"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", ""),
        ("b=2&a=1", "a=1&b=2"),
        ("a=2&a=1", "a=1&a=2"),
        ("a", "a="),
        ("a=b+c", "a=b%2Bc"),
        ("a=b%20c", "a=b%20c"),
        ("a=%2f", "a=%2F"),
        ("a=%7E", "a=~"),
        ("a==", "a=%3D"),
        ("a=1&&b=2", "a=1&b=2"),
        ("B=1&a=1", "B=1&a=1"),
        ("\u00e1\u0088\u00b4=bar", "%E1%88%B4=bar"),
    ],
)
def test_queries_are_encoded_once_and_sorted(raw: str, expected: str) -> None:
    assert canonical.canonical_query(raw) == expected


def test_one_parameter_can_be_left_out_of_a_query() -> None:
    assert canonical.canonical_query("X-Amz-Signature=00&a=1", without="X-Amz-Signature") == "a=1"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a"], "a"),
        (["  a  "], "a"),
        (["a   b"], "a b"),
        (["a\tb"], "a b"),
        (["a\n  b"], "a b"),
        (["b", "a"], "b,a"),
        (["a\u00a0b"], "a\u00a0b"),
        (["\u00a0a \u00a0  "], "\u00a0a \u00a0"),
    ],
)
def test_header_values_are_trimmed_of_ascii_blanks_only(values: list[str], expected: str) -> None:
    assert (
        canonical.canonical_headers({"x": values[0] if len(values) == 1 else canonical.joined(values)}, ["x"])
        == f"x:{expected}\n"
    )


@given(st.text(alphabet="ab%2Ff+=&~ ", max_size=30))
def test_the_canonical_query_is_a_fixed_point(raw: str) -> None:
    once = canonical.canonical_query(raw)
    assert canonical.canonical_query(once) == once


def test_the_signing_key_is_the_one_in_the_documentation() -> None:
    # "Examples of how to derive a signing key", AWS General Reference.
    key = canonical.signing_key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830", "us-east-1", "iam")
    assert key.hex() == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"
