"""Errors as answers of tools: the same code and sentence as the API's problem documents, for the model to see and mend."""

from typing import Any

from gateway.doors.api.problems import RETRY_SAFE, status_of
from gateway.doors.mcp.desk import ToolAnswer
from gateway.errors import Overloaded, SentinelError, TryLater
from gateway.model.caller import Caller
from gateway.model.masking import without_digests

_INTERNAL = 500


def error_answer(error: SentinelError, caller: Caller) -> ToolAnswer:
    """The answer for an error. An error that the API does not know says nothing about itself."""
    if status_of(error) == _INTERNAL:
        return internal_answer()
    detail = str(error) if caller.sees_all else str(without_digests(str(error)))
    members: dict[str, Any] = {"code": error.code, "detail": detail, "retry_safe": type(error) in RETRY_SAFE}
    if isinstance(error, Overloaded | TryLater):
        members["retry_after_seconds"] = error.retry_after
    return ToolAnswer(content=members, is_error=True)


def internal_answer() -> ToolAnswer:
    """The answer for an unexpected error, which is logged; the caller is told nothing about it."""
    detail = "Sentinel had an internal error; its log says more. Nothing was sent to AWS."
    return ToolAnswer(content={"code": "internal", "detail": detail, "retry_safe": False}, is_error=True)
