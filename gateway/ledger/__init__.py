"""The ledger: records in a hash chain, claims and approvals, in SQL. `README.md` here documents the body of every record."""
