"""Two gateways on one ledger, and one of them killed: many connections contend for the same attributes, and the history is right.

Two agents against each other come to rest. On SQLite, `tests/ports/test_ledger_processes.py` lets processes contend in every run.

`make bench-arbitration` plays the same with 10,000 requests.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bench.arbitration.__main__ import OUTBIDDING, SAME, TURNS
from tests.bench.arbitration.play import quarrel
from tests.bench.contention.run import Contention, contend
from tests.kit.stores import running_cluster

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

REQUESTS = 300


@pytest.mark.long
async def test_on_sqlite_nobody_wins_twice_and_nothing_is_lost(tmp_path: Path) -> None:
    result = await contend(tmp_path, Contention(requests=REQUESTS, kills=1))
    assert result.problems == []
    assert result.takeovers > 0
    assert sum(result.answers.values()) == REQUESTS


@pytest.mark.postgres
async def test_on_postgresql_neither_when_its_server_crashes(tmp_path: Path) -> None:
    with running_cluster() as cluster:
        contention = Contention(
            requests=REQUESTS, kills=1, ledger=cluster.new_ledger(), crash_database=cluster.crash_and_start
        )
        result = await contend(tmp_path, contention)
    assert result.problems == []
    assert result.takeovers > 0
    assert sum(result.answers.values()) == REQUESTS


@pytest.mark.parametrize(
    "motives",
    [
        pytest.param(SAME, id="the same motive", marks=pytest.mark.long),
        pytest.param(OUTBIDDING, id="outbidding each other"),
    ],
)
async def test_two_agents_that_set_one_attribute_in_turn_change_it_three_times_at_most(
    tmp_path: Path, motives: Sequence[tuple[str, str]]
) -> None:
    assert await quarrel(tmp_path, motives, TURNS) <= 3
