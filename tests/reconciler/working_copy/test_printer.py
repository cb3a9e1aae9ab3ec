"""The report is printed as text that says what drifted, what is left, and what becomes of the diff."""

from datetime import UTC, datetime

import pytest

from reconciler.model import Drift, DriftOrigin, Left, Wanted
from reconciler.working_copy.printer import print_error, print_report
from reconciler.working_copy.report import Report

WANTED = Wanted(address="aws_sqs_queue.a", attribute="delay_seconds", value=5)
ORIGIN = DriftOrigin(actor="bob", event="sqs:SetQueueAttributes", at=datetime(2026, 1, 2, tzinfo=UTC))


def test_what_drifted_and_what_is_left_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    left = Left(wanted=WANTED, reason="No edit can [bold]express[/bold] it.", chain=("main.tf:1",))
    drift = Drift(wanted=WANTED, before=0, origin=ORIGIN)
    print_report(Report(drifts=(drift,), left=(left,), bad_events=("Record 3 was skipped.",)), written=False)
    out, err = capsys.readouterr()
    assert "Left to you: aws_sqs_queue.a.delay_seconds: No edit can [bold]express[/bold] it." in out
    assert "main.tf:1" in out
    assert "bob" in out
    assert err.strip() == "Record 3 was skipped."


def test_nothing_is_said_to_be_nothing_and_errors_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(Report(), written=False)
    print_error("It [failed].")
    out, err = capsys.readouterr()
    assert (out.strip(), err.strip()) == ("Nothing drifted: the plan is clean.", "It [failed].")
