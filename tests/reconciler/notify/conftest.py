"""The ledger of the suites about notices, once for each database."""

from collections.abc import AsyncIterator, Iterator

import pytest

from gateway.ledger.ledger import SqlLedger, open_ledger
from tests.kit.hook import HookStub, receiving
from tests.kit.stores import KEYS, postgres, postgres_url, store_url

__all__ = ["postgres", "postgres_url", "store_url"]


@pytest.fixture
async def ledger(store_url: str) -> AsyncIterator[SqlLedger]:
    """An open ledger. Whatever a test did with it, all its tables must follow from its records."""
    async with open_ledger(store_url, KEYS) as opened:
        yield opened
        await opened.verify()


@pytest.fixture
def stub() -> Iterator[HookStub]:
    """A receiver of webhooks."""
    with receiving(HookStub()) as made:
        yield made
