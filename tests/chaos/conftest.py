"""The stores of the crash tests."""

from tests.kit.stores import postgres

__all__ = ["postgres"]
