"""Text for files and programs is what Rich would print there."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.errors import MarkupError
from rich.markup import escape, render

from gateway.cli import output
from gateway.cli.output import show_table
from gateway.cli.plain_text import escaped, without_markup

ROOT = Path(__file__).parents[3]
MARKED = st.text(st.sampled_from("\\[]/ab #@=x")) | st.text(st.characters(exclude_categories=["Cc", "Cs"]))
"""Without control characters, which are made visible before anything is printed."""


@given(MARKED)
def test_text_is_escaped_as_rich_does(text: str) -> None:
    assert escaped(text) == escape(text)


@given(MARKED)
def test_what_was_escaped_is_shown_as_it_was(text: str) -> None:
    assert (
        without_markup(f"[bold]{escaped(text)} [/bold]") == render(f"[bold]{escape(text)} [/bold]", emoji=False).plain
    )


@given(MARKED)
def test_markup_leaves_what_rich_leaves(text: str) -> None:
    try:
        shown = render(text, emoji=False).plain
    except MarkupError:
        return
    assert without_markup(text) == shown


CELL = st.text(st.sampled_from("ab [/]日é\n\t\x1b"), max_size=12)


@given(rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=4))
def test_a_table_is_drawn_as_rich_does(rows: list[tuple[str, str, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        plain, drawn = io.StringIO(), io.StringIO()
        patch.setattr(sys, "stdout", plain)
        show_table("Rows", ["id", "who", "what"], rows)
        rich = Console(file=drawn, width=1000, highlight=False, soft_wrap=True, emoji=False)
        patch.setattr(output, "console", rich)
        show_table("Rows", ["id", "who", "what"], rows)
    assert plain.getvalue() == drawn.getvalue()


def test_a_table_that_is_wider_than_a_line_is_folded(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("Rows", ["who", "what"], [["ann", "long " * 300]])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 1000


def test_a_part_of_an_arn_is_no_emoji(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    output.console.print("arn:key:x")
    monkeypatch.setenv("FORCE_COLOR", "1")
    output.console.print("arn:key:x")
    assert capsys.readouterr().out == "arn:key:x\n" * 2


def test_who_asks_for_colours_gets_them(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gateway", "holds"]
    refused = [
        subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **more},
            capture_output=True,
            text=True,
            check=False,
        ).stderr
        for more in ({}, {"FORCE_COLOR": "1", "TERM": "xterm"})
    ]
    assert "\x1b[31m" in refused[1]
    assert refused[0] in refused[1].replace("\x1b[31m", "").replace("\x1b[0m", "")
