"""Forms are learned from what is written, and whatever is stored is the body again."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.model.json import canonical_text
from gateway.ledger.store.forms import MARK, Form, whole
from gateway.ledger.store.shortener import MOST_FORMS, Shortener, form_of

STAGE = "settled"


def _body(number: int, **more: object) -> str:
    return canonical_text(
        {"outcome": "applied", "reply": f"{number:064x}", "request_id": f"r-{number}", "status": 200, **more}
    )


def _stored(bodies: Iterable[str], forms: dict[str, Form] | None = None, stage: str = STAGE) -> list[str]:
    """What is stored of the bodies; each is the body again, by forms that were stored before it."""
    forms = {} if forms is None else forms
    shortener, found = Shortener([]), []
    for body in bodies:
        said = shortener.short(stage, body)
        if said.startswith(MARK):
            form = forms[said[1:11]]
            assert whole(said, form.text, forms[form.base].text if form.base else None) == body
        else:
            assert said == body
        found.append(said)
        if shortener.learned:
            forms |= shortener.learned
            shortener.stored(list(forms))
    return found


def test_bodies_of_one_kind_become_short() -> None:
    bodies = [_body(number) for number in range(100)]
    stored = _stored(bodies)
    assert stored[:10] == bodies[:10]
    assert sum(map(len, stored[50:])) < 0.7 * sum(map(len, bodies[50:]))


def test_what_many_bodies_have_is_said_once() -> None:
    code = "c" * 64
    forms: dict[str, Form] = {}
    stored = _stored([_body(number, code=code) for number in range(100)], forms)
    assert code not in stored[-1]
    [fixing] = [form for form in forms.values() if form.base]
    assert code in fixing.text
    assert code not in forms[fixing.base].text


def test_a_value_that_a_form_writes_twice_as_long_is_read_again() -> None:
    # A caller chooses such texts. A form that could not be read would leave the ledger unreadable.
    bodies = [_body(n, text="%" * 27_000, numbers=[1_000 * n + each for each in range(300)]) for n in range(40)]
    forms: dict[str, Form] = {}
    assert len(_stored(bodies, forms)[-1]) < 3_000
    assert any(form.base for form in forms.values())


def test_after_a_new_value_another_form_is_learned() -> None:
    forms: dict[str, Form] = {}
    stored = _stored([_body(number, code="cd"[number // 100] * 64) for number in range(200)], forms)
    assert "d" * 64 in stored[100]
    assert "d" * 64 not in stored[-1]
    assert len([form for form in forms.values() if form.base]) == 2


def test_forms_that_were_not_stored_are_not_used() -> None:
    shortener = Shortener([])
    for number in range(100):
        assert shortener.short(STAGE, _body(number)) == _body(number)
        shortener.stored([])


def test_a_form_that_is_stored_is_known_at_the_next_start() -> None:
    forms: dict[str, Form] = {}
    _stored([_body(number) for number in range(30)], forms)
    again = Shortener([form for form in forms.values() if not form.base])
    assert again.short(STAGE, _body(99)).startswith(MARK)
    assert again.short("decided", _body(99)) == _body(99)


def test_forms_on_a_base_grow_no_faster_than_what_is_stored_whoever_writes() -> None:
    """A caller that has each form learned as soon as it can, and makes it useless then: all of it stood in the bodies, several times."""
    for length in (48, 1_000, 12_000):
        forms: dict[str, Form] = {}
        stored = _stored([_body(number, code=f"{number // 24:06}" * (length // 6)) for number in range(480)], forms)
        fixing = [form for form in forms.values() if form.base]
        assert 0 < len(fixing) <= len(stored) / 24 + 1
        assert sum(len(form.text) for form in fixing) <= sum(map(len, stored)) / 12


def test_there_is_an_end_to_the_forms() -> None:
    forms: dict[str, Form] = {}
    _stored(
        [
            _body(number, **{f"k{chr(97 + number // 16 % 26)}{number // 416}": 1})
            for number in range(16 * (MOST_FORMS + 20))
        ],
        forms,
    )
    assert len([form for form in forms.values() if not form.base]) == MOST_FORMS


_VALUES = st.one_of(
    st.text(max_size=8), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
)
_BODIES = st.dictionaries(
    st.sampled_from(["a", "bb", "verdict", '"x\\', "%1$s", "findings"]),
    st.one_of(_VALUES, st.lists(_VALUES, max_size=3)),
    max_size=4,
)


@given(st.lists(_BODIES, min_size=1, max_size=4))
@settings(max_examples=50)
def test_whatever_is_written_is_read_again(bodies: list[dict[str, object]]) -> None:
    _stored([json.dumps(body, separators=(",", ":"), ensure_ascii=False, sort_keys=True) for body in bodies] * 40)


def test_a_mark_in_a_body_keeps_it_whole() -> None:
    assert _stored(['{"a":"\x01"}'] * 50) == ['{"a":"\x01"}'] * 50


@given(st.lists(st.text(alphabet='"\\:,><a1%-[{\n', max_size=12), min_size=1, max_size=4))
@settings(max_examples=100)
def test_any_text_of_a_reply_is_read_again(texts: list[str]) -> None:
    _stored([f"{{}}\n{text}" for text in texts] * 40, stage="reply")


@pytest.mark.parametrize("text", ['"' + '\\"' * 4_000, '"\\' * 4_000, '"' + '\\"' * 4_000 + "\n"])
def test_a_text_that_no_quote_ends_is_one_value(text: str) -> None:
    """If each quote in it were looked at as a beginning, a reply of 32 KB would hold the ledger's writer for four seconds."""
    assert form_of("reply", f"{{}}\n{text}").holes == 1
