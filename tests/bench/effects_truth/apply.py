"""Applies the seeds with their plans through a gateway that enforces: `python -m tests.bench.effects_truth.apply [service …]`.

Each service is created, changed in every attribute that has a second value, and destroyed, each by one plan; with `--together`, several services by
one plan, as modules of one root: most of the time of an apply is Terraform's, its provider's and its waiting. Prints how many calls were made in
the plans' sessions, every hold and denial, and apart from them what the simulated AWS could not do. Exit code 1 if a call or a plan was stopped.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx

from gateway.core.model.caller import ActorKind
from gateway.core.model.verdict import Mode, Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record
from gateway.core.settings import StackSettings
from gateway.core.times import SystemClock
from gateway.identity.master_key import master_key
from gateway.ledger.keyring import SqlKeyRing
from tests.bench.drift.terraform import Tool, environment_for
from tests.bench.drift.world import ROOT, World, simulated_aws
from tests.bench.effects_truth.root import write_modules, write_root
from tests.bench.effects_truth.seeds import Seed, read_module, read_seed, seed_names
from tests.kit.gate_process import GateProcess
from tests.kit.up import free_port

_ACCOUNT = "123456789012"
"""The account of the simulated AWS, which the gateway's settings name as in service: before the first apply no state tells it."""
_SECONDS = 400
"""How long one apply of a service may take."""
_PHASES: Final[Mapping[str, tuple[str, ...]]] = {
    "create": (),
    "change": ("-refresh=false",),
    "destroy": ("-refresh=false", "-destroy"),
}
"""The applies of a service, with Terraform's options."""
_DATA = "SEN-D"
"""How the rules begin that hold a plan which destroys data: a person has to say so, once for the plan."""
_SPACE = re.compile(r"[\s│╷╵]+")


