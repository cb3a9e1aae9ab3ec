"""Settings of telemetry: metrics for Prometheus, and traces."""

from typing import Annotated, Self

from pydantic import Field, IPvAnyNetwork, model_validator

from gateway.core.settings.table import SettingsTable


class TelemetrySettings(SettingsTable):
    """Metrics and traces. Both are off by default: they cost a little on every call, and metrics tell strangers how busy a gateway is."""

    metrics: bool = False
    """Whether `/metrics` is served: to keys with the role `metrics`, and to `metrics_peers`."""
    metrics_peers: tuple[IPvAnyNetwork, ...] = ()
    """Networks that may read the metrics without a key, e.g. `["10.0.7.0/24"]`. Not those of a proxy that strangers reach: all its clients count as it."""
    otlp: Annotated[str, Field(pattern=r"^(https?://[^\s]+)?$")] = ""
    """URL of an OpenTelemetry collector (OTLP over HTTP), e.g. `http://127.0.0.1:4318`. Needs the extra `otel`."""
    traces: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The share of mutations that are traced."""

    @model_validator(mode="after")
    def _peers_are_served(self) -> Self:
        if self.metrics_peers and not self.metrics:
            raise ValueError("`metrics_peers` needs `metrics = true`.")
        return self
