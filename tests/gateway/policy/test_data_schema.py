"""The policies' data is checked when a bundle is loaded."""

import copy
import json
from typing import Any

import pytest

from gateway.errors import PolicyInvalid
from gateway.policy.data_schema import check_data
from gateway.policy.sources import shipped


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
