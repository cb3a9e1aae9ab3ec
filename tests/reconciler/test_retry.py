"""A failure makes the next attempt wait, ever longer, at last ten minutes."""

import time

from reconciler.retry import Retry


def test_the_wait_doubles_and_has_an_end() -> None:
    assert Retry().due
    retry = Retry()
    assert [retry.failed() for _ in range(3)] == [2, 4, 8]
    assert not retry.due
    assert [retry.failed() for _ in range(10)][-1] == 600
    assert retry.failed(at_least=3_000) == 3_000
    retry.again_at = time.monotonic()
    assert retry.due
