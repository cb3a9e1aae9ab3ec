"""Settings and texts that say a time may be written into code; whatever might be a secret may not."""

import pytest

from gateway.core.model.json import Json
from reconciler.terraform.plain_settings import is_plain_setting, is_time_text

PARAMETER: dict[str, Json] = {"name": "/shop/limit", "type": "String"}


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [
        ("LOG_LEVEL", "debug", True),
        ("LOG_LEVEL", "DEBUG", True),
        ("REGION", "eu-west-1", True),
        ("ENABLED", "true", True),
        ("LIMIT", "250", True),
        ("MODE", None, True),
        ("DB_PASSWORD", "debug", False),
        ("API_TOKEN", "250", False),
        ("APP_MODE", "stream", True),
        ("logLevel", "warn", True),
        ("FEATURE_X", "on", True),
        ("KEYED_LIMIT", "40", True),
        ("MOTTO", "swordfish", False),
        ("ANSWER", "correct.horse", False),
        ("MODE_OF_X", "swordfish", False),
        ("SESSION_MODE", "stream", False),
        ("DOOR_CODE", "4711", False),
        ("API_KEYS", "1", False),
        ("MODE", "hunter2", False),
        ("MODE", "s3cr3t", False),
        ("MODE", "AKIAIOSFODNN7EXAMPLE", False),
        ("MODE", "wJalrXUtnFEMI/K7MDENG", False),
        ("URL", "postgres://u:p@host/db", False),
        ("CODE", "1234567890", False),
        ("MODE", "", False),
        ("INTERVAL", "every 8 hours", True),
        ("SCHEDULE", "cron(0 4 * * ? *)", True),
        ("TOKEN_TTL", "every 8 hours", False),
        ("BANNER", "Closed today, open at 9.", True),
        ("BANNER", "swordfish", False),
        ("BANNER", "Log in as admin with s3cr3t", False),
        ("BANNER", "password=swordfish of mine", False),
        ("MOTTO", "correct horse battery staple", False),
        ("LOGIN_BANNER", "Closed today", False),
    ],
)
def test_a_variable_of_an_environment(name: str, value: Json, *, plain: bool) -> None:
    path = ("environment", "variables", name)
    assert is_plain_setting("aws_lambda_function", path, value, {}) is plain
    whole: Json = [{"variables": {name: value, "STAGE": "live"}}]
    assert is_plain_setting("aws_lambda_function", ("environment",), whole, {}) is plain


@pytest.mark.parametrize(
    ("resource", "value", "plain"),
    [
        (PARAMETER, "250", True),
        ({**PARAMETER, "type": "SecureString"}, "250", False),
        ({**PARAMETER, "name": "/shop/db-password"}, "250", False),
        ({"type": "String"}, "250", False),
        (PARAMETER, "x9Jk3-20fkaW", False),
        (PARAMETER, "at 4 and 16", True),
        (PARAMETER, "18:30", True),
        (PARAMETER, "24:61", False),
        ({**PARAMETER, "name": "/shop/door-code"}, "18:30", False),
        ({**PARAMETER, "type": "SecureString"}, "at 4 and 16", False),
        ({**PARAMETER, "name": "/shop/motd"}, "Closed today", True),
        ({**PARAMETER, "name": "/shop/motd", "type": "SecureString"}, "Closed today", False),
        (PARAMETER, "Closed today", False),
    ],
)
def test_a_parameter(resource: dict[str, Json], value: Json, *, plain: bool) -> None:
    assert is_plain_setting("aws_ssm_parameter", ("value",), value, resource) is plain


def test_an_environment_with_more_than_variables_is_not_plain() -> None:
    assert not is_plain_setting(
        "aws_lambda_function", ("environment",), [{"variables": {"MODE": "on"}, "more": "x"}], {}
    )
    assert not is_plain_setting("aws_lambda_function", ("environment", "variables", "MODE", "deep"), "on", {})


def test_values_whose_names_stand_beside_them_are_not_plain() -> None:
    path = ("environment", "environment_variable", "0", "value")
    assert not is_plain_setting("aws_codebuild_project", path, "250", {})
    assert not is_plain_setting("aws_opsworks_application", ("environment", "0", "value"), "on", {})


def test_no_other_attribute_is_plain() -> None:
    assert not is_plain_setting("aws_db_instance", ("password",), "debug", {})
    assert not is_plain_setting("aws_instance", ("user_data",), "debug", {})


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
