"""Errors reach the model as the sentences of the API; one that is none of the API's own says nothing about itself."""

import pytest

from gateway.doors.mcp.errors import error_answer, internal_answer
from gateway.errors import BudgetSpent, CodeInvalid, LedgerUnavailable, Malformed, NotFound, Overloaded, SentinelError
from tests.kit.doubles import AGENT


@pytest.mark.parametrize(
    ("error", "code", "retry_safe", "seconds"),
    [
        (NotFound("No."), "not_found", False, None),
        (Malformed("No."), "malformed", False, None),
        (LedgerUnavailable("No."), "ledger_unavailable", True, None),
        (BudgetSpent("No.", seconds=7), "budget_spent", True, 7),
        (Overloaded("No."), "overloaded", True, 1),
    ],
)
def test_an_error_of_the_api(error: SentinelError, code: str, retry_safe: bool, seconds: int | None) -> None:
    answer = error_answer(error, AGENT)
    assert answer.is_error
    assert (answer.content["code"], answer.content["detail"], answer.content["retry_safe"]) == (code, "No.", retry_safe)
    assert answer.content.get("retry_after_seconds") == seconds


def test_another_error_says_nothing() -> None:
    assert error_answer(CodeInvalid("main.tf:1: secret words"), AGENT) == internal_answer()
    assert internal_answer().is_error
