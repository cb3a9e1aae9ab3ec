"""The composition root: builds the adapters and mounts the doors on one ASGI application. `wiring` lists the checks in order."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import structlog
from fastapi import FastAPI

from gateway.app import background
from gateway.app.checks import Ports, checks, intake, run_task, signal_book, time_boxes
from gateway.app.doors import console_doors, context_reader, delivery_book, mcp_doors, metrics_doors, slack_chat
from gateway.aws.client.credentials import Credentials, CredentialsProvider, DefaultChain, FixedCredentials
from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.http_client import Client
from gateway.aws.client.mutations import Aws, SignedRequest
from gateway.aws.client.signer import RequestSigner
from gateway.aws.client.states import BucketStates, States
from gateway.aws.client.streams import AwsData, AwsReads
from gateway.aws.door.bucket_host import BucketHosts
from gateway.aws.door.data_calls import DataCalls
from gateway.aws.door.decoder import AwsDecoder
from gateway.aws.door.endpoint import AwsDoor
from gateway.aws.door.form_uploads import FormUploads
from gateway.aws.door.reads import Reads
from gateway.aws.door.uploads import Uploads
from gateway.aws.door.urls import ReplyUrls
from gateway.aws.models import call_classes, routing_index
from gateway.context.reader import ContextReader
from gateway.core.clock import SystemClock
from gateway.core.http.body_budget import BodyBudget
from gateway.core.model.masking import Masker
from gateway.core.ports import Clock
from gateway.core.service_models import ServiceModels
from gateway.core.settings import Settings, without_password
from gateway.doors.api.decoder import ApiDecoder
from gateway.doors.api.health import Readiness, add_health
from gateway.doors.api.openapi import add_answer_schemas, add_docs
from gateway.doors.api.problems import handle_errors
from gateway.doors.api.routes import routes
from gateway.doors.api.run_task import HcpRunTask
from gateway.doors.api.shared import ApiPorts
from gateway.doors.api.time_box_commands import TimeBoxes
from gateway.doors.chat.slack_chat import SlackChat
from gateway.doors.router import DoorRouter
from gateway.doors.shutdown import Stopping
from gateway.drift.watch import DriftWatch
from gateway.effects.resolver import EffectResolver
from gateway.identity.bearer import Bearer
from gateway.identity.master_key import derived_key
from gateway.identity.sigv4 import SigV4
from gateway.ledger.ask.time_box_ledger import SqlTimeBoxes
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.sealed_ledger import master_key_of, open_sealed_ledger
from gateway.line.checks.fair_limits import FairLimitsOf
from gateway.line.checks.fairness import Admission
from gateway.line.checks.priorities import idle_layers
from gateway.line.data_plane import DataPlane, PassedCounts
from gateway.line.pipeline import Pipeline
from gateway.line.stops import StopBook
from gateway.line.survey import Survey
from gateway.line.unneeded_claims import UnneededClaims
from gateway.policy.engine import RunningEngine, open_engine
from gateway.telemetry.telemetry import Telemetry
from gateway.terraform.pulled_states import PulledStates
from gateway.terraform.stacks import Stacks

log = structlog.get_logger()


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[DoorRouter]:
    """The ASGI application, with its adapters open and its background tasks running until the block ends.

    Raises `errors.SentinelError` if the code, a contract, a policy or a setting is invalid, or the ledger cannot be opened.
    """
    clock = SystemClock()
    settings.data.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        master = await asyncio.to_thread(master_key_of, settings)
        masker = Masker(key=derived_key(master, "masking"))
        stacks = await asyncio.to_thread(
            Stacks.load,
            settings.stacks,
            default_mode=settings.mode,
            default_region=settings.upstream.default_region,
            masker=masker,
            objects=_states(settings, clock),
        )
        ledger = await stack.enter_async_context(open_sealed_ledger(settings))
        keys = SqlKeyRing(ledger, master=master, clock=clock)
        engine = await open_engine(settings.policy, settings.data)
        stack.push_async_callback(engine.close)
        await _warn(stacks, engine)
        client = Client(
            connect_seconds=settings.upstream.connect_seconds, reply_seconds=settings.upstream.reply_seconds
        )
        stack.push_async_callback(client.close)
        lease = timedelta(seconds=settings.server.lease_seconds)
        await ledger.renew_lease(clock.now(), lease)
        stack.push_async_callback(background.end_lease, ledger)
        await background.recover(ledger, clock)
        telemetry = Telemetry(settings.telemetry)
        stack.push_async_callback(telemetry.close)
        counts = PassedCounts(ledger, clock)
        stack.push_async_callback(counts.flush)
        ports = Ports(
            settings=settings,
            clock=clock,
            stacks=stacks,
            ledger=ledger,
            keys=keys,
            engine=engine,
            client=client,
            counts=counts,
            masker=masker,
            digest_key=derived_key(master, "call digest"),
            console_key=derived_key(master, "console"),
            drift=DriftWatch(queries=ledger, events=ledger, stacks=stacks, policy=engine, clock=clock),
            signals=await signal_book(settings, ledger, clock),
            stops=StopBook(ledger, clock),
            telemetry=telemetry,
        )
        await ports.stops.refresh()
        await ports.drift.book.read(ledger)
        for work in _background(ports, lease):
            stack.callback(asyncio.ensure_future(work).cancel)
        application = _application(ports, run_task(ports, stack), slack_chat(ports, stack), stack)
        _log_start(ports)
        yield application


def _background(ports: Ports, lease: timedelta) -> tuple[Coroutine[None, None, None], ...]:
    """What runs beside the requests until the gateway stops."""
    return (
        background.reload_stacks(ports.stacks),
        background.expire_claims(ports.ledger, ports.clock),
        background.end_unneeded_claims(UnneededClaims(ports.stacks, ports.ledger, ports.clock)),
        background.keep_lease(ports.ledger, ports.clock, lease),
        background.record_counts(ports.counts),
        background.decide_drift(ports.drift),
        background.follow_signals(ports.signals),
        background.follow_stops(ports.stops),
        ports.wakeups.follow(ports.ledger),
    )


async def _warn(stacks: Stacks, engine: RunningEngine) -> None:
    for warning in await idle_layers(engine, [stack.name for stack in stacks.all]):
        log.warning("priority_layer", warning=warning)
    for warning in stacks.warnings:
        log.warning("contract_warning", warning=warning)
    for warning in stacks.origin_warnings:
        log.warning("contract_origin", warning=warning)


def _states(settings: Settings, clock: Clock) -> States:
    """Reads states that are no files: in S3 with credentials of its own, since it runs in threads; any other by Terraform."""
    upstream = settings.upstream
    endpoints = Endpoints(models=ServiceModels(), regions=upstream.regions, simulated=upstream.simulated)
    return States(
        buckets=BucketStates(endpoints=endpoints, credentials=_credentials(settings, clock), clock=clock),
        backends=PulledStates(
            directory=settings.data.absolute() / "states",
            executable=settings.reconcile.terraform,
            allowed=frozenset(settings.reconcile.allow.blocks),
            clock=clock,
        ),
    )


def _log_start(ports: Ports) -> None:
    """Log what this gateway is: where it listens, what it guards and by which revisions."""
    settings = ports.settings
    log.info(
        "started",
        address=f"http://{settings.server.host}:{settings.server.port}",
        stacks={stack.name: stack.mode.value for stack in ports.stacks.all},
        mode=settings.mode.value,
        ledger=without_password(settings.ledger_url),
        policy=ports.engine.revision,
        policy_engine=settings.policy.engine.value,
        code=ports.stacks.revision,
        aws=settings.upstream.simulated or "real",
    )
    if not ports.stacks.all:
        log.warning(
            "no_stack", consequence="No stack is set, so every resource counts as not declared. Add [[stacks]]."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wire:
    """What the doors and the cloud adapter share about AWS, so that each part is in memory only once."""

    resolver: EffectResolver

    routing: routing_index.RoutingIndex
    table: call_classes.CallClassTable
    models: ServiceModels
    endpoints: Endpoints
    signer: RequestSigner


def _application(ports: Ports, run_task: HcpRunTask, chat: SlackChat, stack: AsyncExitStack) -> DoorRouter:
    settings, models = ports.settings, ServiceModels()
    wire = _Wire(
        routing=routing_index.shipped(),
        table=call_classes.shipped(),
        models=models,
        endpoints=Endpoints(models=models, regions=settings.upstream.regions, simulated=settings.upstream.simulated),
        signer=RequestSigner(_credentials(settings, ports.clock), ports.clock),
        resolver=EffectResolver(ports.stacks, masker=ports.masker),
    )
    pipeline = _pipeline(ports, wire)
    door = _aws_door(ports, wire, pipeline)
    app = FastAPI(title="Sentinel", docs_url=None, openapi_url="/v1/openapi.json", redoc_url=None)
    app.state.wakeups = ports.wakeups
    handle_errors(app)
    add_health(app, lambda: _readiness(ports))
    add_docs(app)
    add_answer_schemas(app)
    boxes = time_boxes(ports, pipeline, _api_decoder(settings, wire), wire.resolver)
    context = _context(ports, boxes, run_task, context_reader(ports, _aws(ports, wire), models), chat)
    app.include_router(routes(context))
    app.mount("/", door)  # must be last: every path outside the API is an AWS request
    # The router wraps FastAPI and passes AWS requests directly to the door: FastAPI's work for a request costs more than the door's.
    budget = BodyBudget(settings.server.max_buffered_bytes)
    stopping = Stopping()
    return DoorRouter(
        app,
        aws=door,
        pipeline=pipeline,
        clock=ports.clock,
        budget=budget,
        public_url=settings.server.public_url,
        doors={
            **mcp_doors(ports, context, stack, stopping),
            **console_doors(ports, app, pipeline, stopping),
            **metrics_doors(ports, pipeline),
        },
        stopping=stopping,
    )


def _pipeline(ports: Ports, wire: _Wire) -> Pipeline:
    return ports.telemetry.pipeline(
        resolver=wire.resolver,
        survey=Survey(
            stacks=ports.stacks,
            ledger=ports.ledger,
            policy=ports.engine,
            clock=ports.clock,
            proof=ports.signals.proof,
            couplings=ports.engine.couplings,
        ),
        checks=checks(ports.engine, ports.drift.quarantined),
        ledger=ports.ledger,
        cloud=_aws(ports, wire),
        clock=ports.clock,
        digest_key=ports.digest_key,
        settled=ports.wakeups.wake,
        time_boxes=SqlTimeBoxes(ports.ledger),
        admission=Admission(FairLimitsOf(ports.engine)),
    )


def _aws(ports: Ports, wire: _Wire) -> Aws:
    return Aws(models=wire.models, endpoints=wire.endpoints, signer=wire.signer, client=ports.client)


def _data(ports: Ports, wire: _Wire) -> DataCalls[SignedRequest]:
    plane = DataPlane(
        resolver=wire.resolver,
        stacks=ports.stacks,
        treatments=ports.settings.data_treatments,
        by_stack=ports.settings.data_treatments_by_stack,
    )
    return DataCalls(
        plane, ports.counts, AwsData(_aws(ports, wire), ports.client), _urls(ports.settings), refuse=ports.stops.refuse
    )


def _urls(settings: Settings) -> ReplyUrls:
    return ReplyUrls(public_url=settings.server.public_url)


def _aws_door(ports: Ports, wire: _Wire, pipeline: Pipeline) -> AwsDoor:
    settings = ports.settings
    reads = AwsReads(models=wire.models, endpoints=wire.endpoints, signer=wire.signer, client=ports.client)
    decoder = AwsDecoder(
        account=settings.account,
        regions=settings.upstream.regions,
        max_body_bytes=settings.server.max_body_bytes,
        max_upload_bytes=settings.server.max_upload_bytes,
        index=wire.routing,
        classes=wire.table,
        models=wire.models,
    )
    sigv4 = SigV4(ports.keys, ports.clock, skew_seconds=settings.server.clock_skew_seconds)
    uploads = Uploads(
        sigv4=sigv4,
        decoder=decoder,
        max_object_bytes=settings.server.max_object_bytes,
        unsigned=settings.server.unsigned_uploads,
        https=settings.server.public_url.startswith("https://"),
    )
    urls = _urls(settings)
    return AwsDoor(
        pipeline=pipeline,
        uploads=uploads,
        forms=FormUploads(
            keys=ports.keys,
            clock=ports.clock,
            decoder=decoder,
            uploads=uploads,
            max_bytes=settings.server.max_upload_bytes,
        ),
        authenticator=sigv4,
        decoder=decoder,
        reads=Reads(reads, urls),
        urls=urls,
        data=_data(ports, wire),
        clock=ports.clock,
        hosts=BucketHosts(settings.server.s3_hosts, settings.server.public_url),
        max_body_bytes=settings.server.max_body_bytes,
        limit_of_large=decoder.limit_of_large,
    )


def _api_decoder(settings: Settings, wire: _Wire) -> ApiDecoder:
    return ApiDecoder(
        account=settings.account,
        regions=settings.upstream.regions,
        default_region=settings.upstream.default_region,
        index=wire.routing,
        classes=wire.table,
        models=wire.models,
    )


def _context(ports: Ports, boxes: TimeBoxes, run_task: HcpRunTask, readers: ContextReader, chat: SlackChat) -> ApiPorts:
    return ApiPorts(
        pipeline=boxes.pipeline,
        authenticator=Bearer(ports.keys, ports.clock),
        decoder=boxes.decoder,
        time_boxes=boxes,
        queries=ports.ledger,
        doubts=ports.ledger,
        blamer=ports.ledger,
        commands=ports.ledger,
        drift=ports.drift,
        readers=readers,
        intake=intake(ports),
        stops=ports.stops,
        budgets=ports.ledger,
        limits=FairLimitsOf(ports.engine),
        plans=run_task.plans,
        run_task=run_task,
        chat=chat,
        deliveries=delivery_book(ports),
        keys=ports.keys,
        clock=ports.clock,
        max_body_bytes=ports.settings.server.max_body_bytes,
        wakeups=ports.wakeups,
    )


def _credentials(settings: Settings, clock: Clock) -> CredentialsProvider:
    """boto3's default credential chain; for a simulated AWS, which does not verify signatures, a dummy pair."""
    if settings.upstream.simulated:
        return FixedCredentials(Credentials(access_key_id="simulated", secret="simulated"))  # noqa: S106  not a secret
    return DefaultChain(clock)


async def _readiness(ports: Ports) -> Readiness:
    return Readiness(
        unreadable=await ports.ledger.unreadable(),
        problems=(
            *ports.stacks.problems,
            *ports.signals.files.problems,
            *(problem for problem in (ports.engine.problem, ports.ledger.problem) if problem),
        ),
        details={
            "code": ports.stacks.revision,
            "policy": ports.engine.revision,
            "stacks": {stack.name: stack.mode.value for stack in ports.stacks.all},
            "contracts": dict(ports.stacks.origins),
        },
    )
