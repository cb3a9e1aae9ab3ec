"""The telemetry of one gateway: it observes the line as the settings say, and returns the figures for a scrape."""

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import structlog

from gateway.core.errors import LedgerUnavailable
from gateway.core.settings.telemetry import TelemetrySettings
from gateway.ledger.ask.gauges import LedgerGauges, ledger_gauges
from gateway.ledger.ledger import SqlLedger
from gateway.line.pipeline import Pipeline
from gateway.policy.bundle import RunningEngine
from gateway.telemetry.spans import NoSpans, Spans, otlp_spans

if TYPE_CHECKING:
    from gateway.telemetry.figures import Figures

log = structlog.get_logger()

_FRESH_SECONDS: Final = 5.0
"""How long the ledger's figures are kept: several scrapers ask it no more often than one."""


class Telemetry:
    """The telemetry of one gateway. What is switched off is not imported, and costs nothing."""

    def __init__(self, settings: TelemetrySettings | None = None) -> None:
        """Raises `errors.SettingsInvalid` if traces are switched on and OpenTelemetry is not installed."""
        settings = settings or TelemetrySettings()
        self.figures = _figures() if settings.metrics else None
        self._spans: Spans = otlp_spans(settings.otlp, settings.traces) if settings.otlp else NoSpans()
        self._traced = bool(settings.otlp)
        self._asked_at = -_FRESH_SECONDS
        self._asking = asyncio.Lock()

    def pipeline(self, **parts: Any) -> Pipeline:
        """The line of these parts, observed if anything is switched on."""
        if self.figures is None and not self._traced:
            return Pipeline(**parts)
        from gateway.telemetry.observers import ObservedPipeline  # noqa: PLC0415  for those who want it
        from gateway.telemetry.watch import Watch  # noqa: PLC0415

        return ObservedPipeline(Watch(self.figures, self._spans), **parts)

    async def scrape(
        self, accept: str, ledger: SqlLedger, engine: RunningEngine, receivers: Sequence[str] = ()
    ) -> tuple[bytes, str]:
        """Every figure as text, and the type of the text. A ledger that does not answer is itself a figure.

        `receivers` are those of notices, whose deliveries have figures.
        """
        if self.figures is None:
            return b"", "text/plain"
        async with self._asking:
            if time.monotonic() - self._asked_at >= _FRESH_SECONDS:
                self.figures.show_ledger(await _gauges(ledger, receivers))
                self._asked_at = time.monotonic()
        self.figures.show_policy(engine.revision)
        return await asyncio.to_thread(self.figures.text, accept)

    async def close(self) -> None:
        """Send the spans that wait."""
        await asyncio.to_thread(self._spans.close)


def _figures() -> "Figures":
    from gateway.telemetry.figures import Figures  # noqa: PLC0415  a fiftieth of a second, for those who want it

    return Figures()


async def _gauges(ledger: SqlLedger, receivers: Sequence[str]) -> LedgerGauges | None:
    try:
        return await ledger.query(lambda session: ledger_gauges(session, receivers))
    except LedgerUnavailable as error:
        log.warning("metrics_without_ledger", reason=str(error))
        return None
