"""The shipped names are those of the locked botocore."""

import pytest

from gateway.aws.models.generate_operation_names import build
from gateway.aws.models.routing_index import packed
from gateway.terraform.contracts.operation_names import SHIPPED


@pytest.mark.slow
def test_the_shipped_names_are_what_the_generator_makes() -> None:
    assert packed(build()) == SHIPPED.read_bytes(), "run `python -m gateway.aws.models.generate_operation_names`"
