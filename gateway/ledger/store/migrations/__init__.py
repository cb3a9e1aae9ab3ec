"""The migrations of the ledger's schema."""
