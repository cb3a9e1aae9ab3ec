"""Of every applied call there is something to write, something left, or the reason why it stays out of code."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.mutation import Call, Effect, EffectAction
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.backlog import Backlog
from reconciler.changes.classification import ClassifiedDrift, classify_mutation
from tests.kit import nouns
from tests.kit.bodies import written_back
from tests.kit.doubles import NOW
from tests.kit.mutations import record_mutation

CASES = Path(__file__).parents[2] / "cases" / "effects" / "operations.jsonl"
UNDERSTOOD: list[dict[str, Any]] = [json.loads(line) for line in CASES.read_text().splitlines()]
NOT_UNDERSTOOD = [
    Call(service=service, operation=operation)
    for service, operation in (
        ("braket", "CreateJob"),
        ("events", "DisableRule"),
        ("ssm", "DeleteInventory"),
        ("lakeformation", "StartTransaction"),
        ("outposts", "StartConnection"),
        ("mturk", "CreateHIT"),
        ("rekognition", "StartProjectVersion"),
        ("athena", "StartQueryExecution"),
        ("transfer", "StartFileTransfer"),
        ("xray", "CreateGroupOfTomorrow"),
    )
]


def _effects(case: dict[str, Any]) -> Iterator[Effect]:
    for address, attribute, action, value in case["effects"]:
        yield nouns.effect(
            address,
            attribute,
            value,
            action=EffectAction(action),
            resource_type=address.partition("{")[0].partition(".")[0],
            declared="{" not in address,
        )


def _accounted(found: ClassifiedDrift) -> set[tuple[str, str]]:
    told = {each.key for each in found.wanted} | {each.wanted.key for each in (*found.left, *found.kept_out)}
    again = {address for address, _ in found.again}
    return told | {(address, "*") for address in again}


@pytest.mark.parametrize("case", UNDERSTOOD, ids=lambda case: f"{case['service']}:{case['operation']}")
async def test_of_an_understood_call_every_changed_attribute_is_accounted_for(
    ledger: SqlLedger, case: dict[str, Any]
) -> None:
    effects = list(_effects(case))
    call = Call(service=case["service"], operation=case["operation"])
    mutation = await record_mutation(ledger, [(effect, "before") for effect in effects], call=call)
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)

    changing = {(each.address, each.attribute) for each in effects if each.action is not EffectAction.INVOKE}
    assert (mutation.id in backlog.settled) == bool(changing)
    if changing:
        found = classify_mutation(backlog.decided[mutation.id], superseded={})
        assert _accounted(found) == changing


@pytest.mark.parametrize("call", NOT_UNDERSTOOD, ids=lambda call: f"{call.service}:{call.operation}")
async def test_a_call_that_nobody_understood_waits_until_its_record_says_what_became_of_it(
    ledger: SqlLedger, call: Call
) -> None:
    mutation = await record_mutation(ledger, [], call=call)
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    assert [each.id for each in backlog.pending()] == [mutation.id]
    assert backlog.decided[mutation.id].unread is not None

    left = written_back({"left": [{"address": "x:Y", "attribute": "*", "reason": "Look."}]})
    await ledger.record_reconciliation(mutation.id, at=NOW, body=left)
    await backlog.read(ledger)
    assert (list(backlog.pending()), [each.id for each in backlog.left_over()]) == ([], [mutation.id])

    await ledger.record_reconciliation(mutation.id, at=NOW, body=written_back({"nothing_to_do": "It is named."}))
    await backlog.read(ledger)
    assert not backlog.decided
