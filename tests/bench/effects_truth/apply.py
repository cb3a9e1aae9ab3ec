"""Applies the seeds with their plans through a gateway that enforces: `python -m tests.bench.effects_truth.apply [service …]`.

Prints for each service how many calls were made in the plan's session, and every hold and denial. Exit code 1 if there was one.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Stage
from gateway.core.settings import StackSettings
from tests.bench.drift.terraform import Tool, environment_for
from tests.bench.drift.world import ROOT, World, simulated_aws
from tests.bench.effects_truth.root import write_root
from tests.bench.effects_truth.seeds import Seed, read_seed, seed_names
from tests.kit.gate_process import GateProcess
from tests.kit.up import free_port

_SECONDS = 400
"""How long one apply may take."""


def main() -> int:
    """Apply the services, print what was stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(prog="python -m tests.bench.effects_truth.apply")
    parser.add_argument("services", nargs="*", help="names of files in tests/cases/effects_truth; default: all")
    parser.add_argument(
        "--out", type=Path, default=Path("effects-apply"), help="directory of the results, one file a service"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    services = arguments.services or seed_names()
    with (
        tempfile.TemporaryDirectory(prefix="effects-apply-") as directory,
        simulated_aws(Path(directory) / "aws.log", empty_reads=True) as world,
    ):
        world.freeze()
        for service in services:
            kept = arguments.out / f"{service}.json"
            if not kept.exists():
                result = apply(read_seed(service), world, Path(directory) / service)
                kept.write_text(json.dumps(result, indent=1) + "\n")
                print(_line(result), flush=True)
    results = [json.loads((arguments.out / f"{service}.json").read_text()) for service in services]
    return _sum(results)


def apply(seed: Seed, world: World, workdir: Path) -> dict[str, Any]:
    """What came of one apply, as JSON."""
    with _gate(seed, world, workdir) as (gate, root):
        done = _sentinel_apply(gate, root, workdir / "tool")
        records = gate.ledger(
            lambda ledger: ledger.records(RecordQuery(stage=Stage.DECIDED, newest_first=False, limit=1000))
        )
    bodies = [record.body for record in records if isinstance(record.body, DecidedBody)]
    plan = next((body for body in bodies if body.plan or body.call.service == "terraform"), None)
    calls = [body for body in bodies if body.part or body is not plan]
    stopped = [_stopped(body) for body in calls if body.decision.verdict is not Verdict.ALLOW]
    return {
        "service": seed.service,
        "types": sorted(seed.types),
        "resources": len(seed.addresses),
        "exit_code": done.returncode,
        "calls": len(calls),
        "stopped": stopped,
        "plan": [] if plan is None or plan.decision.verdict is Verdict.ALLOW else [_stopped(plan)],
        "said": "" if done.returncode == 0 else " ".join(done.stdout.split())[-3000:],
    }


@contextmanager
def _gate(seed: Seed, world: World, workdir: Path) -> Iterator[tuple[GateProcess, Path]]:
    workdir.mkdir(parents=True)
    root = workdir / "root"
    write_root(seed, root)
    stack = StackSettings(name=seed.service, path=root)
    with world.fork(free_port()) as aws, GateProcess(workdir / "data", aws, lease_seconds=60.0, stack=stack) as gate:
        yield gate, root


def _sentinel_apply(gate: GateProcess, root: Path, work: Path) -> "subprocess.CompletedProcess[str]":
    work.mkdir()
    key = gate.keys["pipeline"]
    environment = environment_for(gate.url, work)
    Tool(environment=environment).must(root, "init", "-input=false", "-no-color")
    command = [
        sys.executable,
        "-m",
        "gateway",
        "apply",
        "--chdir",
        str(root),
        "--yes",
        "--",
        "-no-color",
        "-input=false",
    ]
    return subprocess.run(
        command, cwd=ROOT, env={**environment, "SENTINEL_URL": gate.url, "SENTINEL_TOKEN": f"{key.id}.{key.secret}"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=_SECONDS,
    )  # fmt: skip


def _stopped(body: DecidedBody[Any]) -> dict[str, Any]:
    """A call that was held or denied, with the sentences that say why."""
    return {
        "call": body.call.name,
        "verdict": body.decision.verdict.value,
        "why": [finding.reason for finding in body.decision.objections],
    }


def _line(result: Mapping[str, Any]) -> str:
    plan = "".join(f"\n  the plan: {each['verdict']}: {'; '.join(each['why'])}" for each in result["plan"])
    calls = "".join(f"\n  {each['call']}: {each['verdict']}: {'; '.join(each['why'])}" for each in result["stopped"])
    said = f"\n  {result['said'][-500:]}" if result["exit_code"] and not (plan or calls) else ""
    return f"{result['service']}: {len(result['types'])} types, {result['calls']} calls, {len(result['stopped'])} stopped{plan}{calls}{said}"


def _sum(results: list[dict[str, Any]]) -> int:
    types = {name for result in results for name in result["types"] if not result["plan"]}
    stopped = [each for result in results for each in [*result["plan"], *result["stopped"]]]
    counts = {verdict: sum(each["verdict"] == verdict for each in stopped) for verdict in ("hold", "deny")}
    print(
        f"\n{len(types)} types, {sum(result['calls'] for result in results)} calls: {counts['hold']} holds, {counts['deny']} denials"
    )
    return int(bool(stopped))


if __name__ == "__main__":
    sys.exit(main())
