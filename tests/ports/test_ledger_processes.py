"""The ledger with several processes, and after one was killed, on every store."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pytest

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import open_ledger
from tests.kit.forked import Forked, python_m
from tests.kit.stores import KEYS
from tests.ports import ledger_child


def _start(*arguments: str, output: IO[str] | None = None) -> Forked:
    return python_m(ledger_child.__name__, *arguments, environment=os.environ, output=output)


async def test_a_gateway_killed_before_the_outcome_leaves_a_mutation_in_doubt(store_url: str) -> None:
    assert _start("crash", store_url).wait(300) == -signal.SIGKILL
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
async def test_of_several_processes_one_wins_each_attribute(store_url: str, tmp_path: Path) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        assert sum(_won(store_url, tmp_path)) == 200
        assert len({claim.address for claim in await ledger.claims()}) == 200
        assert await ledger.verify() == 200


def _won(url: str, directory: Path) -> Iterator[int]:
    """How many attributes each of three processes won that claim all at the same time."""
    with ExitStack() as stack:
        told = [stack.enter_context((directory / f"actor-{number}").open("w+")) for number in range(3)]
        children = [_start("race", url, f"actor-{number}", output=file) for number, file in enumerate(told)]
        for child, file in zip(children, told, strict=True):
            assert child.wait(300) == 0
            file.seek(0)
            yield int(file.read())
