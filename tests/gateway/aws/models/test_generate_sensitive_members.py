"""The shipped table of sensitive members is what the generator makes from the locked botocore."""

import pytest

from gateway.aws.models.generate_sensitive_members import build, table_text
from gateway.effects.sensitive_members import SHIPPED


@pytest.mark.slow
def test_the_shipped_table_is_what_the_generator_makes() -> None:
    assert table_text(build()) == SHIPPED.read_text(), (
        "run `python -m gateway.aws.models.generate_sensitive_members` and review the diff"
    )
