"""Short bodies and their forms."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ledger.store.forms import LARGEST, MARK, read_form, short, whole, whole_sql, written_form

TEXT = st.text(alphabet=st.characters(exclude_characters="\x00\x01", exclude_categories=["Cs"]), max_size=20)


@given(pieces=st.lists(TEXT, min_size=4, max_size=4), values=st.lists(TEXT, min_size=2, max_size=2))
def test_a_short_body_is_put_together_again(pieces: list[str], values: list[str]) -> None:
    form = written_form("settled", "", 2, pieces, (1, 0, 1))
    assert read_form(form.text) == (pieces, [1, 0, 1])
    said = pieces[0] + values[1] + pieces[1] + values[0] + pieces[2] + values[1] + pieces[3]
    assert whole(short(form.key, values), form.text, None) == said


def test_a_form_on_a_base_gives_the_values_of_the_base() -> None:
    base = written_form("settled", "", 3, ('{"a":"', '","b":', ',"c":"', '"}'), (0, 1, 2))
    form = written_form("settled", base.key, 2, ("", f"{MARK}50%{MARK}", ""), (0, 1))
    assert whole(short(form.key, ["x", "y"]), form.text, base.text) == '{"a":"x","b":50%,"c":"y"}'


@pytest.mark.parametrize("form", [None, "", "no place", "%", "100%", "%s%1$s", "%0$s", "%2$s", "%1$s%3$s"])
def test_what_does_not_fit_its_form_stays_as_it_is(form: str | None) -> None:
    body = short("0123456789", ["one"])
    assert whole(body, form, None) == body


def test_no_text_makes_a_body_of_gigabytes() -> None:
    body = short("0123456789", ["x" * 16 * LARGEST])
    assert whole(body, "%1$s" * 10_000, None) == body


@given(
    base_pieces=st.lists(TEXT, min_size=5, max_size=5),
    order=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    fixed=TEXT,
    values=st.lists(TEXT, min_size=2, max_size=2),
)
def test_a_form_on_a_base_is_filled_as_one_and_then_the_other(
    base_pieces: list[str], order: list[int], fixed: str, values: list[str]
) -> None:
    base = written_form("settled", "", 3, base_pieces, order)
    form = written_form("settled", base.key, 2, ("", f"{MARK}{fixed}{MARK}", ""), (1, 0))
    body, given = short(form.key, values), [values[1], fixed, values[0]]
    said = "".join(a + b for a, b in zip(base_pieces, [*(given[number] for number in order), ""], strict=True))
    # A form all of whose values its base leaves out is none that a gateway learns: what was stored stays as it is.
    assert whole(body, form.text, base.text) == (body if set(order) == {1} else said)


def test_a_form_that_gives_its_base_too_few_values_leaves_the_body_as_it_is() -> None:
    base = written_form("settled", "", 3, ("a", "b", "c", "d"), (0, 1, 2))
    form = written_form("settled", base.key, 1, ("", f"{MARK}x"), (0,))
    assert whole(short(form.key, ["one"]), form.text, base.text) == short(form.key, ["one"])


def test_no_form_on_a_base_makes_a_body_of_gigabytes() -> None:
    body = short("0123456789", ["x"])
    assert whole(body, "%1$s" + "y" * 16 * LARGEST, "%1$s" * 10_000) == body
    assert whole(body, "%1$s" * 10_000, "%1$s" * 10_000) == body


def test_another_text_of_a_form_with_the_same_key_counts() -> None:
    body = short("0123456789", ["x"])
    assert [whole(body, text, None) for text in ("a%1$s", "b%1$s", "a%1$s")] == ["ax", "bx", "ax"]


def test_each_form_has_a_key_of_its_own() -> None:
    forms = [
        written_form(stage, base, 1, (piece, ""), (0,))
        for stage in ("decided", "settled")
        for base in ("", "b")
        for piece in ("", "p")
    ]
    assert len({form.key for form in forms}) == len(forms)


def test_the_sql_reads_a_whole_body_as_it_is() -> None:
    query = f"SELECT {whole_sql('body', 'forms', postgresql=False)} FROM (SELECT '{{}}' AS body)"  # noqa: S608  texts of ours
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("sentinel_whole", 3, whole)
        connection.execute("CREATE TABLE forms (key TEXT, base TEXT, text TEXT)")
        assert connection.execute(query).fetchall() == [("{}",)]
