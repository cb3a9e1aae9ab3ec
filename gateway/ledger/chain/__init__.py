"""The proof that nobody altered the ledger: hashes, checkpoints, and verification of every table from the records."""
