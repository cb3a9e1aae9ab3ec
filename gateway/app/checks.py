"""Parts of the composition root: the adapters of a running gateway, the checks in order, and what signals and plans are made of."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from gateway.aws.client.http_client import Client
from gateway.core.http.strict_parsers import json_value
from gateway.core.model.masking import Masker
from gateway.core.ports import Clock
from gateway.core.settings import Settings
from gateway.doors.api.decoder import ApiDecoder
from gateway.doors.api.hcp_host import HcpHost
from gateway.doors.api.run_task import HcpRunTask, require_listed
from gateway.doors.api.time_box_commands import TimeBoxes
from gateway.drift.watch import DriftWatch
from gateway.effects.resolver import EffectResolver
from gateway.ledger.ask.time_box_ledger import SqlTimeBoxes
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.line.checks.approvers import ApproversPolicy
from gateway.line.checks.arbitration import ArbitrationCheck
from gateway.line.checks.bounds import BoundsCheck
from gateway.line.checks.call_class import CallClassCheck
from gateway.line.checks.chain import CheckChain
from gateway.line.checks.contest import ContestPolicy
from gateway.line.checks.dependencies import DependenciesCheck
from gateway.line.checks.fair_limits import FairLimitsOf
from gateway.line.checks.fairness import FairnessCheck
from gateway.line.checks.policy import GuardrailsCheck
from gateway.line.checks.policy_input import PolicyInputs
from gateway.line.checks.quarantine import QuarantineCheck
from gateway.line.checks.stops import StopsCheck
from gateway.line.checks.time_box import TimeBoxCheck
from gateway.line.data_plane import PassedCounts
from gateway.line.pipeline import Pipeline
from gateway.line.stops import StopBook
from gateway.line.wakeups import Wakeups
from gateway.plans.check import PlanCheck
from gateway.plans.document import LARGEST_PLAN
from gateway.policy.engine import RunningEngine
from gateway.signals.book import SignalBook
from gateway.signals.files import SignalFiles
from gateway.signals.intake import SignalIntake
from gateway.signals.sns import SnsMessages
from gateway.signals.sns_endpoint import SnsEndpoint
from gateway.telemetry.telemetry import Telemetry
from gateway.terraform.stacks import Stacks


def checks(engine: RunningEngine, quarantined: Callable[[str], str] = lambda _: "") -> CheckChain:
    """The checks, in the order in which their findings are shown. `quarantined` says why only people may change an address."""
    inputs = PolicyInputs()
    return CheckChain(
        [
            CallClassCheck(),
            StopsCheck(),
            BoundsCheck(),
            DependenciesCheck(),
            QuarantineCheck(quarantined),
            TimeBoxCheck(),
            GuardrailsCheck(engine, engine.packages, inputs),
            FairnessCheck(FairLimitsOf(engine)),
            # Add new checks above this line: arbitration decides which claims end, so it comes last.
            ArbitrationCheck(engine, inputs),
        ],
        rules=engine.rules,
        approvers=ApproversPolicy(engine, inputs),
        contests=ContestPolicy(engine, inputs),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The settings and adapters of one running gateway."""

    settings: Settings
    clock: Clock
    stacks: Stacks
    ledger: SqlLedger
    keys: SqlKeyRing
    engine: RunningEngine
    client: Client
    counts: PassedCounts
    masker: Masker
    digest_key: bytes
    console_key: bytes
    drift: DriftWatch
    signals: SignalBook
    stops: StopBook
    telemetry: Telemetry = field(default_factory=Telemetry)
    wakeups: Wakeups = field(default_factory=Wakeups)


async def signal_book(settings: Settings, ledger: SqlLedger, clock: Clock) -> SignalBook:
    """The open signals. Raises `errors.SettingsInvalid` if a file of a source cannot be read."""
    sources = {each.name: each for each in settings.signals}
    files = SignalFiles(sources)
    await asyncio.to_thread(files.open_at_start, clock.now())
    book = SignalBook(sources=sources, ledger=ledger, clock=clock, files=files)
    await book.refresh()
    return book


def intake(ports: Ports) -> SignalIntake:
    """What takes the messages of sources."""
    book = ports.signals
    return SignalIntake(
        sources=book.sources,
        ledger=ports.ledger,
        clock=ports.clock,
        parse=json_value,
        recorded=book.refresh,
        sns=SnsMessages(site=SnsEndpoint()),
    )


def plans(ports: Ports) -> PlanCheck:
    """Judges plans by the checks of the line."""
    return PlanCheck(
        stacks=ports.stacks,
        ledger=ports.ledger,
        events=ports.ledger,
        policy=ports.engine,
        checks=checks(ports.engine, ports.drift.quarantined),
        clock=ports.clock,
        masker=ports.masker,
        digest_key=ports.digest_key,
        couplings=ports.engine.couplings,
    )


def time_boxes(ports: Ports, pipeline: Pipeline, decoder: ApiDecoder, resolver: EffectResolver) -> TimeBoxes:
    """What puts changes back that were wanted for a time only."""
    return TimeBoxes(
        ledger=SqlTimeBoxes(ports.ledger),
        pipeline=pipeline,
        decoder=decoder,
        resolver=resolver,
        inventory=ports.stacks,
        declared=ports.stacks.declared_value,
        policy=ports.engine,
        clock=ports.clock,
    )


def run_task(ports: Ports, stack: AsyncExitStack) -> HcpRunTask:
    """The run task, which is closed with the stack before the ledger is."""
    settings = ports.settings.run_task
    host = HcpHost(lambda url: require_listed(url, settings.hosts), largest_plan=LARGEST_PLAN)
    task = HcpRunTask(
        settings=settings,
        host=host,
        plans=plans(ports),
        keys=ports.keys,
        queries=ports.ledger,
        clock=ports.clock,
        stacks=[each.name for each in ports.settings.stacks],
    )
    stack.push_async_callback(task.close)
    return task
