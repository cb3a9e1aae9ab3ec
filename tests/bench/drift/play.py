"""Plays the scenarios of a project: applies it once, then forks its AWS for each scenario and lets everyone play."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.bench.drift.contestants import Contestant, Played
from tests.bench.drift.judge import Case, Verdict, judge
from tests.bench.drift.made import make
from tests.bench.drift.scenario import Project, Scenario, golden
from tests.bench.drift.state import read_state
from tests.bench.drift.terraform import Tool, environment_for, warm_tool
from tests.bench.drift.tree import diff_lines
from tests.bench.drift.world import World, simulated_aws
from tests.kit.up import free_port


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How one contestant did in one scenario."""

    contestant: str
    scenario: Scenario
    verdict: Verdict
    seconds: float
    tokens: int
    gold_lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A scenario that says something else than what happened; it counts for nobody and has to be mended."""

    scenario: Scenario
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """Where one scenario at a time is played: two ports, each with a warm provider."""

    drifted: Tool
    calm: Tool
    port: int
    workdir: Path


@contextmanager
def applied(project: Project, workdir: Path) -> Iterator[tuple[World, Path]]:
    """The project, applied to a simulated AWS that is then frozen; yields it with the applied copy."""
    workdir.mkdir(parents=True, exist_ok=True)
    copy = workdir / "applied"
    shutil.copytree(project.path, copy)
    with simulated_aws(workdir / "aws.log") as world:
        with warm_tool(world.endpoint, workdir / "apply") as tool:
            cold = Tool(environment=environment_for(world.endpoint, workdir / "apply"))
            for root in project.roots:
                _apply(cold, tool, copy / root)
        world.freeze()
        yield world, copy


def play(
    project: Project,
    scenarios: Sequence[Scenario],
    contestants: Mapping[str, Contestant],
    *,
    workdir: Path,
    jobs: int,
    tell: Callable[[Result | Broken], None],
) -> None:
    """Play the scenarios, `jobs` at a time; each result is told as it comes."""
    with applied(project, workdir) as (world, copy):
        free: SimpleQueue[Station] = SimpleQueue()
        lock = threading.Lock()

        def one(scenario: Scenario) -> None:
            station = free.get()
            try:
                for result in _play_one(project, scenario, contestants, copy=copy, world=world, station=station):
                    with lock:
                        tell(result)
            finally:
                free.put(station)

        with stations(world, workdir, jobs) as made, ThreadPoolExecutor(jobs) as pool:
            for station in made:
                free.put(station)
            list(pool.map(one, scenarios))


def _apply(cold: Tool, tool: Tool, root: Path) -> None:
    """Apply a root as its owner would; the plug-ins are installed, as Sentinel will want them. Raises RuntimeError."""
    cold.must(root, "init", "-no-color", "-input=false")
    # A provider that was started elsewhere would look for the root's files (a function's code) in its own directory.
    cold.must(root, "apply", "-auto-approve", "-no-color")
    tool.must(root, "apply", "-refresh-only", "-auto-approve", "-no-color")
    plan = tool.plan(root)
    if not plan.clean:
        raise RuntimeError(f"{root} is not clean after its apply: {plan.text}")


@contextmanager
def stations(world: World, workdir: Path, jobs: int) -> Iterator[list[Station]]:
    """The places to play at, with an unchanged copy of the AWS beside each."""
    if jobs == 0:
        yield []
        return
    port, calm_port = free_port(), free_port()
    home = workdir / f"station-{jobs}"
    with (
        world.fork(calm_port) as calm_endpoint,
        warm_tool(calm_endpoint, home / "calm") as calm,
        warm_tool(f"http://127.0.0.1:{port}", home / "drifted") as drifted,
        stations(world, workdir, jobs - 1) as others,
    ):
        yield [Station(drifted=drifted, calm=calm, port=port, workdir=home), *others]


def _play_one(
    project: Project,
    scenario: Scenario,
    contestants: Mapping[str, Contestant],
    *,
    copy: Path,
    world: World,
    station: Station,
) -> Iterator[Result | Broken]:
    work = station.workdir / "scenario"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        with world.fork(station.port) as endpoint:
            made = make(
                scenario, read_state(copy / scenario.root / "terraform.tfstate"), endpoint, work / "events.json"
            )
            case = Case(
                project=project, scenario=scenario, before=copy, made=made,
                drifted=station.drifted, endpoint=endpoint, calm=station.calm,
            )  # fmt: skip
            if wrong := _contradiction(case, copy):
                yield Broken(scenario=scenario, reason=wrong)
                return
            for name, contestant in contestants.items():
                yield _result(name, contestant, case, work)
    except Exception as error:  # noqa: BLE001  one broken scenario must not end the run; it is printed and fails it
        yield Broken(scenario=scenario, reason=f"{type(error).__name__}: {error}")


def _contradiction(case: Case, copy: Path) -> str:
    """Why the scenario is not what it says: what a plan of the untouched code shows of it is known."""
    plan = case.drifted.plan(copy / case.scenario.root)
    visible = case.scenario.sees in {"plan", "gone"}
    if plan.code not in {0, 2} or visible == (not plan.changes):
        return f"It says that a plan {'shows' if visible else 'does not show'} it, but the plan exits {plan.code}: {plan.text}"
    targets = {change.on for change in case.scenario.changes if change.kind.sees in {"plan", "gone"}}
    return "" if targets <= set(plan.changes) else f"The plan shows {sorted(plan.changes)}, not {sorted(targets)}."


def _result(name: str, contestant: Contestant, case: Case, work: Path) -> Result:
    place = work / name
    checkout = place / "checkout"
    shutil.copytree(case.before, checkout, symlinks=True)
    began = time.perf_counter()
    played: Played = contestant(case, checkout, work / "events.json")
    seconds = played.seconds or time.perf_counter() - began
    verdict = judge(case, checkout, played.said, place)
    return Result(
        contestant=name, scenario=case.scenario, verdict=verdict, seconds=seconds, tokens=played.tokens,
        gold_lines=gold_lines(case.scenario, case.before),
    )  # fmt: skip


def gold_lines(scenario: Scenario, before: Path) -> int:
    """Lines of the gold edit's diff."""
    return diff_lines((old.encode(), new.encode()) for old, new in golden(scenario, before).values())
