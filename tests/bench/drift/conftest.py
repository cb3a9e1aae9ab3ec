"""Fixtures of the benchmark's own tests: a tiny project, applied once, whose AWS each test forks."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.bench.drift.answer import Said
from tests.bench.drift.contestants import accept
from tests.bench.drift.judge import Case, Verdict, judge
from tests.bench.drift.made import make
from tests.bench.drift.play import Station, applied, stations
from tests.bench.drift.scenario import HERE, Change, Project, Scenario, read_kinds
from tests.bench.drift.state import read_state
from tests.bench.drift.world import World

TINY = Project(name="tiny", path=HERE / "tiny", roots=["one", "two"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiny:
    """The tiny project, applied, and a place to play at."""

    world: World
    copy: Path
    station: Station

    @contextmanager
    def drifted(
        self, *changes: Change, workdir: Path, out: bool = False, says: Sequence[str] = (), **project: Any
    ) -> Iterator["Checkout"]:
        """A checkout beside an AWS in which the changes were made."""
        gold = [] if out else [object()]
        scenario = Scenario(
            id="tiny/case",
            root="one",
            origin="human",
            shape="literal",
            changes=changes,
            gold=gold,  # type: ignore[arg-type]
            says=says,
        )
        given = Project(name="tiny", path=TINY.path, roots=TINY.roots, **project)
        checkout = workdir / "checkout"
        shutil.copytree(self.copy, checkout, symlinks=True)
        with self.world.fork(self.station.port) as endpoint:
            state = read_state(self.copy / "one" / "terraform.tfstate")
            made = make(scenario, state, endpoint, workdir / "events.json")
            case = Case(
                project=given, scenario=scenario, before=self.copy, made=made,
                drifted=self.station.drifted, endpoint=endpoint, calm=self.station.calm,
            )  # fmt: skip
            yield Checkout(case=case, path=checkout, workdir=workdir)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """What a contestant gets, and the judge's verdict on what it made of it."""

    case: Case
    path: Path
    workdir: Path

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace the only `old` in a file."""
        text = (self.path / file).read_text()
        assert text.count(old) == 1
        (self.path / file).write_text(text.replace(old, new))

    def refresh(self) -> None:
        """Bring the state up to date, as a careful contestant does."""
        accept(self.case.drifted, self.path / "one")

    def verdict(self, **said: Any) -> Verdict:
        """The judge's verdict."""
        return judge(self.case, self.path, Said(**said), self.workdir / "judge")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tiny]:
    """The tiny project, applied to a simulated AWS."""
    workdir = tmp_path_factory.mktemp("tiny")
    with applied(TINY, workdir) as (world, copy), stations(world, workdir, 1) as [station]:
        yield Tiny(world=world, copy=copy, station=station)


@pytest.fixture
def change() -> Callable[..., Change]:
    """Builds a change of a kind."""
    kinds = read_kinds()

    def build(kind: str, target: str, value: Any = None, **more: Any) -> Change:
        return Change(kind=kinds[kind], on=target, value=value, more=more)

    return build
