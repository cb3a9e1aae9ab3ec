"""`/metrics` as a door of a running gateway. Apart from `wiring`, which is about the line."""

from collections.abc import Mapping

from gateway.authn.bearer import Bearer
from gateway.doors.metrics import PATH, MetricsDoor
from gateway.doors.router import App
from gateway.pipeline import Pipeline
from gateway.settings_notices import receiver_names
from gateway.wiring import Ports


def metrics_doors(ports: Ports, pipeline: Pipeline) -> Mapping[str, App]:
    """The door by the path that leads to it; nothing unless the settings switch it on."""
    settings = ports.settings.telemetry
    if not settings.metrics:
        return {}
    receivers = receiver_names(ports.settings.webhooks, ports.settings.chat)
    door = MetricsDoor(
        pipeline=pipeline,
        authenticator=Bearer(ports.keys, ports.clock),
        clock=ports.clock,
        peers=settings.metrics_peers,
        scrape=lambda accept: ports.telemetry.scrape(accept, ports.ledger, ports.engine, receivers),
    )
    return {PATH: door}
