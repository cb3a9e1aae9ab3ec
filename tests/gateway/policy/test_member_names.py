"""A misspelt member of the input or of the data is a mistake with file and line, not a rule that is never true."""

from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.line.checks.policy_input import policy_input
from gateway.policy.input_schema import INPUT_SCHEMA
from gateway.policy.member_names import check_member_names
from tests.kit import nouns

pytestmark = pytest.mark.opa
RULE = """package sentinel.rules.mine

import data.data.network

findings contains 1 if {{
	{}
}}
"""


def _policies(directory: Path, body: str) -> Path:
    (directory / "data").mkdir()
    (directory / "data" / "network.json").write_text('{"network": {"public_ports": [80], "by_kind": {"agent": 1}}}')
    (directory / "mine.rego").write_text(RULE.format(body))
    return directory


def test_the_shipped_policies_name_only_what_there_is(policies: Path, opa_tool: Path) -> None:
    for path in policies.rglob("*_test.rego"):
        path.unlink()
    check_member_names(policies, opa_tool)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("input.mutaton.id == network.public_ports", "mutaton"),
        ("input.caller.kid == network.public_ports", "kid"),
        ("input.motive.intnet == network.public_ports", "mine.rego:6: input.motive has no member 'intnet'; did you mean 'intent'?"),
        ("some effect in input.mutation.effects\n\teffect.valeu == network.public_ports", "valeu"),
        ("input.claims[_].actr == network.public_ports", "actr"),
        ("input.stack == network.public_prots", "mine.rego:6: data.data.network has no member 'public_prots'; did you mean 'public_ports'?"),
        ("input.stack == data.data.netwrk.public_ports\n\tnetwork.public_ports", "data.data has no member 'netwrk'; did you mean 'network'?"),
        ("input.stack == network.by_kind.agnet", "data.data.network.by_kind has no member 'agnet'"),
    ],
)  # fmt: skip
def test_a_misspelt_member_is_refused(tmp_path: Path, opa_tool: Path, body: str, says: str) -> None:
    with pytest.raises(PolicyInvalid) as refused:
        check_member_names(_policies(tmp_path, body), opa_tool)
    assert says in str(refused.value)
    assert "mine.rego" in str(refused.value)


@pytest.mark.parametrize(
    "body",
    [
        "some effect in input.mutation.effects\n\teffect.value.anything == network.public_ports",
        "input.mutation.parameters.Force == network.public_ports",
        "network.by_kind[input.caller.kind] == 1",
        "input.motive == null\n\tnetwork.public_ports[0] == 1",
    ],
)
def test_what_only_an_evaluation_tells_is_no_mistake(tmp_path: Path, opa_tool: Path, body: str) -> None:
    check_member_names(_policies(tmp_path, body), opa_tool)


def test_the_schema_has_every_member_of_the_input() -> None:
    document = policy_input(nouns.mutation(nouns.effect()), nouns.facts(nouns.subject(nouns.effect())))
    assert set(document) <= set(INPUT_SCHEMA["properties"])
    effects = INPUT_SCHEMA["properties"]["mutation"]["properties"]
    mutation = document["mutation"]
    assert isinstance(mutation, dict)
    assert set(mutation) == set(effects)
    assert set(mutation["effects"][0]) == set(effects["effects"]["items"]["properties"])
