"""The store: records, hash chain, claims, approvals, keys."""
