"""Keys for single purposes: each another one, always the same, and none reveals the master key."""

from gateway.keyring.derived_keys import derived_key, ledger_keys

MASTER = b"m" * 32


def test_each_purpose_and_each_master_key_has_its_own() -> None:
    keys = {derived_key(master, purpose) for master in (MASTER, b"n" * 32) for purpose in ("chain", "checkpoint", "")}
    assert len(keys) == 6
    assert {len(key) for key in keys} == {32}


def test_they_stay_the_same() -> None:
    """A change would make every existing ledger unverifiable."""
    assert derived_key(MASTER, "chain").hex() == "077c5c5d9b8fb743112d7dfdca1e004551ba654b975de76ef9b33c334c948c64"
    assert (
        ledger_keys(MASTER).signing.public_key().public_bytes_raw().hex()
        == "ed976d2414f9fd2826dd0355122cd6e77d6fd631c6ff1563d623f29bf48f5899"
    )


def test_they_are_not_shown() -> None:
    assert ledger_keys(MASTER).chain == derived_key(MASTER, "chain")
    assert repr(ledger_keys(MASTER)) == "LedgerKeys()"
