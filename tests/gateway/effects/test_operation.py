"""A row of a table is a value with safe defaults."""

from gateway.core.model.mutation import EffectAction
from gateway.effects.operation import Operation, controls


def test_a_row_is_a_set_and_not_an_upsert_by_default() -> None:
    row = Operation(resource_type="aws_sqs_queue")
    assert (row.action, row.upserts, row.handler, row.controls) == (EffectAction.SET, False, None, frozenset())


def test_controls_are_a_set() -> None:
    assert controls("DryRun", "DryRun") == {"DryRun"}
