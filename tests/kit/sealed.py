"""The keys of test ledgers."""

from gateway.ledger.sealed_ledger import ledger_keys

MASTER = b"m" * 32
KEYS = ledger_keys(MASTER)
"""For `open_ledger(url, KEYS)`, in every process of a test."""
