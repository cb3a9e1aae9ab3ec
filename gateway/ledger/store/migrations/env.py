"""Runs the migrations on the connection that `gateway.ledger.store.migrate` provides, inside its transaction."""

from alembic import context

from gateway.ledger.store.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
