"""Parsing motives: invalid values are refused with a list of the allowed ones."""

from datetime import timedelta
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import Malformed
from gateway.core.http.motive_syntax import duration, motive_of, read_motive
from gateway.core.model.motive import Intent, Motivation, Motive


def test_the_documented_form_is_read() -> None:
    motive = read_motive(
        "availability",
        'incident; evidence=ALERT-42, https://status.example/7; for=1h; text="queue; is \\"40\\" minutes behind"',
    )
    assert motive == Motive(
        intent=Intent.AVAILABILITY,
        motivation=Motivation.INCIDENT,
        evidence=("ALERT-42", "https://status.example/7"),
        wanted_for=timedelta(hours=1),
        text='queue; is "40" minutes behind',
    )


@pytest.mark.parametrize("text", ["incident", " incident ", "incident ; for = 1h", "incident;for=1h"])
def test_spaces_do_not_matter(text: str) -> None:
    assert read_motive(" cost ", text).motivation is Motivation.INCIDENT


BAD = {
    "unknown intent": ("speed", "incident"),
    "unknown motivation": ("cost", "because"),
    "motivation in capitals": ("cost", "INCIDENT"),
    "nothing": ("cost", ""),
    "unknown parameter": ("cost", "budget; priority=1"),
    "the same parameter twice": ("cost", "budget; for=1h; for=2h"),
    "the same parameter twice, one extended": ("cost", "budget; text=a; text*=UTF-8''b"),
    "an open quote": ("cost", 'budget; text="a'),
    "text behind a quote": ("cost", 'budget; text="a" b'),
    "a comma for a semicolon": ("cost", "budget, for=1h"),
    "a trailing semicolon": ("cost", "budget;"),
    "no duration": ("cost", "budget; for=soon"),
    "no time at all": ("cost", "budget; for=0s"),
    "two years": ("cost", "budget; for=104w1d"),
    "evidence without a name": ("cost", "budget; evidence=A,,B"),
    "evidence eleven times": ("cost", "budget; evidence=" + ",".join("abcdefghijk")),
    "evidence too long": ("cost", "budget; evidence=" + "x" * 201),
    "text too long": ("cost", "budget; text=" + "x" * 1001),
    "a control character": ("cost", "budget; text=a\x1bb"),
    "a broken escape": ("cost", "budget; text*=UTF-8''%ff"),
    "another charset": ("cost", "budget; text*=latin1''%e9"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD.keys())
def test_what_is_not_a_motive_is_refused(case: tuple[str, str]) -> None:
    with pytest.raises(Malformed) as refused:
        read_motive(*case)
    assert refused.value.code == "motive"


def test_how_long_it_is_wanted_has_one_name_and_its_old_one() -> None:
    assert read_motive("cost", "budget; wanted_for=1h") == read_motive("cost", "budget; for=1h")
    with pytest.raises(Malformed, match="twice"):
        read_motive("cost", "budget; wanted_for=1h; for=1h")


def test_a_refusal_names_the_parameter_and_those_that_there_are() -> None:
    with pytest.raises(Malformed, match=r"parameter `priority`, `urgent` of a motivation; it knows evidence, text and"):
        read_motive("cost", "budget; urgent=1; priority=1")


def test_a_refusal_names_every_mistake_at_once() -> None:
    with pytest.raises(Malformed) as refused:
        motive_of(intent="speed", motivation="because", text="x" * 1001, evidence=["a\x1bb"], wanted_for="soon")
    for part in (
        "'speed' is not an allowed intent",
        "'because' is not an allowed motivation",
        "`text` has 1001 characters",
        "`evidence` contains a control character",
        "`wanted_for` cannot be 'soon'",
    ):
        assert part in str(refused.value)


def test_a_refusal_lists_the_words() -> None:
    with pytest.raises(Malformed, match="availability, cost, security, compliance, performance or consistency"):
        motive_of(intent="speed", motivation="incident")


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("1h", 3600), ("2d", 172_800), ("1w", 604_800), ("1h30m", 5400)]
)
def test_durations(text: str, seconds: int) -> None:
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "1", "h", "-1h", "1 h", "1.5h", "1y", "٣h", "9" * 20 + "s", "1h "])
def test_what_is_not_a_duration_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        duration(text)


_printable = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=' ;"\\,='), max_size=100)
_reference = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters=","), min_size=1, max_size=40)
_motives = st.builds(
    Motive,
    intent=st.sampled_from(Intent),
    motivation=st.sampled_from(Motivation),
    text=_printable,
    evidence=st.lists(_reference, max_size=10).map(tuple),
    wanted_for=st.none() | st.integers(1, 31_536_000).map(lambda seconds: timedelta(seconds=seconds)),
)


def _motivation_header(motive: Motive) -> str:
    """The second header field as a client that follows the documented grammar writes it."""
    parts = [motive.motivation.value]
    if motive.evidence:
        parts.append(_parameter("evidence", ", ".join(motive.evidence)))
    if motive.wanted_for is not None:
        parts.append(f"for={int(motive.wanted_for.total_seconds())}s")
    if motive.text:
        parts.append(_parameter("text", motive.text))
    return "; ".join(parts)


def _parameter(name: str, value: str) -> str:
    if not value.isascii() or not value.isprintable():
        return f"{name}*=UTF-8''{quote(value, safe='')}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name}="{escaped}"'


@given(_motives)
def test_every_motive_can_be_stated_in_headers(motive: Motive) -> None:
    assert read_motive(motive.intent.value, _motivation_header(motive)) == motive