def main() -> int:
    """Apply the services, print what was stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ["SENTINEL_ACCOUNT"] = _ACCOUNT
    parser = argparse.ArgumentParser(prog="python -m tests.bench.effects_truth.apply")
    parser.add_argument("services", nargs="*", help="names of files in tests/cases/effects_truth; default: all")
    parser.add_argument(
        "--out", type=Path, default=Path("effects-apply"), help="directory of the results, one file a service"
    )
    parser.add_argument(
        "--observe", action="store_true", help="let the gateway observe, to see what comes after a hold, too"
    )
    parser.add_argument(
        "--together", type=int, default=1, metavar="N", help="how many services are applied by one plan"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    services, size = arguments.services or seed_names(), arguments.together
    groups = [services[start : start + size] for start in range(0, len(services), size)]
    with (
        tempfile.TemporaryDirectory(prefix="effects-apply-") as directory,
        simulated_aws(Path(directory) / "aws.log", empty_reads=True) as world,
    ):
        world.freeze()
        for group in groups:
            kept = arguments.out / _file(group)
            if not kept.exists():
                mode = Mode.OBSERVE if arguments.observe else Mode.ENFORCE
                result = play(group, world, Path(directory) / group[0], mode)
                kept.write_text(json.dumps(result, indent=1) + "\n")
                print(_lines(result), flush=True)
    return _sum([json.loads((arguments.out / _file(group)).read_text()) for group in groups])


def _file(group: Sequence[str]) -> str:
    return f"{'+'.join(group)}.json"


def play(services: Sequence[str], world: World, workdir: Path, mode: Mode) -> dict[str, Any]:
    """What came of the applies of one service, or of several by one plan, as JSON."""
    seeds = [read_seed(services[0])] if len(services) == 1 else [read_module(service) for service in services]
    with _staged(seeds, world, workdir, mode) as stage:
        phases = [_phase(stage, name) for name in _PHASES if name != "change" or any(seed.changes for seed in seeds)]
    return {
        "service": "+".join(services),
        "types": sorted(frozenset().union(*(seed.types for seed in seeds))),
        "resources": sum(len(seed.addresses) for seed in seeds),
        "phases": phases,
    }


@dataclass
class _Stage:
    """A root behind its gateway."""

    code: Mapping[Path, Seed]
    """The seeds by the files that hold their code."""
    gate: GateProcess
    root: Path
    environment: Mapping[str, str]
    read: int = 0
    """How far the ledger is read."""

    def decided(self) -> list[DecidedBody[Any]]:
        """What was decided since the last time."""
        found = []
        while records := self._records(RecordQuery(after_seq=self.read, newest_first=False, limit=1000)):
            self.read = records[-1].seq
            found += [record.body for record in records if isinstance(record.body, DecidedBody)]
        return found

    def _records(self, query: RecordQuery) -> Sequence[Record]:
        return self.gate.ledger(lambda ledger: ledger.records(query))


@contextmanager
def _staged(seeds: Sequence[Seed], world: World, workdir: Path, mode: Mode) -> Iterator[_Stage]:
    workdir.mkdir(parents=True)
    root, work = workdir / "root", workdir / "tool"
    if len(seeds) == 1:
        code = {write_root(seeds[0], root): seeds[0]}
    else:
        paths = write_modules(seeds, root)
        code = {paths[seed.service]: seed for seed in seeds}
    stack = StackSettings(name=seeds[0].service.replace("_", "-"), path=root, mode=mode)
    with (
        world.fork(free_port()) as aws,
        GateProcess(workdir / "data", aws, lease_seconds=60.0, mode=mode, stack=stack) as gate,
    ):
        work.mkdir()
        key = gate.keys["pipeline"]
        environment = environment_for(gate.url, work)
        environment |= {"SENTINEL_URL": gate.url, "SENTINEL_TOKEN": f"{key.id}.{key.secret}"}
        Tool(environment=environment).must(root, "init", "-input=false", "-no-color")
        yield _Stage(code, gate, root, environment)


def _phase(stage: _Stage, name: str) -> dict[str, Any]:
    """One apply. A plan that is held is approved, and applied then; the hold counts."""
    if name == "change":
        for path, seed in stage.code.items():
            path.write_text(seed.changed(seed.changes))
    done = _sentinel_apply(stage, _PHASES[name])
    held = re.search(r"sentinel approve (mut_\w+)", done.stdout)
    if held:
        _approve(stage.gate, held[1])
        done = _sentinel_apply(stage, _PHASES[name])
    bodies = stage.decided()
    plans = [body for body in bodies if body.call.service == "terraform"]
    calls = [body for body in bodies if body.call.service != "terraform"]
    return {
        "name": name,
        "exit_code": done.returncode,
        "calls": len(calls),
        "by_module": dict(Counter(_module(body) for body in calls)) if len(stage.code) > 1 else {},
        "stopped": [_stopped(body) for body in calls if body.decision.verdict is not Verdict.ALLOW],
        "plan": [_stopped(body) for body in plans[:1] if body.decision.verdict is not Verdict.ALLOW],
        "said": [] if done.returncode == 0 else _errors(done.stdout),
    }


def _module(body: DecidedBody[Any]) -> str:
    """The module of what a call changes; "?" for a call that names nothing of one."""
    modules = (effect.address.split(".")[1] for effect in body.effects if effect.address.startswith("module."))
    return next(modules, "?")


def _sentinel_apply(stage: _Stage, options: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "gateway", "apply", "--chdir", str(stage.root), "--yes", "--"]
    command += ["-no-color", "-input=false", *options]
    try:
        return subprocess.run(
            command, cwd=ROOT, env=dict(stage.environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=_SECONDS * len(stage.code),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        said = f"Error: The apply took more than {_SECONDS * len(stage.code)} s."
        return subprocess.CompletedProcess(command, returncode=1, stdout=said)


def _approve(gate: GateProcess, plan: str) -> None:
    """Have two people approve it, as the destruction of data needs."""
    if "second" not in gate.keys:
        ring = SqlKeyRing
        gate.keys["second"] = gate.ledger(
            lambda ledger: ring(ledger, master=master_key("", gate.data), clock=SystemClock()).issue(
                actor="second", kind=ActorKind.HUMAN, roles=("approver",), lasts=timedelta(days=1)
            )
        )
    for person in ("human", "second"):
        key = gate.keys[person]
        headers = {"Authorization": f"Bearer {key.id}.{key.secret}", "Content-Type": "application/json"}
        httpx.post(f"{gate.url}/v1/mutations/{plan}/approve", headers=headers, json={}, timeout=60)


def _stopped(body: DecidedBody[Any]) -> dict[str, Any]:
    """A call or plan that was held or denied, with the rules and the sentences that say why."""
    return {
        "call": body.call.name,
        "verdict": body.decision.verdict.value,
        "rules": sorted({finding.rule for finding in body.decision.objections}),
        "why": [finding.reason for finding in body.decision.objections],
        "parameters": json.dumps(dict(body.call.parameters), default=str)[:2000],
    }


def _errors(said: str) -> list[str]:
    """The errors that Terraform printed. What the gateway stopped is counted apart."""
    errors = [_SPACE.sub(" ", each).strip()[:400] for each in said.split("Error: ")[1:]] or [said[-400:]]
    return [each for each in errors if "fits no change of plan" not in each]


def _lines(result: Mapping[str, Any]) -> str:
    phases = result["phases"]
    calls = ", ".join(f"{each['name']} {each['calls']} calls" for each in phases)
    lines = [f"{result['service']}: {len(result['types'])} types; {calls}"]
    for each in phases:
        stopped = [
            f"{one['call']}: {one['verdict']}: {'; '.join(one['why'])}" for one in (*each["plan"], *each["stopped"])
        ]
        lines += [f"  {each['name']}: {line}" for line in (*stopped, *(f"could not: {said}" for said in each["said"]))]
    return "\n".join(lines)


def _sum(results: Iterable[Mapping[str, Any]]) -> int:
    results = list(results)
    bad = False
    for name in _PHASES:
        played = [(result, each) for result in results for each in result["phases"] if each["name"] == name]
        calls = sum(each["calls"] for _, each in played)
        stopped = [one for _, each in played for one in each["stopped"]]
        plans = [one for _, each in played for one in each["plan"]]
        data = (
            [one for one in plans if all(rule.startswith(_DATA) for rule in one["rules"])] if name == "destroy" else []
        )
        whole = {kind for result, each in played if each["exit_code"] == 0 for kind in result["types"]}
        counts = {verdict: sum(one["verdict"] == verdict for one in stopped) for verdict in ("hold", "deny")}
        print(
            f"{name}: {len(played)} plans, {len(whole)} types applied whole, {calls} calls: {counts['hold']} holds, {counts['deny']} denials; "
            f"{len(plans) - len(data)} plans stopped, {len(data)} to destroy data approved; {sum(bool(each['said']) for _, each in played)} "
            "where the simulated AWS could not go on"
        )
        bad = bad or bool(stopped) or len(plans) > len(data)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
