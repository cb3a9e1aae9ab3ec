"""Values as HCL text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.json import Json
from gateway.terraform.lang.evaluate import EvaluationScope, evaluate
from gateway.terraform.lang.grammar import parse_expression
from reconciler.rewrite.editors.hcl_text import CannotEdit, key, quoted, to_hcl


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (5, "5"),
        (-0.5, "-0.5"),
        (1e-7, "0.0000001"),
        (1e22, "10000000000000000000000"),
        ('a"b\\c\n', '"a\\"b\\\\c\\n"'),
        ("${a} %{b} $${c}", '"$${a} %%{b} \\u0024$${c}"'),
        ("\x00\u2028", '"\\u0000\\u2028"'),
        ("é", '"é"'),
        ([1, "a"], '[1, "a"]'),
        ([], "[]"),
        ({}, "{}"),
        ({"a": 1, "b c": 2}, '{\n  a     = 1\n  "b c" = 2\n}'),
        ([{"a": [1]}], "[\n  {\n    a = [1]\n  },\n]"),
    ],
)
def test_to_hcl(value: Json, text: str) -> None:
    assert to_hcl(value) == text


JSON: st.SearchStrategy[Json] = st.recursive(
    st.booleans() | st.integers(-(10**20), 10**20) | st.text(alphabet='ab${%}"\\\n~#é', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='ab${.-"\\', max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON)
def test_every_value_evaluates_back_to_itself(value: Json) -> None:
    assert evaluate(parse_expression(to_hcl(value)), EvaluationScope()) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", "e\u0301", ["e\u0301"], {"\udfff": 1}])
def test_what_terraform_cannot_hold_is_refused(value: Json) -> None:
    with pytest.raises(CannotEdit):
        to_hcl(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_b-c", "a_b-c"),
        ("a.b", '"a.b"'),
        ("1a", '"1a"'),
        ("for", '"for"'),
        ("", '""'),
        ("${a}", '"$${a}"'),
        ("a\n", '"a\\n"'),
    ],
)
def test_keys_are_bare_only_where_they_are_plain_words(name: str, text: str) -> None:
    assert key(name) == text
    assert key(name, always_quoted=True) == quoted(name)
