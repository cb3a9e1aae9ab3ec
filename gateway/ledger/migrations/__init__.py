"""The ledger's schema, step by step (Alembic). Steps only add; a released step is never edited."""
