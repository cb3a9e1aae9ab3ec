"""The migrations make the schema that the tables say, on both databases."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from gateway.ledger.store.database import open_store
from gateway.ledger.store.tables import METADATA


def test_the_migrations_make_the_schema_of_the_tables(store_url: str) -> None:
    """Tables, columns, kinds, keys and indexes; the conditions of partial indexes too, which Alembic does not compare."""
    store = open_store(store_url)
    with store.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), METADATA) == []
        found = inspect(connection)
        for table in METADATA.sorted_tables:
            made = {str(each["name"]): each for each in found.get_indexes(table.name)}
            assert made.keys() == {index.name for index in table.indexes}
            for index in table.indexes:
                where = index.dialect_options[connection.dialect.name]["where"]
                told = made[str(index.name)]["dialect_options"].get(f"{connection.dialect.name}_where")
                assert made[str(index.name)]["column_names"] == [column.name for column in index.columns]
                assert (told is None) == (where is None), index.name
                assert where is None or connection.dialect.name != "sqlite" or str(told) == str(where).replace("\\", "")
    store.close()
