"""Documents inside calls are read in time and memory that grow with their length, and never in two ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import CallTooLarge
from gateway.effects.proxies.documents import document, json_list, json_object
from gateway.effects.values import NotUnderstood

BOMB = "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]\n"


def test_short_forms_become_long_forms() -> None:
    text = "A: !Ref B\nC: !GetAtt D.Arn\nE: !Sub 'x'\nF: !If [a, 1, 2]\n"
    assert document(text, "it") == {
        "A": {"Ref": "B"},
        "C": {"Fn::GetAtt": "D.Arn"},
        "E": {"Fn::Sub": "x"},
        "F": {"Fn::If": ["a", 1, 2]},
    }


def test_plain_values_are_those_of_json() -> None:
    text = "a: 1\nb: -2\nc: 1.5\nd: true\ne: null\nf: 2010-09-09\ng: ~\nh: '010'\n"
    assert document(text, "it") == {
        "a": 1,
        "b": -2,
        "c": 1.5,
        "d": True,
        "e": None,
        "f": "2010-09-09",
        "g": None,
        "h": "010",
    }


@pytest.mark.parametrize(
    "text", [BOMB, "a: 017", "a: on", "a: 1_000", "<<: {a: 1}", "? [a]\n: b", "a: " + "9" * 6000, "[" * 500]
)
def test_what_readers_differ_on_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        document(text, "it")


def test_long_lists_are_refused() -> None:
    with pytest.raises(CallTooLarge):
        json_list("[" + ",".join("1" for _ in range(1001)) + "]", "it")
    with pytest.raises(CallTooLarge):
        document("a: [" + ",".join("1" for _ in range(1001)) + "]", "it")


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    for read in (document, json_object, json_list):
        try:
            read(text, "it")
        except (NotUnderstood, CallTooLarge):
            continue
