"""What the tests of the AWS door and of AWS's models share: the index of AWS's operations and the table of their classes, loaded once."""

import pytest

from gateway.aws.models import call_classes, routing_index
from gateway.aws.models.routing_index import RoutingIndex


@pytest.fixture(scope="session")
def routes() -> RoutingIndex:
    return routing_index.load()


@pytest.fixture(scope="session")
def table() -> call_classes.CallClassTable:
    return call_classes.load()
