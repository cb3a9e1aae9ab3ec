"""Opens the ledger that the settings name, with its keys and its ports."""

from contextlib import AbstractAsyncContextManager

from gateway.core.settings import Settings
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.running_ledger import opened_sealed


def open_sealed_ledger(settings: Settings) -> AbstractAsyncContextManager[SqlLedger]:
    """The ledger of the settings for as long as the block lasts. Raises what `opened_sealed` raises."""
    return opened_sealed(SqlLedger, settings)
