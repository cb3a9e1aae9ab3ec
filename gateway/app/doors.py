"""THE list of doors: the AWS endpoint, the JSON API, MCP, the console and the metrics, on one ASGI application."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import FastAPI

from gateway.app.checks import open_pipeline, open_plan_check, open_plan_opener, standing
from gateway.app.parts import Parts
from gateway.aws.client.live_reads import AwsLive
from gateway.aws.client.own_account import OwnAccount
from gateway.aws.client.states import StatesNow
from gateway.aws.client.streams import AwsData, AwsReads
from gateway.aws.door.bucket_host import BucketHosts
from gateway.aws.door.data_calls import DataCalls
from gateway.aws.door.decoder import AwsDecoder
from gateway.aws.door.endpoint import AwsDoor
from gateway.aws.door.form_uploads import FormUploads
from gateway.aws.door.reads import Reads
from gateway.aws.door.token_service import TokenService
from gateway.aws.door.uploads import Uploads
from gateway.aws.door.urls import ReplyUrls
from gateway.aws.models.object_reads import may_fetch
from gateway.context.live_values import LiveReadThrough
from gateway.context.reader import ContextReader
from gateway.context.stack_map import StackMaps
from gateway.core.http.body_budget import BodyBudget
from gateway.core.http.strict_parsers import json_value
from gateway.core.pace import Pace
from gateway.core.settings import ServerSettings
from gateway.core.settings.agents import LOOPBACK_HOSTS, LOOPBACK_ORIGINS
from gateway.core.settings.notices import receiver_names
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from gateway.core.version import software_version
from gateway.doors.api.decoder import ApiDecoder
from gateway.doors.api.hcp_host import HcpHost
from gateway.doors.api.health import Readiness, add_health
from gateway.doors.api.openapi import add_answer_schemas, add_docs
from gateway.doors.api.ports import SEARCHES, ApiPorts
from gateway.doors.api.problems import handle_errors
from gateway.doors.api.routes import routes
from gateway.doors.api.run_task import HcpRunTask, require_listed
from gateway.doors.api.time_boxes import TimeBoxes
from gateway.doors.chat.deliveries import DeliveryBook
from gateway.doors.chat.links import ChatLinks
from gateway.doors.chat.slack_chat import SlackAnswers, SlackChat
from gateway.doors.console.door import ConsoleDoor, ConsoleParts
from gateway.doors.mcp.door import PATH as MCP_METADATA
from gateway.doors.mcp.door import McpDoor, ProtectedResource
from gateway.doors.mcp.tool_call import McpPorts
from gateway.doors.metrics import PATH as METRICS
from gateway.doors.metrics import MetricsDoor
from gateway.doors.router import App, DoorRouter
from gateway.doors.shutdown import Stopping
from gateway.identity.bearer import Bearer
from gateway.identity.sigv4 import SigV4
from gateway.identity.web_identity import WebIdentities
from gateway.line.checks.fairness import FairLimitsOf
from gateway.line.data_plane import DataPlane, DataSignatures
from gateway.line.pipeline import Pipeline
from gateway.line.state_writes import StateWrites
from gateway.plans.document import LARGEST_PLAN
from gateway.policy.catalogue import Catalogue
from gateway.policy.longer import LongerChanges
from gateway.policy.playground import TRIALS, Playground
from gateway.policy.replays import Replays
from gateway.policy.rule_counts import RuleTally
from gateway.policy.sources import shipped
from gateway.policy.who_wins import WhoWins
from gateway.signals.receiver import SignalReceiver

if TYPE_CHECKING:
    from gateway.signals.sns import SnsMessages


def open_doors(parts: Parts, stack: AsyncExitStack) -> DoorRouter:
    """Every door behind the router. What doors hold open is closed with the stack, before the ledger is."""
    pipeline = open_pipeline(parts)
    ports = api_ports(parts, pipeline, stack)
    aws = aws_door(parts, pipeline)
    api = _api(parts, ports)
    api.mount("/", aws)  # must be last: every path outside the API is an AWS request
    stopping = Stopping()
    # The router wraps FastAPI and passes AWS requests directly to the door: FastAPI's work for a request costs more than the door's.
    return DoorRouter(
        api,
        aws=aws,
        pipeline=pipeline,
        clock=parts.clock,
        budget=BodyBudget(parts.settings.server.max_buffered_bytes),
        public_url=parts.settings.server.public_url,
        doors={
            **mcp_doors(parts, ports, stack, stopping),
            **console_doors(parts, api, pipeline, stopping),
            **metrics_doors(parts, pipeline),
        },
        stopping=stopping,
    )


# The AWS endpoint -----------------------------------------------------------------------------------------------


def aws_door(parts: Parts, pipeline: Pipeline) -> AwsDoor:
    """The AWS-compatible endpoint."""
    settings, server, wire = parts.settings, parts.settings.server, parts.aws
    decoder = AwsDecoder(
        account=settings.account,
        regions=settings.upstream.regions,
        max_body_bytes=server.max_body_bytes,
        max_upload_bytes=server.max_upload_bytes,
        index=wire.routes,
        classes=wire.classes,
        models=wire.models,
        accounts=parts.roles.accounts,
        looks_at=lambda service, operation: may_fetch(service, operation) and parts.ground.any,
    )
    sigv4 = SigV4(parts.keys, parts.clock, skew_seconds=server.clock_skew_seconds)
    uploads = Uploads(
        sigv4=sigv4,
        decoder=decoder,
        max_object_bytes=server.max_object_bytes,
        unsigned=server.unsigned_uploads,
        https=server.public_url.startswith("https://"),
    )
    urls = ReplyUrls(public_url=server.public_url)
    again = standing(parts)
    plane = DataPlane(
        resolver=parts.resolver,
        stacks=parts.stacks,
        treatments=settings.data_treatments,
        by_stack=settings.data_treatments_by_stack,
        ground=parts.ground,
    )
    reads = AwsReads(
        models=wire.models, endpoints=wire.endpoints, signer=wire.signer, client=wire.client, accounts=wire.accounts
    )
    return AwsDoor(
        pipeline=pipeline,
        uploads=uploads,
        forms=FormUploads(
            keys=parts.keys, clock=parts.clock, decoder=decoder, uploads=uploads, max_bytes=server.max_upload_bytes
        ),
        authenticator=sigv4,
        decoder=decoder,
        reads=Reads(reads, urls, stands=again.holds),
        urls=urls,
        data=DataCalls(
            plane,
            parts.counts,
            DataSignatures(parts.clock, skew=timedelta(seconds=server.clock_skew_seconds)),
            AwsData(wire.aws, wire.client),
            urls,
            standing=again,
            refuse=parts.stops.refuse,
            states=StateWrites(parts.ground, StatesNow(reads).read),
        ),
        tokens=token_service(parts),
        clock=parts.clock,
        hosts=BucketHosts(server.s3_hosts, server.public_url),
        max_body_bytes=server.max_body_bytes,
        limit_of_large=decoder.limit_of_large,
    )


def token_service(parts: Parts) -> TokenService:
    """AWS's token service, as the gateway answers it."""
    settings, wire = parts.settings, parts.aws
    return TokenService(
        roles=parts.roles,
        keys=parts.keys,
        web=WebIdentities(parts.clock),
        models=wire.models,
        clock=parts.clock,
        signatures=DataSignatures(parts.clock, skew=timedelta(seconds=settings.server.clock_skew_seconds)),
        account=OwnAccount(
            known=lambda: settings.account or parts.stacks.account(),
            aws=wire.aws,
            models=wire.models,
            region=settings.upstream.default_region,
        ).read,
    )


