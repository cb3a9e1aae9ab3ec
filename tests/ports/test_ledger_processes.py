"""The ledger with several processes, and after one was killed, on every store."""

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import open_ledger
from tests.kit.stores import KEYS

CHILD = Path(__file__).with_name("ledger_child.py")
ROOT = Path(__file__).parents[2]


def _start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


async def test_a_gateway_killed_before_the_outcome_leaves_a_mutation_in_doubt(store_url: str) -> None:
    with _start("crash", store_url) as child:
        assert child.wait(300) == -signal.SIGKILL
    async with open_ledger(store_url, KEYS) as ledger:
        assert await ledger.recover(datetime.now(UTC)) == 1
        settled, decided = await ledger.records(RecordQuery())
        assert (decided.stage, settled.stage, settled.body.members["outcome"]) == (
            Stage.DECIDED,
            Stage.SETTLED,
            "in_doubt",
        )
        assert len(await ledger.claims()) == 1
        assert await ledger.verify() == 2


@pytest.mark.slow
async def test_of_several_processes_one_wins_each_attribute(store_url: str) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        children = [_start("race", store_url, f"actor-{number}") for number in range(3)]
        won = [int(child.communicate(timeout=300)[0]) for child in children]
        assert sum(won) == 200
        assert len({claim.address for claim in await ledger.claims()}) == 200
        assert await ledger.verify() == 200
