"""The keys of the ledger: each another one, always the same, and none is shown."""

from gateway.keyring.ledger_keys import ledger_keys

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