# The JSON API ---------------------------------------------------------------------------------------------------


def _api(parts: Parts, ports: ApiPorts) -> FastAPI:
    api = FastAPI(title="Sentinel", docs_url=None, openapi_url="/v1/openapi.json", redoc_url=None)
    api.state.ports = ports
    handle_errors(api)
    add_health(api, lambda: _readiness(parts))
    add_docs(api)
    add_answer_schemas(api)
    api.router.routes.extend(routes())  # `include_router` would derive each of them again
    return api


def _api_decoder(parts: Parts) -> ApiDecoder:
    settings = parts.settings
    return ApiDecoder(
        account=settings.account,
        regions=settings.upstream.regions,
        default_region=settings.upstream.default_region,
        index=parts.aws.routes,
        classes=parts.aws.classes,
        models=parts.aws.models,
        accounts=parts.roles.accounts,
    )


def _sns(sources: Iterable[SignalSourceSettings]) -> "SnsMessages | None":
    """What opens messages of SNS. It is imported where a source is a topic: reading certificates takes 3 MB."""
    if all(source.form is not SignalForm.SNS for source in sources):
        return None
    from gateway.signals.sns import SnsEndpoint, SnsMessages  # noqa: PLC0415

    return SnsMessages(site=SnsEndpoint())


def api_ports(parts: Parts, pipeline: Pipeline, stack: AsyncExitStack) -> ApiPorts:
    """What the routes of the API use."""
    settings, decoder = parts.settings, _api_decoder(parts)
    task, replays = run_task(parts, stack), _open_replays(parts, stack)
    return ApiPorts(
        pipeline=pipeline,
        standing=standing(parts),
        authenticator=Bearer(parts.keys, parts.clock),
        decoder=decoder,
        time_boxes=TimeBoxes(
            ledger=parts.ledger,
            pipeline=pipeline,
            decoder=decoder,
            resolver=parts.resolver,
            inventory=parts.stacks,
            declared=parts.stacks.declared_value,
            policy=parts.engine,
            longer=LongerChanges(queries=parts.ledger, engine=parts.engine),
            clock=parts.clock,
        ),
        queries=parts.ledger,
        doubts=parts.ledger,
        blamer=parts.ledger,
        commands=parts.ledger,
        drift=parts.drift,
        readers=context_reader(parts),
        maps=StackMaps(stacks=parts.stacks),
        intake=SignalReceiver(
            sources=parts.signals.sources,
            ledger=parts.ledger,
            clock=parts.clock,
            parse=json_value,
            recorded=parts.signals.refresh,
            sns=_sns(parts.signals.sources.values()),
        ),
        stops=parts.stops,
        budgets=parts.ledger,
        limits=FairLimitsOf(parts.engine),
        plans=task.plans,
        opener=open_plan_opener(parts),
        run_task=task,
        chat=slack_chat(parts, stack),
        deliveries=delivery_book(parts),
        keys=parts.keys,
        roles=parts.roles,
        clock=parts.clock,
        replays=replays,
        playground=_playground(parts, replays),
        searches=Pace(clock=parts.clock, most=SEARCHES, of="searches"),
        catalogue=Catalogue(engine=parts.engine, policies=settings.policy.path or shipped()),
        rule_tally=_open_tally(parts, stack),
        who_wins=WhoWins(engine=parts.engine, clock=parts.clock),
        max_body_bytes=settings.server.max_body_bytes,
        wakeups=parts.wakeups,
    )


