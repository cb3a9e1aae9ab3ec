"""Whatever a value holds, it is shown as text."""

import hashlib
from datetime import UTC, datetime, timedelta, timezone
from importlib.resources import files
from typing import Any

import pytest

from gateway.doors.console.rendering import (
    HTMX_SHA256,
    duration_text,
    environment,
    moment,
    one_line,
    plural,
    sentence,
    shell,
    short,
    static_files,
    value_text,
    visible,
)

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title><svg onload=alert(1)>",
    "{{ 7 * 7 }}",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_has_no_effect(text: str) -> None:
    shown = environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text)
    assert shown.count("<") == 2
    assert shown.count('"') == 2
    assert "49" not in shown


def test_what_cannot_be_seen_is_shown() -> None:
    assert visible("a\u202eb\x1b[31m\u200bc\n") == "a\\u202eb\\x1b[31m\\u200bc\n"
    assert visible("ä → ok") == "ä → ok"
    assert visible(7) == 7
    assert "\\u202e" in environment().from_string("{{ text }}").render(text="x\u202ey")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ("a", '"a"'),
        (True, "true"),
        ({"b": 1, "a": 2}, '{"a": 2, "b": 1}'),
        ({"sha256": "0"}, "(secret)"),
    ],
)
def test_a_value_is_written_as_json(value: Any, text: str) -> None:
    assert value_text(value) == text


def test_long_values_have_lines_and_an_end() -> None:
    assert value_text(["x" * 40, "y" * 60]).count("\n") == 3
    assert value_text("x" * 30_000).endswith("(10,002 more characters)")
    assert short("abc", 3) == "abc"


def test_a_list_shows_the_beginning_of_a_value_on_one_line() -> None:
    assert one_line([{"from_port": 22}], 80) == '[{"from_port": 22}]'
    long = one_line(["x" * 40, "y" * 60], 60)
    assert (len(long), long[-1], "\n" in long) == (60, "…", False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run `sentinel end mut_1` now.", "Run <code>sentinel end mut_1</code> now."),
        ("`a` and `b`", "<code>a</code> and <code>b</code>"),
        ("cut in `mut…", "cut in `mut…"),
        ("<b>`<i>`", "&lt;b&gt;<code>&lt;i&gt;</code>"),
        ("a\u202eb", "a\\u202eb"),
        ("", ""),
    ],
)
def test_a_sentence_has_code_between_backticks_and_text_elsewhere(text: str, shown: str) -> None:
    assert environment().from_string("{{ text|sentence }}").render(text=text) == sentence(text) == shown


def test_times_are_in_utc() -> None:
    at = datetime(2026, 11, 22, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))
    assert moment(at) == '<time datetime="2026-11-21T23:02:03Z">2026-11-21 23:02:03</time>'
    assert moment("2026-11-21T23:02:03.5Z") == moment(at.astimezone(UTC))
    assert moment(None) == "–"


@pytest.mark.parametrize(("seconds", "text"), [(None, "–"), (0, "0 s"), (90, "1 min 30 s"), (90_061, "1 d 1 h")])
def test_durations(seconds: float | None, text: str) -> None:
    assert duration_text(seconds) == text


def test_counts_and_commands() -> None:
    assert (plural(1, "row", "rows"), plural(1200, "row", "rows")) == ("1 row", "1,200 rows")
    assert shell(["sentinel", "it's; rm -rf /"]) == "sentinel 'it'\"'\"'s; rm -rf /'"


FIRST_LOAD, A_PAGE = 100 * 1024, 38 * 1024
"""Bytes that a first visit may load, and of them those that are left to its page."""


def test_htmx_is_the_published_one() -> None:
    assert hashlib.sha256(static_files()["htmx.js"].content).hexdigest() == HTMX_SHA256


def test_files_have_their_content_in_their_address() -> None:
    assert len({file.version for file in static_files().values()}) == len(static_files())


def test_all_of_them_together_are_a_small_first_load() -> None:
    assert sum(len(file.content) for file in static_files().values()) < FIRST_LOAD - A_PAGE


def test_a_style_sheet_keeps_all_that_means_something() -> None:
    source = (files("gateway.doors.console") / "static" / "console.css").read_bytes()
    served = static_files()["console.css"].content
    assert len(served) < len(source) * 0.95
    assert b"".join(served.split()) == b"".join(source.split())
    assert b"calc((100% - 140em) / 2 + 1.2em)" in served
    assert b"main:has(.map,form.edit){max-width:none}" in served
    assert b".wide > svg.picture{min-width:44em}" in served


def test_nothing_is_loaded_from_elsewhere() -> None:
    for name in ("console.css", "console.js"):
        text = static_files()[name].content
        assert b"//cdn" not in text
        assert b"http" not in text.replace(b"http://www.w3.org/2000/svg", b"")
