"""OPA's own notation of values, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.rego_values import RegoSet, Term, go_float, parse, to_text

_SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
_TERMS = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


@given(_TERMS)
def test_what_is_written_is_read_again(term: Term) -> None:
    assert parse(to_text(term)) == term


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("set()", RegoSet(())),
        ("{}", {}),
        ("{1, 2}", RegoSet((1, 2))),
        ('{"a":1,"b":{2}}', {"a": 1, "b": RegoSet((2,))}),
        ('[{"a"}, set(), {}]', [RegoSet(("a",)), RegoSet(()), {}]),
    ],
)
def test_sets_are_told_from_arrays_and_objects(text: str, value: Term) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    "text", ["", "[1", "{1: }", '{"a": 1, 2}', "[1 2]", "1 2", "{", "set", '{"a": 1 "b": 2}', "nan"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


@pytest.mark.parametrize(
    "text", ['{null, 2, "a", "b"}', '{"a": [true], "b": 1}', "[1e6, 1.0, 0.00001]", "set()", "{{1}, {1, 2}, [1], {}}"]
)
def test_text_is_opas_own(text: str) -> None:
    """Members of sets in order, numbers as they were written."""
    value = parse(text)
    if isinstance(value, RegoSet):
        value = RegoSet(tuple(reversed(value.members)))
    assert to_text(value) == (text if "{{" not in text else "{[1], {}, {1}, {1, 2}}")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (2.5, "2.5"),
        (100000.0, "100000"),
        (1000000.0, "1e+06"),
        (1234567.5, "1.2345675e+06"),
        (1.5e20, "1.5e+20"),
        (0.0001, "0.0001"),
        (1e-05, "1e-05"),
        (-2.5, "-2.5"),
        (0.0, "0"),
    ],
)
def test_floats_are_as_go_prints_them(value: float, text: str) -> None:
    assert go_float(value) == text
