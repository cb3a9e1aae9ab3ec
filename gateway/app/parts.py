"""The parts of one running gateway: its settings and adapters, opened in order, and closed in reverse when the gateway stops."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from gateway.app import background
from gateway.aws.client.accounts import Accounts, AssumedAccount
from gateway.aws.client.credentials import Credentials, CredentialsProvider, DefaultChain, FixedCredentials
from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.http_client import Client
from gateway.aws.client.mutations import Aws
from gateway.aws.client.signer import RequestSigner
from gateway.aws.client.states import BucketStates, States
from gateway.aws.models.call_classes import CallClassTable, class_of_call
from gateway.aws.models.call_classes import shipped as shipped_classes
from gateway.aws.models.routing_index import RoutingIndex
from gateway.aws.models.routing_index import shipped as shipped_routes
from gateway.aws.models.session_actions import shipped as session_actions
from gateway.core.derived_rows import DerivedRow, derived_rows
from gateway.core.errors import CodeInvalid, PolicyInvalid
from gateway.core.model.masking import Masker
from gateway.core.model.mutation import Call, CallClass
from gateway.core.ports import Clock
from gateway.core.service_models import ServiceModels
from gateway.core.settings import Settings
from gateway.drift.decisions import DriftDecisions
from gateway.effects.learned_rows import check_learned
from gateway.effects.resolver import EffectResolver
from gateway.identity.master_key import derived_key
from gateway.identity.roles import Roles
from gateway.ledger.key_ends import KeyEnds
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.plan_sessions import SqlPlanSessions
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.line.data_plane import PassedCounts
from gateway.line.ground_truth import GroundTruth, places_of
from gateway.line.stop_book import StopBook
from gateway.line.wakeups import Wakeups
from gateway.policy.bundle import RunningEngine
from gateway.policy.engine import open_engine
from gateway.policy.kept_code import FILE_NAME as KEPT_CODE
from gateway.policy.kept_code import KeptCode
from gateway.policy.pulled import Fetch, Fetched
from gateway.signals.files import SignalFiles
from gateway.signals.open_signals import OpenSignals
from gateway.telemetry.telemetry import Telemetry
from gateway.terraform.config.backend import StateObject
from gateway.terraform.pulled_states import PulledStates
from gateway.terraform.stacks import Stacks


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsParts:
    """What the doors and the line share about AWS, so that each part is in memory only once."""

    routes: RoutingIndex
    classes: CallClassTable
    models: ServiceModels
    endpoints: Endpoints
    signer: RequestSigner
    client: Client
    aws: Aws
    """Sends what the line decided."""
    accounts: Accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The settings and adapters of one running gateway."""

    settings: Settings
    clock: Clock
    stacks: Stacks
    ledger: SqlLedger
    keys: SqlKeyRing
    roles: Roles
    plan_sessions: SqlPlanSessions
    engine: RunningEngine
    aws: AwsParts
    rows: Callable[[str, str], tuple[DerivedRow, ...]]
    """The derived rows of a service's operation, the accepted ones among them."""
    resolver: EffectResolver
    counts: PassedCounts
    masker: Masker
    digest_key: bytes
    console_key: bytes
    drift: DriftDecisions
    ground: GroundTruth
    signals: OpenSignals
    stops: StopBook
    key_ends: KeyEnds
    telemetry: Telemetry = field(default_factory=Telemetry)
    wakeups: Wakeups = field(default_factory=Wakeups)


async def open_parts(settings: Settings, clock: Clock, stack: AsyncExitStack) -> Parts:
    """The parts, open until the stack is closed.

    Raises `errors.SentinelError` if the code, a contract, a policy or a setting is invalid, or the ledger cannot be opened.
    """
    settings.data.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(check_learned, settings.effects.learned)
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
    engine = await open_engine(
        settings.policy, settings.data, bundle_in_s3(settings, clock), kept_code(settings, master)
    )
    stack.push_async_callback(engine.close)
    aws = _aws_parts(settings, clock)
    stack.push_async_callback(aws.client.close)
    await ledger.renew_lease(clock.now(), timedelta(seconds=settings.server.lease_seconds))
    stack.push_async_callback(background.end_lease, ledger)
    await background.recover(ledger, clock)
    telemetry = Telemetry(settings.telemetry)
    stack.push_async_callback(telemetry.close)
    counts = PassedCounts(ledger, clock)
    stack.push_async_callback(counts.flush)
    roles = Roles(settings=settings.roles, account=settings.account)
    keys = SqlKeyRing(ledger, master=master, clock=clock, roles=roles.names)
    rows = partial(derived_rows, learned=settings.effects.learned)
    parts = Parts(
        settings=settings,
        clock=clock,
        stacks=stacks,
        ledger=ledger,
        keys=keys,
        roles=roles,
        plan_sessions=SqlPlanSessions(ledger, keys),
        engine=engine,
        aws=aws,
        rows=rows,
        resolver=EffectResolver(stacks, masker=masker, rows=rows, class_of=_class_of),
        counts=counts,
        masker=masker,
        digest_key=derived_key(master, "call digest"),
        console_key=derived_key(master, "console"),
        ground=GroundTruth(places_of(settings), stacks),
        drift=DriftDecisions(queries=ledger, events=ledger, stacks=stacks, policy=engine, clock=clock),
        signals=await _signal_book(settings, ledger, clock),
        stops=StopBook(ledger, clock),
        key_ends=KeyEnds(ledger, clock),
        telemetry=telemetry,
    )
    await parts.stops.refresh()
    await parts.drift.book.read(ledger)
    return parts


