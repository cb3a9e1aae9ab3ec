"""All gateways of one ledger have one master key, also where each found the ledger new."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.core.errors import LedgerBroken, SettingsInvalid
from gateway.core.records.record import Stage
from gateway.core.settings import Settings
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.ledger_keys import ledger_keys, master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit.bodies import sample_record

AT = datetime(2026, 3, 1, tzinfo=UTC)
LEASE = timedelta(seconds=15)
RECORD = sample_record(stage=Stage.TURNED_AWAY, at=AT)


@asynccontextmanager
async def two_new_gateways(tmp_path: Path, url: str) -> AsyncIterator[tuple[SqlLedger, SqlLedger]]:
    """Two gateways that found the same ledger new, and have each made a master key."""
    one, two = (Settings(data=tmp_path / name, ledger=url) for name in ("one", "two"))
    keys = [ledger_keys(master_key_of(settings)) for settings in (one, two)]
    async with open_ledger(url, keys[0]) as first, open_ledger(url, keys[1]) as second:
        yield first, second


async def test_of_two_new_gateways_with_keys_of_their_own_only_the_first_starts(tmp_path: Path, store_url: str) -> None:
    async with two_new_gateways(tmp_path, store_url) as (first, second):
        await first.renew_lease(AT, LEASE)
        await first.renew_lease(AT + LEASE / 2, LEASE)
        with pytest.raises(LedgerBroken, match=r"with another master key.*SENTINEL_MASTER_KEY.*Nothing was stored"):
            await second.renew_lease(AT + LEASE, LEASE)
        await first.write(lambda transaction: transaction.append(RECORD))
        with pytest.raises(LedgerBroken, match=r"with another master key.*SENTINEL_MASTER_KEY.*Nothing was stored"):
            await second.write(lambda transaction: transaction.append(RECORD))
        await first.write(lambda transaction: transaction.append(RECORD))


async def test_a_new_ledger_that_a_gateway_runs_on_gets_no_second_master_key(tmp_path: Path, store_url: str) -> None:
    one, two = (Settings(data=tmp_path / name, ledger=store_url) for name in ("one", "two"))
    async with open_sealed_ledger(one) as first:
        await first.renew_lease(AT, LEASE)
        with pytest.raises(SettingsInvalid, match="no master key"):
            async with open_sealed_ledger(two):
                pass
    assert not (tmp_path / "two" / "master.key").exists()


async def test_gateways_with_one_master_key_share_a_new_ledger(tmp_path: Path, store_url: str) -> None:
    key = SecretStr("k" * 32)
    one, two = (Settings(data=tmp_path / name, ledger=store_url, master_key=key) for name in ("one", "two"))
    async with open_sealed_ledger(one) as first, open_sealed_ledger(two) as second:
        for ledger in (first, second):
            await ledger.renew_lease(AT, LEASE)
            await ledger.write(lambda transaction: transaction.append(RECORD))
