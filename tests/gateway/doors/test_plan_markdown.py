"""Markdown of a checked plan: the tables, and nothing hostile in them."""

from typing import Any

import pytest

from gateway.doors.plan_markdown import MOST_ROWS, plan_headline, plan_markdown, unjudged_note
from tests.kit.plan_reports import ASG, claim, finding, report

DECISION: dict[str, Any] = report()["decision"]


def test_findings_and_claims_are_rows() -> None:
    text = plan_markdown(report())
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == (2 + 3) + (2 + 2)
    assert "| denied | bounds.max |" in text
    assert "availability/incident, until 2026-11-22T09:00:00" in text
    assert "stays: the change is refused" in text


def test_no_text_of_a_plan_or_claim_is_markup() -> None:
    text = plan_markdown(report())
    assert "<img" not in text
    assert "[click](" not in text
    assert "http://" not in text
    assert "@octocat" not in text
    assert "\u202e" not in text
    assert "\\| &lt;img src=x onerror=1&gt;" in text
    # Each row has as many cells as its table: no text adds one.
    assert {line.replace("\\|", "").count("|") for line in text.splitlines() if "denied" in line} == {5}


def test_long_tables_and_texts_are_cut() -> None:
    many = [finding("R1", "deny", "x" * 5000)] * (MOST_ROWS + 7)
    text = plan_markdown(report(decision={**DECISION, "findings": many}))
    assert "… and 7 more." in text
    assert len(text) < MOST_ROWS * 1000


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({}, "The plan of stack kafka (2 resources) would not pass: 2 denials, 1 hold."),
        ({"passes": True}, "The plan of stack kafka (2 resources) would pass, because Sentinel only observes the stack; enforced, it would not: 2 denials, 1 hold."),
        ({"passes": True, "decision": {**DECISION, "findings": []}}, "The plan of stack kafka (2 resources) would pass."),
    ],
)  # fmt: skip
def test_the_headline_says_it_in_one_sentence(members: dict[str, Any], sentence: str) -> None:
    assert plan_headline(report(**members)) == sentence


def test_what_nobody_could_judge_is_said() -> None:
    note = f"Known only after the apply, and judged then: {ASG}.launch_template."
    assert unjudged_note(report()) == note
    assert not unjudged_note(report(unjudged=[]))
    many = unjudged_note(report(unjudged=report()["unjudged"] * 13))
    assert many.endswith(" and 3 more.")
    assert "Known only after the apply" in plan_markdown(report())


def test_a_claim_that_is_not_told_has_no_value() -> None:
    text = plan_markdown(report(claims=[claim("held", value=None, motive=None, until=None)]))
    assert "| without end |" in text
    assert "a human decides" in text
