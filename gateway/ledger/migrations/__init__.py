"""The ledger's schema as Alembic migrations. They only add; a released migration is never edited."""
