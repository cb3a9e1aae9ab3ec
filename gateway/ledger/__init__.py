"""The store: records, hash chain, claims, approvals, keys. `README.md` here documents every record's body."""
