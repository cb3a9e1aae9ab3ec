"""The shipped names are those of the locked botocore."""

import pytest

from gateway.doors.aws.generate_operation_names import build
from gateway.doors.aws.routing_index import packed
from gateway.terraform.contracts.operations import SHIPPED


@pytest.mark.slow
def test_the_shipped_names_are_what_the_generator_makes() -> None:
    assert packed(build()) == SHIPPED.read_bytes(), "run `python -m gateway.doors.aws.generate_operation_names`"
