"""The ledger of the port suites, once for each database."""

from collections.abc import AsyncIterator

import pytest

from gateway.ledger.ledger import SqlLedger, open_ledger
from tests.kit.stores import KEYS, postgres, postgres_url, store_url

__all__ = ["postgres", "postgres_url", "store_url"]


@pytest.fixture
async def ledger(store_url: str) -> AsyncIterator[SqlLedger]:
    """An open ledger, once for each database. Whatever a test did with it, all its tables must follow from its records."""
    async with open_ledger(store_url, KEYS) as opened:
        yield opened
        await opened.verify()
