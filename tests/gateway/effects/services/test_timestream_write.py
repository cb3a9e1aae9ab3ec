"""Records of Timestream."""

from collections.abc import Callable
from typing import Any

TABLE = {"aws_timestreamwrite_table.t": {"database_name": "d", "table_name": "t"}}


def test_records_invoke_their_table(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of(
        "timestream-write", "WriteRecords", {"DatabaseName": "d", "TableName": "t", "Records": []}, TABLE
    )
    assert (effect.address, effect.action) == ("aws_timestreamwrite_table.t", "invoke")


def test_both_names_are_needed(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("timestream-write", "WriteRecords", {"DatabaseName": "other", "TableName": "t"}, TABLE)
    assert not effect.declared