def kept_code(settings: Settings, master: bytes) -> KeptCode:
    """Where a gateway with these settings keeps the machine code of its policies."""
    return KeptCode(path=settings.data / KEPT_CODE, key=derived_key(master, "machine code of policies"))


def _class_of(call: Call) -> CallClass:
    return class_of_call(call, shipped_classes().of(call.service, call.operation))


def _aws_parts(settings: Settings, clock: Clock) -> AwsParts:
    models = ServiceModels()
    endpoints = _endpoints(settings, models)
    signer = RequestSigner(_credentials(settings, clock), clock)
    upstream = settings.upstream
    if upstream.session_per_mutation:
        session_actions()  # read now, so that no call waits for it; otherwise nothing needs its 6 MB
    client = Client(connect_seconds=upstream.connect_seconds, reply_seconds=upstream.reply_seconds)
    accounts = Accounts(
        aws=Aws(models=models, endpoints=endpoints, signer=signer, client=client),
        models=models,
        actions=session_actions,
        clock=clock,
        region=upstream.default_region,
        account=settings.account,
        roles={
            stack.account: AssumedAccount(role=stack.assume_role, external_id=stack.external_id)
            for stack in settings.stacks
            if stack.assume_role
        },
        own=AssumedAccount(role=upstream.assume_role) if upstream.assume_role else None,
        per_mutation=upstream.session_per_mutation,
    )
    return AwsParts(
        routes=shipped_routes(),
        classes=shipped_classes(),
        models=models,
        endpoints=endpoints,
        signer=signer,
        client=client,
        aws=Aws(models=models, endpoints=endpoints, signer=signer, client=client, accounts=accounts),
        accounts=accounts,
    )


def _states(settings: Settings, clock: Clock) -> States:
    """Reads states that are no files: in S3 with credentials of its own, since it runs in threads; any other by Terraform."""
    return States(
        buckets=BucketStates(
            endpoints=_endpoints(settings, ServiceModels()), credentials=_credentials(settings, clock), clock=clock
        ),
        backends=PulledStates(
            directory=settings.data.absolute() / "states",
            executable=settings.reconcile.terraform,
            allowed=frozenset(settings.reconcile.allow.blocks),
            clock=clock,
        ),
    )


def bundle_in_s3(settings: Settings, clock: Clock) -> Fetch | None:
    """Reads the bundle of the policies from S3, if that is where it is."""
    plane = settings.policy.control_plane
    if plane.bucket is None:
        return None
    bucket, key = plane.bucket
    wanted = StateObject(bucket=bucket, key=key, region=plane.s3_region)
    objects = _states(settings, clock).buckets

    async def fetch(etag: str) -> Fetched | None:
        try:
            content, tag = await asyncio.to_thread(objects.read, wanted)
        except CodeInvalid as error:
            raise PolicyInvalid(f"The bundle in S3 cannot be read: {error}") from error
        if not content:
            raise PolicyInvalid(f"There is no bundle at {wanted.url}.")
        return None if etag and tag == etag else Fetched(archive=content, etag=tag)

    return fetch


def _endpoints(settings: Settings, models: ServiceModels) -> Endpoints:
    return Endpoints(models=models, regions=settings.upstream.regions, simulated=settings.upstream.simulated)


def _credentials(settings: Settings, clock: Clock) -> CredentialsProvider:
    """boto3's default credential chain; for a simulated AWS, which does not verify signatures, a dummy pair."""
    if settings.upstream.simulated:
        return FixedCredentials(Credentials(access_key_id="simulated", secret="simulated"))  # noqa: S106  not a secret
    return DefaultChain(clock)


async def _signal_book(settings: Settings, ledger: SqlLedger, clock: Clock) -> OpenSignals:
    """The open signals. Raises `errors.SettingsInvalid` if a file of a source cannot be read."""
    sources = {each.name: each for each in settings.signals}
    files = SignalFiles(sources)
    await asyncio.to_thread(files.open_at_start, clock.now())
    book = OpenSignals(sources=sources, ledger=ledger, clock=clock, files=files)
    await book.refresh()
    return book
