"""The log of the SDK, without what clients sent: which logger, which message of the SDK itself, and the kind of an error."""

import logging
from typing import Final

import structlog

log = structlog.get_logger()
_NAMES: Final = ("mcp", "mcp_types")


class SdkLog(logging.Handler):
    """Passes on messages as they stand in the SDK's code. Their arguments and tracebacks may hold what a client sent, and are dropped."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record."""
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        message = str(record.msg) if record.args or record.exc_info else record.name
        log.warning("mcp_sdk", logger=record.name, message=message[:200], error=kind)


def quieten_sdk() -> None:
    """Have the SDK's warnings logged so, and nothing below."""
    for name in _NAMES:
        logger = logging.getLogger(name)
        logger.handlers = [SdkLog()]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