def _playground(parts: Parts, replays: Replays) -> Playground:
    return Playground(
        replays=replays,
        policies=parts.settings.policy.path or shipped(),
        pace=Pace(clock=parts.clock, most=TRIALS, of="trials"),
    )


def _open_tally(parts: Parts, stack: AsyncExitStack) -> RuleTally:
    tally = RuleTally(queries=parts.ledger)
    stack.push_async_callback(tally.close)
    return tally


def _open_replays(parts: Parts, stack: AsyncExitStack) -> Replays:
    policy = parts.settings.policy
    replays = Replays(
        running=parts.engine,
        queries=parts.ledger,
        stacks=parts.stacks,
        deadline_ms=policy.deadline_ms,
        memory_mb=policy.memory_mb,
    )
    stack.push_async_callback(replays.close)
    return replays


async def _readiness(parts: Parts) -> Readiness:
    stacks, engine, ledger = parts.stacks, parts.engine, parts.ledger
    return Readiness(
        unreadable=await ledger.unreadable(),
        problems=(
            *stacks.problems,
            *parts.signals.files.problems,
            *(problem for problem in (engine.problem, ledger.problem) if problem),
        ),
        details={
            "code": stacks.revision,
            "policy": engine.revision,
            "stacks": {stack.name: stack.mode.value for stack in stacks.all},
            "contracts": dict(stacks.origins),
        },
    )


