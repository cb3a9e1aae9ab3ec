"""Logged exceptions say what broke and where, never the value it broke on."""

import errno
import io
import sys
from typing import Any

import pytest
import structlog

from gateway.cli.output import log_to_stderr
from gateway.core.errors import Malformed
from gateway.core.exception_text import exception_text, lossy, without_values

VALUE = "hunter2-hunter2"


def _broken(error: Exception | None) -> None:
    password = VALUE
    raise error or ValueError(f"invalid literal: {password}")


def _caught(error: Exception | None = None) -> BaseException:
    try:
        _broken(error)
    except Exception as caught:  # noqa: BLE001  it is what the test wants
        return caught
    raise AssertionError


@pytest.mark.parametrize("form", ["error", "tuple", "now"])
def test_a_logged_exception_has_type_and_place_and_no_value(form: str) -> None:
    error = _caught()
    try:
        raise error
    except ValueError:
        given: Any = {"error": error, "tuple": sys.exc_info(), "now": True}[form]
        line = without_values(None, "error", {"event": "broke", "exc_info": given})
    assert line["exception"].startswith("ValueError\n")
    assert "test_exception_text.py:" in line["exception"]
    assert "in _broken" in line["exception"]
    assert VALUE not in str(line)
    assert "exc_info" not in line


def test_what_is_no_exception_is_left_alone() -> None:
    assert without_values(None, "info", {"event": "x"}) == {"event": "x"}
    assert without_values(None, "info", {"event": "x", "exc_info": False}) == {"event": "x"}


def test_texts_that_are_written_for_users_are_kept_and_causes_come_first() -> None:
    outer = Malformed("The request has no body.")
    outer.__cause__ = _caught()
    text = exception_text(_caught(outer))
    assert text.index("ValueError\n") < text.index("Malformed: The request has no body.")
    assert VALUE not in text
    assert exception_text(_caught(FileNotFoundError(2, "No such file or directory", VALUE))).startswith(
        "FileNotFoundError: No such file or directory\n"
    )


def test_a_circle_of_causes_ends() -> None:
    one, other = ValueError(), KeyError()
    one.__cause__, other.__cause__ = other, one
    assert exception_text(one).count("Error") == 5


def test_a_terminal_shows_no_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    structlog.configure(processors=[without_values, structlog.dev.ConsoleRenderer()])
    try:
        structlog.get_logger().error("broke", exc_info=_caught())
    finally:
        structlog.reset_defaults()
    shown = capsys.readouterr().out
    assert "in _broken" in shown
    assert VALUE not in shown


def test_commands_log_so_too(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        log_to_stderr()
        log_to_stderr()
        structlog.get_logger().exception("broke", exc_info=_caught())
    finally:
        structlog.reset_defaults()
    shown = capsys.readouterr().err
    assert shown.count("in _broken") == 1
    assert VALUE not in shown


class FullDisk(io.StringIO):
    """A file on a disk without room."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_line_that_cannot_be_written_stops_nothing() -> None:
    logger = structlog.PrintLogger(lossy(FullDisk()))
    logger.msg("decision")
    kept = io.StringIO()
    structlog.PrintLogger(lossy(kept)).msg("decision")
    assert kept.getvalue() == "decision\n"
