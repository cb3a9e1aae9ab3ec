"""The ledger of the settings is written with the keys of their master key, and anchored in their data directory or elsewhere."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.core.errors import LedgerBroken, SettingsInvalid
from gateway.core.records.record import Stage
from gateway.core.settings import Settings
from gateway.ledger.ledger_keys import checkpoint_path, ledger_keys, master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit.bodies import sample_record

AT = datetime(2026, 3, 1, tzinfo=UTC)
RECORD = sample_record(stage=Stage.TURNED_AWAY, at=AT)


async def write(settings: Settings) -> None:
    async with open_sealed_ledger(settings) as ledger:
        await ledger.write(lambda transaction: transaction.append(RECORD))


async def test_closing_leaves_a_checkpoint_beside_the_master_key(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    await write(settings)
    assert checkpoint_path(settings).read_text().splitlines()[1] == "1"
    assert master_key_of(settings, create=False) == (tmp_path / "data" / "master.key").read_bytes().strip()


async def test_the_checkpoint_can_lie_elsewhere(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", checkpoints=tmp_path / "other" / "signed")
    await write(settings)
    assert (tmp_path / "other" / "signed").is_file()
    assert not (tmp_path / "data" / "ledger.checkpoint").exists()


async def test_another_master_key_does_not_open_it(tmp_path: Path) -> None:
    await write(Settings(data=tmp_path / "data"))
    other = Settings(data=tmp_path / "data", master_key=SecretStr("x" * 32))
    with pytest.raises(LedgerBroken, match="no signature of this master key"):
        await write(other)
    (tmp_path / "data" / "ledger.checkpoint").unlink()
    with pytest.raises(LedgerBroken, match=r"^Record 1 .* If this is not the master key"):
        await write(other)


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_lost_master_key_is_noticed_and_no_other_is_made(tmp_path: Path, elsewhere: bool) -> None:
    settings = Settings(data=tmp_path / "data", ledger=f"sqlite:///{tmp_path / 'l.db'}" if elsewhere else "")
    await write(settings)
    key = tmp_path / "data" / "master.key"
    kept = key.read_bytes()
    key.unlink()
    with pytest.raises(
        SettingsInvalid, match=r"no master key at .*Restore the file from a backup.*Nothing was changed"
    ):
        await write(settings)
    assert not key.exists()
    key.write_bytes(kept)
    key.chmod(0o600)
    await write(settings)


def test_a_missing_master_key_is_not_made_for_a_check(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="no master key"):
        master_key_of(Settings(data=tmp_path), create=False)
    assert list(tmp_path.iterdir()) == []


MASTER = b"m" * 32


def test_each_master_key_has_its_own() -> None:
    keys = [ledger_keys(master) for master in (MASTER, b"n" * 32)]
    secrets = {secret for key in keys for secret in (key.chain, key.signing.private_bytes_raw())}
    assert len(secrets) == 4


def test_they_stay_the_same() -> None:
    """A change would make every existing ledger unverifiable."""
    assert ledger_keys(MASTER).chain.hex() == "7ea71bd546abc8fee2b1f887e1514f4776bca84bb1547aaa16b36b20d8275165"
    public = ledger_keys(MASTER).signing.public_key().public_bytes_raw().hex()
    assert public == "a18758d695987031b3ce8236e18cc793facc14ef16cd80abef7875a5fb7f174a"


def test_they_are_not_shown() -> None:
    assert repr(ledger_keys(MASTER)) == "LedgerKeys()"
