"""The count of work tells a linear cost from a quadratic one."""

import pytest

from tests.kit.growth import assert_linear, work


def test_work_counts_lines_and_calls() -> None:
    assert work(lambda: [len("a") for _ in range(100)]) > 100
    assert work(lambda: None) < 5


def test_a_linear_cost_passes_and_a_quadratic_one_does_not() -> None:
    assert_linear(lambda size: lambda: [abs(number) for number in range(size)], 50)
    with pytest.raises(AssertionError, match="lines"):
        assert_linear(lambda size: lambda: [abs(a) for a in range(size) for _ in range(size)], 50)
