"""The result of a run task in JSON:API."""

from gateway.doors.api.run_task_result import failed_result, result_of
from tests.kit.plan_reports import finding, report


def test_a_failure_is_one_sentence() -> None:
    assert failed_result("No plan.") == {
        "data": {"type": "task-results", "attributes": {"status": "failed", "message": "No plan."}}
    }


def test_each_objection_is_an_outcome_with_a_level() -> None:
    data = result_of(report())["data"]
    outcomes = [each["attributes"] for each in data["relationships"]["outcomes"]["data"]]
    assert data["attributes"]["status"] == "failed"
    assert [each["outcome-id"] for each in outcomes] == ["pln_1", "bounds.max-1", "SEN-A002-2", "SEN-A006-3"]
    levels = [each["tags"]["Status"][0]["level"] for each in outcomes[1:]]
    assert levels == ["error", "warning", "error"]
    assert outcomes[3]["tags"]["Resource"][0]["label"] == "the whole plan"


def test_there_are_no_more_outcomes_than_anybody_reads() -> None:
    many = [finding("R1", "deny", "x" * 5000)] * 200
    data = result_of(report(decision={**report()["decision"], "findings": many}))["data"]
    outcomes = data["relationships"]["outcomes"]["data"]
    assert (len(outcomes), len(outcomes[1]["attributes"]["description"])) == (51, 1000)
