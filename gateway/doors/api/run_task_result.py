"""The result of a run task, in JSON:API, as HCP Terraform takes it at the callback."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.doors.plan_markdown import plan_headline, plan_markdown
from gateway.model.verdict import Verdict

_MOST_OUTCOMES: Final = 50
_LONGEST: Final = 1000
_LABELS: Final = {Verdict.DENY.value: ("Denied", "error"), Verdict.HOLD.value: ("Held for a human", "warning")}


def failed_result(sentence: str) -> dict[str, Any]:
    """The result of a plan that could not be judged."""
    return _document("failed", sentence, [])


def result_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a judged plan: passed or failed, with the whole report and one outcome for each objection."""
    objections = report["decision"]["findings"]
    outcomes = [_outcome(number, finding) for number, finding in enumerate(objections[:_MOST_OUTCOMES], start=1)]
    whole = {"outcome-id": report["plan"]["id"], "description": "The whole report", "body": plan_markdown(report)}
    return _document("passed" if report["passes"] else "failed", plan_headline(report), [_typed(whole), *outcomes])


def _outcome(number: int, finding: Mapping[str, Any]) -> dict[str, Any]:
    label, level = _LABELS[finding["verdict"]]
    return _typed(
        {
            "outcome-id": f"{finding['rule']}-{number}",
            "description": finding["reason"][:_LONGEST],
            "tags": {
                "Status": [{"label": label, "level": level}],
                "Resource": [{"label": finding["address"][:200] or "the whole plan", "level": "none"}],
            },
        }
    )


def _typed(attributes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "task-result-outcomes", "attributes": attributes}


def _document(status: str, message: str, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {"type": "task-results", "attributes": {"status": status, "message": message[:_LONGEST]}}
    if outcomes:
        data["relationships"] = {"outcomes": {"data": outcomes}}
    return {"data": data}
