"""The policies' data is checked when a bundle is loaded."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy.data_schema import BudgetsData, budget_mistakes, check_data, check_data_files
from gateway.policy.sources import read_sources, shipped


@pytest.fixture
def data() -> dict[str, Any]:
    content: dict[str, Any] = {}
    for path in (shipped() / "data").glob("*.json"):
        content |= json.loads(path.read_text())
    return {"data": content}


def test_the_shipped_data_is_valid(data: dict[str, Any]) -> None:
    check_data(data)


def test_data_of_your_own_is_not_validated(data: dict[str, Any]) -> None:
    data["data"]["mine"] = {"anything": None}
    check_data(data)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("priorities.intents.cost", 1000), ("priorities.intents.cost", -1), ("priorities.intents.cost", "9"), ("priorities.intents.cost", 1.5), ("priorities.intents.cost", True),
        ("priorities.motivations.panic", 1), ("priorities.close_call", 0), ("priorities.claim_seconds.incident", 0), ("priorities.oscillation.limit", 1), ("priorities.oscillation.window_seconds", 0), ("priorities.oscillation.window_seconds", 10**9), ("priorities.proof.incident", "x"),
        ("priorities.longest_claim_seconds.agent", 0), ("priorities.longest_claim_seconds.agent", None), ("priorities.longest_claim_seconds.agent", 10**9), ("priorities.claims_per_actor.agent", 0), ("priorities.claims_per_actor.agent", 10_001), ("priorities.claims_per_actor.nobody", 5),
        ("priorities.more", 1), ("network.public_ports", [0]), ("network.public_ports", "443"), ("network.shortest_public_prefix.ipv4", 0), ("network.shortest_public_prefix.ipv6", 64), ("network.private_ranges", ["10.0.0.0/8"]), ("network.private_ranges", {"10": ["10"]}), ("identity.admin_policies", ["**"]), ("identity.escalating", ["iam:PassRole"]), ("identity.documents", {"policy": "x"}), ("data_loss.stores", [1]), ("data_loss.destructive", ["PurgeQueue"]), ("data_loss.least.retention_in_days", 0), ("data_loss.protections", ["x"]), ("exposure.switches", ["acl"]), ("principals.narrowing", {"aws:SourceArn": "arn"}), ("principals.narrowing", {"aws:sourcearn": "any"}), ("principals.demanding_operators", ["stringequalsifexists"]), ("principals.trusted_accounts", ["1"]), ("patterns.shortest_name", 0), ("disruption.disrupting", {"PurgeQueue": "drains it"}), ("execution.code", ["x"]), ("documents.members", "x"),
    ],
)  # fmt: skip
def test_mistakes_are_named(data: dict[str, Any], path: str, value: object) -> None:
    spoilt = copy.deepcopy(data)
    *parents, last = path.split(".")
    parent = spoilt["data"]
    for name in parents:
        parent = parent[name]
    parent[last] = value
    with pytest.raises(PolicyInvalid, match=parents[0]):
        check_data(spoilt)


@pytest.mark.parametrize(
    "table", ["intents", "motivations", "kinds", "claim_seconds", "longest_claim_seconds", "claims_per_actor"]
)
def test_every_name_needs_an_entry(data: dict[str, Any], table: str) -> None:
    del data["data"]["priorities"][table][next(iter(data["data"]["priorities"][table]))]
    with pytest.raises(PolicyInvalid, match="has no entry"):
        check_data(data)


@pytest.mark.parametrize("data", [{}, {"data": []}, {"data": {}}])
def test_without_priorities_there_is_no_arbitration(data: dict[str, Any]) -> None:
    with pytest.raises(PolicyInvalid):
        check_data(data)


PAIR = {
    "name": "a-and-b",
    "why": "one depends on the other",
    "one": {"type": "aws_x", "attribute": "a"},
    "other": {"type": "aws_x", "attribute": "b"},
}


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([{**PAIR, "other": PAIR["one"]}], "the pair 'a-and-b' names one attribute twice"),
        ([{**PAIR, "other": {"type": "aws_x", "attribute": "a.b"}}], "or a part of it"),
        ([PAIR, {**PAIR, "other": {"type": "aws_y", "attribute": "b"}}], "two pairs have the name 'a-and-b'"),
        ([PAIR, {**PAIR, "name": "b-and-a", "one": PAIR["other"], "other": PAIR["one"]}], "'a-and-b' and 'b-and-a' name the same"),
        ([{**PAIR, "why": ""}], "couplings"),
        ([{**PAIR, "one": {"type": "AWS", "attribute": "a"}}], "couplings"),
        ([{**PAIR, "verdict": "deny"}], "couplings"),
    ],
)  # fmt: skip
def test_mistakes_in_pairs_are_sentences(data: dict[str, Any], pairs: list[Any], sentence: str) -> None:
    data["data"]["couplings"] = {"pairs": pairs}
    with pytest.raises(PolicyInvalid, match=sentence):
        check_data(data)


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


SHIPPED_OF_DATA_FILES = read_sources(shipped()).files


def test_the_shipped_data_is_valid_data_files() -> None:
    check_data_files(SHIPPED_OF_DATA_FILES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{\n  "budgets": {\n    "a": 1\n    "b": 2\n  }\n}\n', r"^data/budgets\.json:4:5: not JSON: Expecting ','"),
        (b"\xff\xfe\xff", r"^data/budgets\.json: not JSON: "),
        (b"[]", r"^data/budgets\.json:1: not a JSON object\.$"),
        (b'{"budgets": {"mutations": 7}}', r"  data/budgets\.json: mutations: "),
    ],
    ids=["a comma is missing", "not text", "not an object", "not what it must be"],
)
def test_a_mistake_has_its_place(text: bytes, message: str) -> None:
    with pytest.raises(PolicyInvalid, match=message):
        check_data_files({**SHIPPED_OF_DATA_FILES, "data/budgets.json": text})


def test_mistakes_of_several_files_are_told_at_once() -> None:
    couplings = json.dumps({"couplings": {"pairs": [{"name": "x"}]}}).encode()
    with pytest.raises(PolicyInvalid) as raised:
        check_data_files(
            {**SHIPPED_OF_DATA_FILES, "data/budgets.json": b'{"budgets": {}}', "data/couplings.json": couplings}
        )
    assert "data/budgets.json: mutations: " in str(raised.value)
    assert "data/couplings.json: pairs.0.other: " in str(raised.value)
