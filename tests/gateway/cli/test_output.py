"""Output of commands: text, JSON and errors."""

import asyncio
import io
import json
from functools import partial

import pytest
import structlog
import typer
from rich.console import Console

from gateway.cli import output
from gateway.cli.client import ApiRefused
from gateway.cli.output import (
    OsCallFailed,
    change,
    fail,
    few_changes,
    run,
    safe,
    shortened,
    show_json,
    show_pairs,
    show_table,
    show_text,
)
from gateway.core.errors import Malformed, SentinelError
from gateway.core.waiting import waiting


async def _raises(error: Exception) -> None:
    raise error


def test_an_error_is_a_sentence_on_standard_error_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        run(_raises(Malformed("It cannot be read.")))
    assert ended.value.exit_code == 1
    assert capsys.readouterr() == ("", "It cannot be read.\n")


def test_with_json_an_error_is_one_document_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        run(_raises(Malformed("It cannot be read.")), as_json=True)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"code": "malformed", "detail": "It cannot be read."}
    assert err == ""


async def _talks() -> str:
    print("a line of a library")
    structlog.get_logger().warning("a log line")
    return "done"


def test_with_json_nothing_else_is_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    structlog.reset_defaults()
    show_json({"reply": run(_talks(), as_json=True)})
    out, err = capsys.readouterr()
    assert json.loads(out) == {"reply": "done"}
    assert "a line of a library" in err
    assert "a log line" in err


async def _takes_long(capsys: pytest.CaptureFixture[str]) -> str:
    said = ""
    while "\n" not in said:
        await asyncio.sleep(0.01)
        said += capsys.readouterr().err
    return said


def test_a_long_wait_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.cli.output.waiting", partial(waiting, every=0.05))
    assert run(_takes_long(capsys)).startswith("Waiting for Sentinel: 0 s so far")


def test_the_apis_own_document_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    problem = {"code": "refused", "detail": "No.", "decision": {"verdict": "deny"}}
    with pytest.raises(typer.Exit):
        run(_raises(ApiRefused("No.", status=403, document=problem)), as_json=True)
    assert json.loads(capsys.readouterr().out) == problem


def test_an_error_of_the_operating_system_is_a_sentence_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        run(_raises(PermissionError(13, "Permission denied", "/etc/sentinel")))
    assert "The operating system refused: [Errno 13]" in capsys.readouterr().err
    assert OsCallFailed.code == "machine_refused"


def test_a_closed_output_pipe_is_no_error_message() -> None:
    with pytest.raises(BrokenPipeError):
        run(_raises(BrokenPipeError()))


def test_a_programming_error_is_not_shown_as_a_user_error() -> None:
    with pytest.raises(ZeroDivisionError):
        run(_raises(ZeroDivisionError()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[red]fine[/red]", "[red]fine[/red]"),
        ("[link=https://elsewhere]here[/link]", "[link=https://elsewhere]here[/link]"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("back\x08space", "back\\x08space"),
        ("\u202eesrever", "\\u202eesrever"),
        ("zwölf → 12", "zwölf → 12"),
        ("ends with \\", "ends with \\"),
    ],
)
def test_markup_and_control_characters_have_no_effect(
    text: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show_pairs({"value": text})
    assert capsys.readouterr().out == f"value  {shown}\n"
    with pytest.raises(typer.Exit):
        fail(SentinelError(text), as_json=False)
    assert capsys.readouterr().err == f"{shown}\n"


def test_a_table_shows_cells_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("Things", ["name", "count"], [["[bold]x[/bold]", "1"]])
    assert capsys.readouterr().out.split() == ["Things", "name", "count", "[bold]x[/bold]", "1"]


def test_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("Records", ["name"], [])
    assert capsys.readouterr().out == "No records.\n"


def test_pairs_are_aligned_and_empty_ones_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    show_pairs({"a": "1", "long": "2", "none": ""})
    assert capsys.readouterr().out == "a     1\nlong  2\n"


def test_json_keeps_letters_and_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"word": "größer"})
    assert capsys.readouterr().out == '{\n  "word": "größer"\n}\n'


def test_a_long_text_is_escaped_once() -> None:
    assert safe("a[b]") == "a\\[b]"


EFFECT = {"address": "aws_sqs_queue.q", "attribute": "delay", "action": "set", "before": 1, "value": "x"}


def test_a_value_is_shown_with_the_one_it_replaces() -> None:
    assert change(EFFECT) == 'aws_sqs_queue.q.delay: 1 → "x"'


def test_what_sets_no_value_is_its_action() -> None:
    assert change({**EFFECT, "action": "invoke"}) == "aws_sqs_queue.q.delay: invoke"
    assert change({**EFFECT, "action": "delete", "attribute": "*"}) == "delete aws_sqs_queue.q"


def test_a_secret_is_said_to_be_one() -> None:
    assert change({**EFFECT, "sensitive": True}) == "aws_sqs_queue.q.delay: a secret"


def test_many_changes_are_counted() -> None:
    shown = few_changes([{**EFFECT, "attribute": name} for name in "abcde"])
    assert shown.count("→") == 3
    assert shown.endswith(" and 2 more")


def test_a_long_text_is_cut() -> None:
    assert shortened("a" * 120) == "a" * 120
    assert shortened("a" * 121) == "a" * 120 + "…"


@pytest.mark.parametrize(("width", "lines"), [(120, 3), (80, 3), (40, 7)])
def test_a_table_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int, lines: int) -> None:
    written = io.StringIO()
    monkeypatch.setattr(output, "console", Console(file=written, width=width, highlight=False, soft_wrap=True))

    row = ["2026-11-28 00:37", "agent", "capacity", "allow", "mut_01m8fsbs4pw6ypb4nbfqbj0w0w"]
    show_table("Changes", ["at", "who", "what", "verdict", "mutation"], [row])
    shown = written.getvalue().splitlines()
    assert max(map(len, shown)) <= width
    assert len(shown) >= lines
    assert any("mut_01m8fsbs4pw6ypb4nbfqbj0w0w" in line for line in shown), "what is copied stays whole"


def test_a_long_value_goes_on_below_its_beginning_and_words_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    narrow = Console(file=written, width=40, highlight=False, soft_wrap=True)
    mutation = "mut_01m8fsbs4pw6ypb4nbfqbj0w0w"
    show_pairs({"why": f"It is held by somebody who outranks it: {mutation}{mutation}", "id": mutation}, narrow)
    assert written.getvalue().splitlines() == [
        "why  It is held by somebody who outranks",
        "     it:",
        f"     {mutation}{mutation}",
        f"id   {mutation}",
    ]


def test_a_long_line_goes_on_indented_and_shows_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(output, "console", Console(file=written, width=30, highlight=False, soft_wrap=True))
    show_text("Check policy: held.\n  Deleting it [bold]destroys[/] data\x1b[31m at once.")
    assert written.getvalue().splitlines() == [
        "Check policy: held.",
        "  Deleting it",
        "    [bold]destroys[/]",
        "    data\\x1b[31m at once.",
    ]


def test_a_cell_of_several_lines_is_as_wide_as_its_longest_line(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(output, "console", Console(file=written, width=80, highlight=False, soft_wrap=True))
    mutation = "mut_01m8fsbs4pw6ypb4nbfqbj0w0w"
    show_table("Holds", ["requester", "mutation"], [["agent", f"{mutation}\nand 1 more like it:\n{mutation}"]])
    assert written.getvalue().splitlines()[1].split() == ["requester", "mutation"], "a table, and no blocks"
