"""Plays a service's seeds with real Terraform through a running gateway that observes: create, change one by one, destroy."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gateway.core.derived_rows import Confidence, derived_rows
from gateway.core.model.verdict import Mode
from gateway.core.ports import RecordQuery
from gateway.core.records.decided import DecidedBody, RecordedEffect
from gateway.core.records.record import Record
from gateway.core.records.settled import SettledBody
from gateway.core.settings import StackSettings
from gateway.effects.registry import SERVICES
from tests.bench.drift.terraform import Tool, environment_for, warm_provider
from tests.bench.drift.world import World
from tests.bench.effects_truth.judge import Foreseen, Row, Seen
from tests.bench.effects_truth.root import write_root
from tests.bench.effects_truth.seeds import Change, Seed
from tests.bench.effects_truth.truth import Planned, completed, read_planned, recorded, said, senders
from tests.kit.gate_process import GateProcess
from tests.kit.up import free_port

SECONDS = 240
"""How long one command of Terraform may take: the simulated AWS never shows some values that the provider waits for."""
_MASKED = "masked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One apply: what the plan said, and the calls that were made."""

    name: str
    planned: dict[str, Planned]
    calls: tuple[Seen, ...]
    error: str = ""
    """What Terraform said if it did not get through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """All that was seen of a service; it is kept, so that it can be judged again."""

    service: str
    seconds: int
    phases: tuple[Phase, ...]


@dataclass
class Staged:
    """A root behind its gateway."""

    seed: Seed
    root: Path
    code: Path
    tool: Tool
    gate: GateProcess
    log: Path
    read: int = 0
    """How far the ledger is read."""
    logged: int = 0
    """How far the provider's log is read."""
    made: list[Change] = field(default_factory=list)


@contextmanager
def staged(seed: Seed, world: World, workdir: Path) -> Iterator[Staged]:
    """The seed's root, a copy of the simulated AWS, a gateway that observes, and a provider that keeps running behind it."""
    workdir.mkdir(parents=True)
    root = workdir / "root"
    code = write_root(seed, root)
    stack = StackSettings(name=seed.service.replace("_", "-"), path=root, mode=Mode.OBSERVE)
    with (
        world.fork(free_port()) as aws,
        GateProcess(workdir / "data", aws, lease_seconds=60.0, mode=Mode.OBSERVE, stack=stack) as gate,
    ):
        key = gate.keys["pipeline"]
        keys = {"AWS_ACCESS_KEY_ID": key.id, "AWS_SECRET_ACCESS_KEY": key.secret}
        environment = {**environment_for(gate.url, workdir / "tool"), **keys}
        with warm_provider(environment, workdir / "tool") as attached:
            tool = Tool(environment={**environment, **attached})
            log = workdir / "tool" / "provider.log"
            yield Staged(seed=seed, root=root, code=code, tool=tool, gate=gate, log=log)


def play(stage: Staged, most: int | None = None) -> Iterator[Phase]:
    """Create, change, destroy; one phase after the other. `most` limits the changes of each resource type."""
    yield _phase(stage, "create")
    for number, changes in enumerate(stage.seed.rounds()[:most], 1):
        stage.made += changes
        stage.code.write_text(stage.seed.changed(stage.made))
        yield _phase(stage, f"change {number}", "-refresh=false")
    yield _phase(stage, "destroy", "-destroy", "-refresh=false")


def _phase(stage: Staged, name: str, *more: str) -> Phase:
    plan = _run(stage, "plan", "-input=false", "-lock=false", "-no-color", "-out=truth.plan", *more)
    if plan.returncode:
        return Phase(name=name, planned={}, calls=(), error=plan.stdout[plan.stdout.find("Error:") :][:2000])
    shown = _run(stage, "show", "-json", "truth.plan")
    planned = read_planned(json.loads(shown.stdout))
    _calls(stage)  # what planning sent is none of it
    applied = _run(stage, "apply", "-input=false", "-lock=false", "-json", "truth.plan")
    done, made = completed(applied.stdout), recorded(stage.root / "terraform.tfstate")
    planned = {
        address: replace(change, done=address in done, made=made.get(address, {}) if change.creates else {})
        for address, change in planned.items()
    }
    error = (said(applied.stdout) or applied.stdout[-2000:]) if applied.returncode else ""
    return Phase(name=name, planned=planned, calls=_calls(stage), error=error)


def _run(stage: Staged, *argv: str) -> subprocess.CompletedProcess[str]:
    process = subprocess.Popen(
        ["terraform", *argv],
        cwd=stage.root, env=dict(stage.tool.environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        out, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            out, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
        out += f"\nIt took more than {SECONDS} s."
    return subprocess.CompletedProcess(argv, process.returncode, out)


def _calls(stage: Staged) -> tuple[Seen, ...]:
    """The applied calls since the last time."""
    records: list[Record] = []
    while more := _records(stage.gate, stage.read):
        records += more
        stage.read = more[-1].seq
    sent_by, stage.logged = senders(stage.log, stage.logged)
    applied = {
        record.mutation_id
        for record in records
        if isinstance(record.body, SettledBody) and record.body.outcome == "applied"
    }
    return tuple(
        _seen(record.body, sent_by)
        for record in records
        if isinstance(record.body, DecidedBody) and record.mutation_id in applied
    )


def _records(gate: GateProcess, after: int) -> Sequence[Record]:
    query = RecordQuery(after_seq=after, newest_first=False, limit=1000)
    return gate.ledger(lambda ledger: ledger.records(query))


def _seen(body: DecidedBody[Any], sent_by: dict[str, str]) -> Seen:
    effects = tuple(_foreseen(effect) for effect in body.effects if not effect.implied)
    return Seen(
        operation=body.call.name,
        parameters=tuple(body.call.parameters),
        row=_row(body, effects),
        sender=sent_by.get(body.attempt.idempotency_key.partition(":")[2], "") if body.attempt else "",
        effects=effects,
    )


def _foreseen(effect: RecordedEffect[Any]) -> Foreseen:
    return Foreseen(
        address=effect.address,
        type=effect.resource_type,
        attribute=effect.attribute,
        action=effect.action.value,
        value=effect.value,
        changes=effect.changes,
        hidden=effect.sensitive or _MASKED in json.dumps(effect.value, default=str),
        identity=effect.identity,
    )


def _row(body: DecidedBody[Any], effects: Sequence[Foreseen]) -> Row:
    if not effects:
        return Row.NONE
    if body.call.operation in SERVICES.get(body.call.service, {}):
        return Row.HAND
    types = {effect.type for effect in effects}
    exact = any(
        row.confidence is Confidence.ATTRIBUTES and row.resource_type in types
        for row in derived_rows(body.call.service, body.call.operation)
    )
    whole = any(effect.attribute == "*" and effect.action == "invoke" for effect in effects)
    return Row.ATTRIBUTES if exact and not whole else Row.RESOURCE
