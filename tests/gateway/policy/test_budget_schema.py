"""The numbers of the budgets are validated with sentences when a bundle is loaded."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import PolicyInvalid
from gateway.policy.budget_schema import BudgetsData, budget_mistakes
from gateway.policy.data_schema import check_data

DATA = Path(__file__).parents[3] / "policies" / "data"
SHIPPED = json.loads((DATA / "budgets.json").read_text())["budgets"]
PRIORITIES = json.loads((DATA / "priorities.json").read_text())["priorities"]


def test_the_shipped_numbers_are_valid() -> None:
    assert budget_mistakes(BudgetsData.model_validate(SHIPPED)) == []
    check_data({"data": {"priorities": PRIORITIES, "budgets": SHIPPED}})


def _without(table: str, kind: str) -> Callable[[Any], None]:
    return lambda data: data[table].pop(kind)


def _with(table: str, name: str, value: Any) -> Callable[[Any], None]:
    return lambda data: data[table].update({name: value})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_without("mutations", "agent"), "data/budgets.json: mutations: agent has no entry"),
        (_without("breaker", "human"), "data/budgets.json: breaker: human has no entry"),
        (_without("sizes", "instances"), "instances is not in `sizes`, so nothing measures it"),
        (_with("mutations", "agent", {"minute": 0}), "mutations.agent.minute: Input should be greater than 0"),
        (_with("mutations", "agent", {"minute": 1.5}), "mutations.agent.minute"),
        (_with("mutations", "agent", {"week": 5}), "mutations.agent.week"),
        (_with("mutations", "robot", {"minute": 5}), "mutations.robot"),
        (_with("mutations_by_motivation", "agent", {"boredom": {"minute": 5}}), "boredom"),
        (_with("claims_by_motivation", "agent", {"incident": 10_001}), "claims_by_motivation.agent.incident"),
        (_with("breaker", "agent", {"in_a_row": 1, "open_seconds": 5}), "breaker.agent.in_a_row"),
        (_with("breaker", "agent", {"in_a_row": 5, "open_seconds": 86_401}), "breaker.agent.open_seconds"),
        (_with("sizes", "instances", {"set": {}}), "sizes.instances.created"),
        (lambda data: data.update(more=1), "more: Extra inputs are not permitted"),
    ],
)
def test_a_mistake_is_named(change: Callable[[Any], None], sentence: str) -> None:
    data = copy.deepcopy(SHIPPED)
    change(data)
    with pytest.raises(PolicyInvalid) as error:
        check_data({"data": {"priorities": PRIORITIES, "budgets": data}})
    assert sentence in str(error.value)
