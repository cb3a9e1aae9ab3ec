"""The ports knows where people decide."""

import pytest

from gateway.core.errors import (
    BudgetSpent,
    CodeInvalid,
    LedgerUnavailable,
    Malformed,
    NotFound,
    Overloaded,
    SentinelError,
)
from gateway.doors.mcp.tool_call import McpPorts, error_answer, internal_answer
from tests.kit.doubles import AGENT


def test_the_page_of_a_mutation(ports: McpPorts) -> None:
    assert ports.console_url("mut_1") == "https://sentinel.example/console/mutations/mut_1"


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
