"""Databases."""

from collections.abc import Callable
from typing import Any

from gateway.model.json import digest

THINGS = {"aws_db_instance.d": {"identifier": "d", "enabled_cloudwatch_logs_exports": ["audit"]}}


def test_names_are_compared_without_case_as_aws_does(ask: Callable[..., Any]) -> None:
    (effect,) = ask("rds", "DeleteDBInstance", {"DBInstanceIdentifier": "D", "SkipFinalSnapshot": True}, THINGS)
    assert effect.address == "aws_db_instance.d"


def test_a_password_is_a_hash(ask: Callable[..., Any]) -> None:
    (effect,) = ask("rds", "ModifyDBInstance", {"DBInstanceIdentifier": "d", "MasterUserPassword": "hush"}, THINGS)
    assert effect.sensitive
    assert effect.value == {"sha256": digest("hush")}


def test_log_exports_are_the_list_that_results(ask: Callable[..., Any]) -> None:
    exports = {"EnableLogTypes": ["error"], "DisableLogTypes": ["audit"]}
    parameters = {"DBInstanceIdentifier": "d", "CloudwatchLogsExportConfiguration": exports}
    (effect,) = ask("rds", "ModifyDBInstance", parameters, THINGS)
    assert effect.value == ["error"]
