"""What evaluation costs is counted, and ends it."""

import pytest

from gateway.terraform.lang.steps import Steps, take_for
from gateway.terraform.lang.values import Unknown


def test_every_item_and_every_line_of_text_is_a_step() -> None:
    steps = Steps(100)
    take_for(([1, 2, {"a": [3]}], "x" * 250), steps)
    assert steps.left == 100 - 3 - 1 - 1 - 2


def test_the_end_is_unknown() -> None:
    with pytest.raises(Unknown, match="too many steps"):
        Steps(1).take(2)
    take_for(([1] * 10,), None)
