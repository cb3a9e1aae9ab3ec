"""Part of the composition root: what answers about resources are read from."""

from gateway.cloud.aws import Aws
from gateway.cloud.live import AwsLive
from gateway.context.live import LiveReadThrough
from gateway.context.reader import ContextReader
from gateway.ledger.context_ledger import SqlContext
from gateway.service_models import ServiceModels
from gateway.wiring import Ports


def context_reader(ports: Ports, aws: Aws, models: ServiceModels) -> ContextReader:
    """The reader of resources. Live values are read with the gateway's own credentials, for which its settings name the account."""
    settings = ports.settings
    source = AwsLive(
        aws=aws,
        models=models,
        masker=ports.masker,
        account=settings.account,
        region=settings.upstream.default_region,
    )
    return ContextReader(
        stacks=ports.stacks,
        ledger=SqlContext(ports.ledger),
        policy=ports.engine,
        live=LiveReadThrough(
            source=source if settings.context.live else None,
            clock=ports.clock,
            reads_per_minute=settings.context.live_reads_per_minute,
            deadline_seconds=settings.context.live_seconds,
        ),
        clock=ports.clock,
        signals=ports.signals.about,
        seeks_drift=settings.reconcile.drift_every > 0,
    )
