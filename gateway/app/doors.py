"""The console as a door of a running gateway. Apart from `wiring`, which is about the line."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from urllib.parse import urlsplit

from gateway.app.checks import Ports
from gateway.aws.client.live_reads import AwsLive
from gateway.aws.client.mutations import Aws, software_version
from gateway.context.live import LiveReadThrough
from gateway.context.reader import ContextReader
from gateway.core.service_models import ServiceModels
from gateway.core.settings import ServerSettings
from gateway.core.settings.agents import LOOPBACK_HOSTS, LOOPBACK_ORIGINS
from gateway.core.settings.notices import receiver_names
from gateway.doors.api.shared import ApiPorts
from gateway.doors.chat.deliveries import DeliveryBook
from gateway.doors.chat.links import ChatLinks
from gateway.doors.chat.slack_answers import SlackAnswers
from gateway.doors.chat.slack_chat import SlackChat
from gateway.doors.console.door import ConsoleDoor, ConsoleParts
from gateway.doors.mcp.door import PATH, McpDoor, ProtectedResource
from gateway.doors.mcp.shared import McpPorts
from gateway.doors.metrics import PATH as METRICS_PATH
from gateway.doors.metrics import MetricsDoor
from gateway.doors.router import App
from gateway.doors.shutdown import Stopping
from gateway.identity.bearer import Bearer
from gateway.ledger.ask.context_ledger import SqlContext
from gateway.line.pipeline import Pipeline


def console_doors(ports: Ports, api: App, pipeline: Pipeline, stopping: Stopping) -> Mapping[str, App]:
    """The console by the path that leads to it; nothing if the settings switch it off. `api` serves `/v1`."""
    if not ports.settings.console.enabled:
        return {}
    parts = ConsoleParts(
        api=api,
        pipeline=pipeline,
        authenticator=Bearer(ports.keys, ports.clock),
        keys=ports.keys,
        changes=ports.ledger,
        checkouts={stack.name: stack.path for stack in ports.settings.stacks},
        rules=ports.engine.rules,
        revision=lambda: ports.engine.revision,
        clock=ports.clock,
        stopping=stopping,
        cookie_key=ports.console_key,
        public_url=ports.settings.server.public_url,
        settings=ports.settings.console,
    )
    return {"/console": ConsoleDoor(parts)}


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


def mcp_doors(ports: Ports, context: ApiPorts, stack: AsyncExitStack, stopping: Stopping) -> Mapping[str, App]:
    """The doors by path; none if they are switched off. What they hold open ends with the stack."""
    settings = ports.settings
    if not settings.mcp.enabled:
        return {}
    base_url = base_url_of(settings.server)
    resource = ProtectedResource(base_url, settings.mcp.authorization_servers)
    door = McpDoor(
        McpPorts(context=context, stacks=ports.stacks, rules=ports.engine.rules, base_url=base_url),
        Bearer(ports.keys, ports.clock),
        resource,
        hosts=hosts_of(settings.server, settings.mcp.hosts),
        origins=(base_url, *settings.mcp.origins, *LOOPBACK_ORIGINS),
        max_body_bytes=settings.server.max_body_bytes,
        most_streams=settings.mcp.most_streams,
        version=software_version(),
    )
    stopping.add(door.stop_streams)
    running = asyncio.ensure_future(door.run())
    stack.push_async_callback(_end, running)
    return {"/mcp": door, PATH: resource}


def base_url_of(server: ServerSettings) -> str:
    """Where clients reach the gateway, as far as the settings say it."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return server.public_url.rstrip("/") or f"http://{host}:{server.port}"


def hosts_of(server: ServerSettings, more: tuple[str, ...]) -> tuple[str, ...]:
    """The values of the `Host` header that are accepted: those of the settings, of the public URL, and of this machine."""
    public = urlsplit(server.public_url).netloc
    own = (server.host, f"{server.host}:{server.port}") if server.host not in ("0.0.0.0", "::") else ()  # noqa: S104  not bound here
    return tuple(dict.fromkeys(each for each in (*more, public, *own, *LOOPBACK_HOSTS) if each))


async def _end(running: "asyncio.Future[None]") -> None:
    running.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await running


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
    return {METRICS_PATH: door}


def slack_chat(ports: Ports, stack: AsyncExitStack) -> SlackChat:
    """The chat, which is closed with the stack before the ledger is."""
    settings = ports.settings.chat.slack
    chat = SlackChat(
        settings=settings,
        public_url=ports.settings.server.public_url,
        links=ChatLinks(team=settings.team, ledger=ports.ledger, keys=ports.keys, clock=ports.clock),
        queries=ports.ledger,
        commands=ports.ledger,
        wakeups=ports.wakeups,
        host=SlackAnswers(settings.host),
        clock=ports.clock,
    )
    stack.push_async_callback(chat.close)
    return chat


def delivery_book(ports: Ports) -> DeliveryBook:
    """What became of notices."""
    names = receiver_names(ports.settings.webhooks, ports.settings.chat)
    return DeliveryBook(receivers=names, ledger=ports.ledger, clock=ports.clock)
