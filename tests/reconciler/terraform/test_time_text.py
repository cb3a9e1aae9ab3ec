"""A text that says only a time is no secret; what could be one is not such a text."""

import pytest

from reconciler.terraform.time_text import is_time_text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "every 8 hours",
            "at 4 and 16",
            "daily",
            "Mon-Fri",
            "weekdays at 04:30 UTC",
            "rate(5 minutes)",
            "7200 seconds",
        ),
        *("cron(0 4 * * ? *)", "cron(0/15 8-18 ? * MON-FRI 2027)", "0 4 * * *", "15m", "1h30m", "PT15M", "P1DT12H"),
        "first Monday of the month at noon",
    ],
)
def test_a_time(text: str) -> None:
    assert is_time_text(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "4711",
            "12 34 56 78",
            "4111 1111 1111 1111",
            "hunter2",
            "correct horse battery staple",
            "at the usual place",
        ),
        *(
            "P",
            "PT",
            "every8hours",
            "rate(x)",
            "cron(swordfish)",
            "may 4711",
            "s3cr3t at 4",
            "at " * 40,
            "15m!",
            "1h30m at home",
        ),
        *("deadbeef", "0a1b2c3d", "4 * secret * *", "a1 b2 c3 d4"),
    ],
)
def test_no_time(text: str) -> None:
    assert not is_time_text(text)
