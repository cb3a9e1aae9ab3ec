"""A change was cut from the end of the ledger while the gateway that wrote it ran, and the gateway signed the shorter chain.

What must hold: a process never signs over less than it wrote. It says what is missing, takes no more mutations, and no process that
shares its checkpoint starts on what is left.
"""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from gateway.core.errors import LedgerBroken
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.ledger.chain.anchor import Anchor
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def anchors(monkeypatch: pytest.MonkeyPatch) -> list[Anchor]:
    """The anchors of all processes. They sign only when told to, so the cut always comes first."""
    made: list[Anchor] = []
    monkeypatch.setattr(Anchor, "_run", lambda anchor: made.append(anchor))  # noqa: PLW0108  a method of a list does not bind
    return made


def scale(gate: Gate, capacity: int) -> None:
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=capacity)


def cut(gate: Gate) -> int:
    """Remove all that follows the keys, from every table; the last record that is left."""
    with closing(sqlite3.connect(gate.directory / "data" / "ledger.db", timeout=300)) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        [kept] = database.execute("SELECT max(seq) FROM records WHERE stage LIKE 'key%'").fetchone()
        for table in ("records", "record_resources"):
            database.execute(f"DELETE FROM {table} WHERE seq > ?", (kept,))  # noqa: S608  no input
        for table in ("attempts", "claims", "applied_values", "spent_signatures"):
            database.execute(f"DELETE FROM {table}")  # noqa: S608  no input
        database.commit()
    return int(kept)


def settings(directory: Path) -> Settings:
    return Settings(
        data=directory / "data",
        upstream=UpstreamSettings(simulated="http://127.0.0.1:1"),
        stacks=(StackSettings(name="kafka", path=directory / "stack"),),
    )


async def start(directory: Path) -> None:
    async with open_sealed_ledger(settings(directory)):
        pass


def test_a_cut_tail_is_not_signed_by_the_gateway_that_wrote_it(tmp_path: Path, anchors: list[Anchor]) -> None:
    with Gate(directory=tmp_path) as gate:
        scale(gate, 6)
        written = gate.records()[-1].seq
        assert cut(gate) < written
        for anchor in list(anchors):
            anchor._try_to_sign()  # what its thread does every second, and when it stops
        assert any(f"Record {written} is missing" in anchor.problem for anchor in anchors)
        gate.upstream.asked.clear()
        with pytest.raises(ClientError) as caught:
            scale(gate, 7)
        assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] in (403, 503)
        assert gate.upstream.asked == []
        with pytest.raises(LedgerBroken):
            gate.run(gate.ledger.verify())
    with pytest.raises(LedgerBroken, match=f"^Record {written} is missing"):
        asyncio.run(start(tmp_path))


def test_an_uncut_ledger_is_signed_by_all_that_share_it(tmp_path: Path, anchors: list[Anchor]) -> None:
    """The gateway and the process that issued the keys each know only their own last record."""
    with Gate(directory=tmp_path) as gate:
        scale(gate, 6)
        for anchor in list(anchors):
            anchor._try_to_sign()
        assert [anchor.problem for anchor in anchors] == [""] * len(anchors)
        assert gate.run(gate.ledger.verify()) == gate.records()[-1].seq
        scale(gate, 7)
    asyncio.run(start(tmp_path))