def context_reader(parts: Parts) -> ContextReader:
    """The reader of resources. Live values are read with the gateway's own credentials, for which its settings name the account."""
    settings = parts.settings
    source = AwsLive(
        aws=parts.aws.aws,
        models=parts.aws.models,
        masker=parts.masker,
        account=settings.account,
        region=settings.upstream.default_region,
    )
    return ContextReader(
        stacks=parts.stacks,
        ledger=parts.ledger,
        policy=parts.engine,
        live=LiveReadThrough(
            source=source if settings.context.live else None,
            clock=parts.clock,
            reads_per_minute=settings.context.live_reads_per_minute,
            deadline_seconds=settings.context.live_seconds,
        ),
        clock=parts.clock,
        signals=parts.signals.about,
        seeks_drift=settings.reconcile.drift_every > 0,
    )


def run_task(parts: Parts, stack: AsyncExitStack) -> HcpRunTask:
    """The run task, which is closed with the stack before the ledger is."""
    settings = parts.settings.run_task
    host = HcpHost(lambda url: require_listed(url, settings.hosts), largest_plan=LARGEST_PLAN)
    task = HcpRunTask(
        settings=settings,
        host=host,
        plans=open_plan_check(parts),
        keys=parts.keys,
        queries=parts.ledger,
        clock=parts.clock,
        stacks=[each.name for each in parts.settings.stacks],
    )
    stack.push_async_callback(task.close)
    return task


def slack_chat(parts: Parts, stack: AsyncExitStack) -> SlackChat:
    """The chat, which is closed with the stack before the ledger is."""
    settings = parts.settings.chat.slack
    host = SlackAnswers(settings.host)
    chat = SlackChat(
        settings=settings,
        public_url=parts.settings.server.public_url,
        links=ChatLinks(team=settings.team, ledger=parts.ledger, keys=parts.keys, clock=parts.clock),
        queries=parts.ledger,
        commands=parts.ledger,
        wakeups=parts.wakeups,
        host=host,
        clock=parts.clock,
    )
    stack.push_async_callback(chat.close)
    return chat


def delivery_book(parts: Parts) -> DeliveryBook:
    """The deliveries of notices, by the names of their receivers."""
    names = receiver_names(parts.settings.webhooks, parts.settings.chat)
    return DeliveryBook(receivers=names, ledger=parts.ledger, clock=parts.clock)


# Further doors, by the path that leads to them ------------------------------------------------------------------


def mcp_doors(parts: Parts, ports: ApiPorts, stack: AsyncExitStack, stopping: Stopping) -> Mapping[str, App]:
    """The MCP door, and the description that leads to it; none if they are switched off. What they hold open ends with the stack."""
    settings = parts.settings
    if not settings.mcp.enabled:
        return {}
    base_url = base_url_of(settings.server)
    resource = ProtectedResource(base_url, settings.mcp.authorization_servers)
    door = McpDoor(
        McpPorts(api=ports, stacks=parts.stacks, rules=parts.engine.rules, base_url=base_url),
        Bearer(parts.keys, parts.clock),
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
    return {"/mcp": door, MCP_METADATA: resource}


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


def console_doors(parts: Parts, api: App, pipeline: Pipeline, stopping: Stopping) -> Mapping[str, App]:
    """The console; nothing if the settings switch it off. `api` serves `/v1`."""
    if not parts.settings.console.enabled:
        return {}
    console = ConsoleParts(
        api=api,
        pipeline=pipeline,
        authenticator=Bearer(parts.keys, parts.clock),
        keys=parts.keys,
        changes=parts.ledger,
        checkouts={stack.name: stack.path for stack in parts.settings.stacks},
        readiness=lambda: _readiness(parts),
        ending_keys=lambda: parts.key_ends.ending,
        clock=parts.clock,
        stopping=stopping,
        cookie_key=parts.console_key,
        public_url=parts.settings.server.public_url,
        settings=parts.settings.console,
    )
    return {"/console": ConsoleDoor(console)}


def metrics_doors(parts: Parts, pipeline: Pipeline) -> Mapping[str, App]:
    """The figures for Prometheus; nothing unless the settings switch them on."""
    settings = parts.settings.telemetry
    if not settings.metrics:
        return {}
    receivers = receiver_names(parts.settings.webhooks, parts.settings.chat)
    door = MetricsDoor(
        pipeline=pipeline,
        authenticator=Bearer(parts.keys, parts.clock),
        clock=parts.clock,
        peers=settings.metrics_peers,
        scrape=lambda accept: parts.telemetry.scrape(accept, parts.ledger, parts.engine, receivers),
    )
    return {METRICS: door}
