"""A sample of the fail-closed matrix: every fault between the gateway and AWS, and some at the other places. `make faults` plays all 80."""

import subprocess
from pathlib import Path

import pytest

from tests.chaos.faults.matrix import PLACES, play
from tests.chaos.faults.proxy import Fault

pytestmark = [pytest.mark.slow, pytest.mark.system, pytest.mark.allow_hosts(["127.0.0.1"])]

SAMPLE = {
    "AWS, from the AWS door": tuple(set(Fault) - {Fault.SWALLOW, Fault.SLOW}),
    "git, push": (Fault.APPLY_THEN_CUT, Fault.FAKE_200),
    "git, fetch": (Fault.RESET,),
}
WITH_A_SERVER = {
    "OPA, guardrails": (Fault.HALF, Fault.FAKE_200),
    "database, deciding": (Fault.RESET,),
    "database, settling": (Fault.APPLY_THEN_CUT,),
}
"""Places at which a server of PostgreSQL or OPA stands."""


async def _wrong(directory: Path, place: str, faults: tuple[Fault, ...]) -> list[str]:
    cells = [cell async for cell in play(directory, place, faults)]
    assert [cell.fault for cell in cells] == list(faults)
    return [f"{cell.fault}: {problem}" for cell in cells for problem in cell.problems]


def test_the_matrix_has_eighty_cells() -> None:
    assert len(PLACES) * len(Fault) == 80


@pytest.mark.parametrize("place", SAMPLE)
async def test_a_fault_is_no_change_unlogged_and_none_twice(tmp_path: Path, place: str) -> None:
    assert await _wrong(tmp_path, place, SAMPLE[place]) == []


@pytest.mark.postgres
@pytest.mark.opa
@pytest.mark.parametrize("place", WITH_A_SERVER)
async def test_a_server_that_breaks_off_lets_nothing_through(tmp_path: Path, place: str) -> None:
    assert await _wrong(tmp_path, place, WITH_A_SERVER[place]) == []


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.opa
@pytest.mark.parametrize("place", PLACES)
async def test_every_cell_holds(tmp_path: Path, place: str) -> None:
    assert await _wrong(tmp_path, place, tuple(Fault)) == []


def test_git_serves_repositories_here() -> None:
    """The rows of git need `git daemon`, which some systems leave out."""
    done = subprocess.run(["git", "--exec-path"], check=True, capture_output=True, text=True)
    assert (Path(done.stdout.strip()) / "git-daemon").exists()
