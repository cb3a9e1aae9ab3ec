"""The report of a checked plan as Markdown, for the comment of a pull request or the page of a run task."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.model.verdict import Verdict

MOST_ROWS: Final = 100
"""Rows of each table; the others are counted."""
_LONGEST: Final = 600
_NAMED: Final = 10
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()#+!|~])")
_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;&#8203;"})
"""A zero-width space ends what GitHub would take for the mention of a user."""
_FATES: Final = {
    "kept": "stays: the change is refused",
    "undone": "ends: the plan outranks it",
    "held": "a human decides",
}


def plan_headline(report: Mapping[str, Any]) -> str:
    """The verdict in one sentence of plain text."""
    findings, plan = report["decision"]["findings"], report["plan"]
    denied = sum(each["verdict"] == Verdict.DENY for each in findings)
    held = len(findings) - denied
    of = f"plan of stack {plan['stack']} ({plan['resources']} resources)"
    counts = f"{_count(denied, 'denial')}, {_count(held, 'hold')}"
    if not findings:
        return f"The {of} would pass."
    if report["passes"]:
        return f"The {of} would pass, because Sentinel only observes the stack; enforced, it would not: {counts}."
    return f"The {of} would not pass: {counts}."


def plan_markdown(report: Mapping[str, Any]) -> str:
    """The whole report. Nothing in it is interpreted as markup, whatever a plan or a claim says."""
    parts = [f"### Sentinel: {_text(plan_headline(report))}"]
    if rows := [_finding(each) for each in report["decision"]["findings"]]:
        parts.append(_table(("", "Rule", "Resource", "Why"), rows))
    if rows := [_claim(each) for each in report["claims"]]:
        parts.append(_table(("Claimed by", "Resource", "Claim", "Plan", "After an apply"), rows))
    if note := unjudged_note(report):
        parts.append(_text(note))
    parts.append(
        f"Check `{report['plan']['id']}`, policies `{report['decision']['bundle'][:12]}`. Nothing was changed."
    )
    return "\n\n".join(parts) + "\n"


def unjudged_note(report: Mapping[str, Any]) -> str:
    """Which values nobody could judge, because they are known only after the apply; empty if there are none."""
    names = [".".join((each["address"], each["attribute"])) for each in report["unjudged"]]
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"Known only after the apply, and judged then: {', '.join(names[:_NAMED])}{more}."


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows[:MOST_ROWS]]
    more = f"\n\n… and {len(rows) - MOST_ROWS} more." if len(rows) > MOST_ROWS else ""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + more


def _finding(finding: Mapping[str, Any]) -> tuple[str, ...]:
    where = _place(finding)
    return (
        "denied" if finding["verdict"] == Verdict.DENY else "held",
        _text(finding["rule"]),
        where,
        _text(finding["reason"]),
    )


def _claim(claim: Mapping[str, Any]) -> tuple[str, ...]:
    motive = claim["motive"] or {}
    why = "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part)
    until = f"until {claim['until'][:19]}" if claim["until"] else "without end"
    held = ", ".join(part for part in (_value(claim["value"]), why, until) if part)
    return (_text(claim["holder"]), _place(claim), _text(held), _text(_value(claim["planned"])), _FATES[claim["fate"]])


def _place(about: Mapping[str, Any]) -> str:
    return _text(".".join(part for part in (about["address"], about["attribute"]) if part) or "the whole plan")


def _value(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _text(text: str) -> str:
    """The text in one line, with everything that Markdown or HTML would interpret escaped."""
    line = "".join(character if character.isprintable() else " " for character in text)
    line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
    return _SPECIAL.sub(r"\\\1", line).translate(_ENTITIES).replace("://", "&#58;//")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
