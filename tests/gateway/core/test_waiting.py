"""No wait is silent, and a short one says nothing."""

import io
import time

import pytest

from gateway.core.waiting import EVERY, waiting


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_wait_is_told_though_the_program_does_nothing_else() -> None:
    told = io.StringIO()
    with waiting("Terraform works", told, now=lambda: "at aws_a.b\x1b[2J", every=0.05):
        while told.getvalue().count("\n") < 2:
            time.sleep(0.01)
    first, second, *_ = told.getvalue().splitlines()
    assert first == "Terraform works: 0 s so far; at aws_a.b\\x1b[2J"
    assert second.startswith("Terraform works: 0 s")


def test_a_short_wait_says_nothing() -> None:
    told = io.StringIO()
    with waiting("It", told):
        pass
    assert told.getvalue() == ""
    assert EVERY < 5


def test_on_a_terminal_it_is_one_line_that_goes_again() -> None:
    told = _Terminal()
    with waiting("It", told, every=0.02):
        while told.getvalue().count("so far") < 2:
            time.sleep(0.01)
    assert "\n" not in told.getvalue()
    assert told.getvalue().endswith("\r\x1b[2K")


def test_it_ends_with_the_block_that_fails() -> None:
    told = io.StringIO()
    with pytest.raises(ZeroDivisionError), waiting("It", told, every=0.02):
        raise ZeroDivisionError
    length = len(told.getvalue())
    time.sleep(0.1)
    assert len(told.getvalue()) == length
