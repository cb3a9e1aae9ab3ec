"""What the SDK logs reaches our log without what clients sent."""

import logging
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from gateway.doors.mcp.server import quieten_sdk


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """The SDK's logger is as it was when the test ends."""
    logger = logging.getLogger("mcp")
    before = logger.handlers, logger.propagate, logger.level
    yield
    logger.handlers, logger.propagate, level = before
    logger.setLevel(level)


def test_arguments_texts_and_tracebacks_are_dropped() -> None:
    quieten_sdk()
    logger = logging.getLogger("mcp.server.any")
    with capture_logs() as logged:
        logger.warning("Rejected %s", "hunter2")
        logger.warning(f"Invalid header: {'hunter2'}")  # noqa: G004  as the SDK does
        try:
            int("hunter2")
        except ValueError:
            logger.exception("It broke")
        logger.info("not shown")
    assert "hunter2" not in str(logged)
    assert [each["message"] for each in logged] == ["Rejected %s", "mcp.server.any", "It broke"]
    assert logged[-1]["error"] == "ValueError"
