"""The migrations make the schema that the tables say, on both databases."""

from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from gateway.ledger.store.database import open_store
from gateway.ledger.store.tables import BY_KIND_NUMBER, METADATA, ONLY, WHERE


def test_the_migrations_make_the_schema_of_the_tables(store_url: str) -> None:
    """Tables, columns, kinds, keys and indexes; the conditions of partial indexes too, which Alembic does not compare."""
    store = open_store(store_url)
    with store.connect(writes=True) as connection:
        options: dict[str, Any] = {"compare_type": True, "compare_server_default": True}
        dialect = connection.dialect.name
        options["include_object"] = lambda each, name, *_: (
            name not in BY_KIND_NUMBER and each.info.get(ONLY, dialect) == dialect
        )
        assert compare_metadata(MigrationContext.configure(connection, opts=options), METADATA) == []
        found = inspect(connection)
        for table in METADATA.sorted_tables:
            made = {str(each["name"]): each for each in found.get_indexes(table.name)}
            meant = [index for index in table.indexes if index.info.get(ONLY, dialect) == dialect]
            assert made.keys() - BY_KIND_NUMBER == {index.name for index in meant}
            for index in meant:
                where = index.info.get(WHERE)
                told = made[str(index.name)]["dialect_options"].get(f"{connection.dialect.name}_where")
                assert made[str(index.name)]["column_names"] == [column.name for column in index.columns]
                assert (told is None) == (where is None), index.name
                assert where is None or connection.dialect.name != "sqlite" or str(told) == str(where).replace("\\", "")
        if dialect == "postgresql":
            for name, said in BY_KIND_NUMBER.items():
                told = connection.execute(
                    text("SELECT pg_get_indexdef(CAST(:name AS regclass))"), {"name": name}
                ).scalar_one()
                again = f"CREATE INDEX again ON records ({said})"
                connection.execute(text(again))
                same = connection.execute(text("SELECT pg_get_indexdef('again'::regclass)")).scalar_one()
                connection.execute(text("DROP INDEX again"))
                assert same.replace("again", name) == told
    store.close()
