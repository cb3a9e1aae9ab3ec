"""Databases."""

from collections.abc import Callable
from typing import Any

from gateway.core.model.masking import PER_RUN

RESOURCES = {"aws_db_instance.d": {"identifier": "d", "enabled_cloudwatch_logs_exports": ["audit"]}}


def test_names_are_compared_without_case_as_aws_does(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("rds", "DeleteDBInstance", {"DBInstanceIdentifier": "D"}, RESOURCES)
    assert effect.address == "aws_db_instance.d"


def test_a_password_is_a_keyed_digest(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of(
        "rds", "ModifyDBInstance", {"DBInstanceIdentifier": "d", "MasterUserPassword": "hush"}, RESOURCES
    )
    assert effect.sensitive
    assert effect.value == PER_RUN.mask("hush")


def test_log_exports_are_the_list_that_results(effects_of: Callable[..., Any]) -> None:
    exports = {"EnableLogTypes": ["error"], "DisableLogTypes": ["audit"]}
    parameters = {"DBInstanceIdentifier": "d", "CloudwatchLogsExportConfiguration": exports}
    (effect,) = effects_of("rds", "ModifyDBInstance", parameters, RESOURCES)
    assert effect.value == ["error"]
