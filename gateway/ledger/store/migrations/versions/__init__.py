"""One file per version of the ledger's schema."""
