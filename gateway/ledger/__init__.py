"""The ledger: records in a hash chain, claims and approvals, in SQL. `docs/investigators.md` documents the body of every record."""
