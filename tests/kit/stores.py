"""Stores for suites that hold on every database: SQLite in a file, and a private PostgreSQL cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.postgres import Cluster, running_cluster


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A running private cluster."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def postgres_url(postgres: Cluster) -> str:
    """The URL of a new, empty database."""
    return postgres.new_database()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store, once for each database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url
