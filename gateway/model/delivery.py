"""What came of an attempt to tell somebody of a record."""

from enum import StrEnum


class DeliveryState(StrEnum):
    """What came of an attempt."""

    DELIVERED = "delivered"
    RETRYING = "retrying"
    """It failed, and is tried again later."""
    GIVEN_UP = "given_up"
