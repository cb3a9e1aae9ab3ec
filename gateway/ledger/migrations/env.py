"""Runs the migrations on the connection that `gateway.ledger.migrate` provides, inside its transaction."""

from alembic import context

from gateway.ledger.tables import LedgerTable

context.configure(connection=context.config.attributes["connection"], target_metadata=LedgerTable.metadata)
context.run_migrations()
