"""Gateway and reconciler are killed at each of the 18 points, and again while they recover: nothing unlogged, nothing twice, nothing lost.

`make chaos` plays the same by the thousand.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.core import failpoints
from gateway.core.failpoints import Point, failpoint
from tests.chaos.cycle import Cycle, compare, cycles, play
from tests.chaos.points import ALL, DOUBTFUL, GATEWAY, CrashPoint
from tests.chaos.world import World, world
from tests.kit.fork_server import ForkServer
from tests.kit.stores import Cluster
from tests.model.traces import actions, replayed

ROOT = Path(__file__).parents[2]
_BY_NAME = {each.name: each for each in (*ALL, *DOUBTFUL)}
FIRST = 1
AGAIN = (("CP4", "CP8"), ("CP5", "R1"), ("CP7", "R2"), ("CP8", "R3"), ("CP9", "R4"), ("CP11", "R5"), ("CP12", "CP1"))
"""Points of the first kill and of the recovery's."""

ARCHIVE = {Point.ARCHIVE_WRITTEN, Point.ARCHIVE_NAMED, Point.ARCHIVE_STORED, Point.RECORDS_REMOVED}
"""Points that no change passes; `tests/ports/test_ledger_archive.py` kills there."""

pytestmark = [pytest.mark.slow, pytest.mark.system, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture(scope="module")
def one(servers: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One ledger for all points."""
    with world(tmp_path_factory.mktemp("chaos") / "world", servers) as made:
        yield made


@pytest.mark.parametrize("point", ALL, ids=lambda point: point.name)
async def test_killed_once(one: World, point: CrashPoint) -> None:
    one.begin_trace(point.name)
    number = FIRST + ALL.index(point)
    door = "aws" if point.name == "CP14" or number % 2 else "api"
    assert (await play(one, Cycle(number=number, first=point, door=door))).problems == ()


@pytest.mark.parametrize(("first", "second"), AGAIN, ids="+".join)
async def test_killed_again_while_it_recovers(one: World, first: str, second: str) -> None:
    one.begin_trace(f"{first}-{second}")
    number = FIRST + len(ALL) + AGAIN.index((first, second))
    cycle = Cycle(number=number, first=_BY_NAME[first], second=_BY_NAME[second])
    assert (await play(one, cycle)).problems == ()


async def test_ledger_aws_git_and_state_agree_in_the_end(one: World) -> None:
    one.trace = one.aws.trace = None
    assert one.run(write_back=True) == 0
    assert await compare(one) == []


def test_the_model_of_the_line_allows_all_that_was_seen(one: World) -> None:
    behaviours = [actions(trace) for trace in sorted(one.directory.glob("*.trace"))]
    assert len(behaviours) == len(ALL) + len(AGAIN)
    assert {name for each in behaviours for name, _ in each} >= {
        "Commit",
        "Send",
        "Arrive",
        "Lose",
        "Recover",
        "ReadBack",
    }
    told = replayed(behaviours)
    assert "No error has been found" in told, told


@pytest.fixture
def on_postgresql(servers: ForkServer, postgres: Cluster, tmp_path: Path) -> Iterator[World]:
    """A world on a ledger of its own."""
    with world(tmp_path / "world", servers, postgres.new_ledger()) as made:
        yield made


@pytest.mark.long
@pytest.mark.postgres
async def test_all_of_it_on_postgresql(on_postgresql: World) -> None:
    problems = [problem for cycle in cycles(90) for problem in (await play(on_postgresql, cycle)).problems]
    assert on_postgresql.run(write_back=True) == 0
    assert [*problems, *await compare(on_postgresql)] == []


# As shipped -----------------------------------------------------------------------------------------------------------


def test_nothing_that_is_shipped_arms_a_point_or_reads_the_environment_for_it() -> None:
    for package in ("gateway", "reconciler"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text()
            if re.search(r"\barm\b", text):  # else no name can be that
                names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(ast.parse(text))}
                assert "arm" not in names, path
    imported = {
        alias.name
        for node in ast.walk(ast.parse(Path(failpoints.__file__).read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported == {"Callable", "StrEnum", "Any"}


def test_a_point_does_nothing_unless_a_test_arms_it() -> None:
    hit: list[Point] = []
    failpoint(Point.SENT)
    failpoints.arm(lambda point, *_: hit.append(point))
    try:
        failpoint(Point.SENT)
    finally:
        failpoints.arm(None)
    failpoint(Point.SENT)
    assert hit == [Point.SENT]


def test_every_point_is_in_the_code_and_in_the_list() -> None:
    named = {each.point for each in (*ALL, *DOUBTFUL)}
    assert named | ARCHIVE == set(Point)
    code = "".join(path.read_text() for package in ("gateway", "reconciler") for path in (ROOT / package).rglob("*.py"))
    assert [point for point in Point if f"failpoint(Point.{point.name}" not in code] == []
    assert [each.name for each in ALL] == [f"CP{number}" for number in range(len(ALL))]
    assert len(GATEWAY) == 15
