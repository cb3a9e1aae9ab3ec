"""The author of policies: he changes a number, adds a rule and its test, and each mistake is named before it counts."""

import json
import shutil
from pathlib import Path

import httpx
import pytest

from tests.kit.up import ROOT
from tests.system.users.conftest import Shop

pytestmark = [
    *(pytest.mark.system, pytest.mark.terraform, pytest.mark.opa, pytest.mark.slow, pytest.mark.long),
    pytest.mark.allow_hosts(["127.0.0.1"]),
]

WHY = ("--intent", "cost", "--motivation", "budget")
SCALE = {"cluster": "shop", "service": "shop-api", "desiredCount": 3}
RULE = """package sentinel.rules.freeze

# METADATA
# title: Agents leave the shop's service alone before the sale
# custom:
#   id: SHOP-1
#   severity: high
findings contains {
	"id": "SHOP-1",
	"verdict": "deny",
	"message": "The sale begins tomorrow, and agents leave the service alone. Ask the platform team.",
	"address": "",
	"attribute": "",
} if {
	input.caller.kind == "agent"
	input.mutation.service == "ecs"
}

concerned := set()
"""
TEST = """package sentinel.rules.freeze_test

import data.sentinel.fixtures
import data.sentinel.rules.freeze

test_people_may if {
	found := freeze.findings with input as fixtures.document("human", [])
	fixtures.verdicts(found) == set()
}
"""


def test_a_policy_author_changes_the_rules(shop: Shop, tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    shutil.copytree(ROOT / "policies", policies)
    shop.restart("--policies", str(policies))
    a_number_comes_into_force_by_itself(shop, policies)
    a_misspelt_member_is_an_error(shop, policies)
    two_rules_cannot_have_one_id(policies, shop)
    a_new_rule_is_in_force_within_seconds(shop, policies)
    shop.ends_well()


def ready(shop: Shop) -> str:
    """What the gateway says about itself."""
    return httpx.get(f"{shop.credentials.url}/readyz").text


def a_number_comes_into_force_by_itself(shop: Shop, policies: Path) -> None:
    """The running gateway takes it over. (`tests/gateway/cli/test_policy.py` plays the same on a machine without OPA.)"""
    before = revision(shop)
    ranks = policies / "data" / "priorities.json"
    document = json.loads(ranks.read_text())
    document["priorities"]["intents"]["cost"] = 555
    ranks.write_text(json.dumps(document, indent=2) + "\n")
    shop.wait_until(lambda: revision(shop) != before, "the number is in force")
    assert shop.json("human", "policy", "numbers", "--path", str(policies))["numbers"]["intents"]["cost"] == 555


def revision(shop: Shop) -> str:
    """The revision of the policies that decide now."""
    return str(json.loads(ready(shop))["policy"])


def a_misspelt_member_is_an_error(shop: Shop, policies: Path) -> None:
    """`input.caller.knid` would never be true: it is refused, with the file, and the last policies stay in force."""
    rule = policies / "guardrails" / "freeze.rego"
    rule.write_text(RULE.replace("input.caller.kind", "input.caller.knid"))
    refused = shop.sentinel("human", "policy", "build", "--path", str(policies), code=1).stderr
    assert "freeze.rego" in refused
    assert "knid" in refused
    shop.wait_until(lambda: "knid" in ready(shop), "the gateway says what is wrong")
    shop.propose("agent", "ecs:UpdateService", SCALE, *WHY, "--dry-run")


def two_rules_cannot_have_one_id(policies: Path, shop: Shop) -> None:
    """Records name rules by id."""
    rule = policies / "guardrails" / "freeze.rego"
    rule.write_text(RULE)
    second = rule.with_name("thaw.rego")
    second.write_text(RULE.replace("rules.freeze", "rules.thaw"))
    assert "SHOP-1" in shop.sentinel("human", "policy", "build", "--path", str(policies), code=1).stderr
    second.unlink()


def a_new_rule_is_in_force_within_seconds(shop: Shop, policies: Path) -> None:
    """With its test, which passes; the refusal has the rule's own words."""
    (policies / "guardrails" / "freeze_test.rego").write_text(TEST)
    shop.sentinel("human", "policy", "test", "--path", str(policies))

    def denied() -> bool:
        done = shop.propose("agent", "ecs:UpdateService", SCALE, *WHY, "--dry-run", code=None)
        return "SHOP-1" in json.dumps(done)

    shop.wait_until(denied, "the rule is in force")
    refused = shop.propose("agent", "ecs:UpdateService", SCALE, *WHY, code=1)
    assert "The sale begins tomorrow" in json.dumps(refused)
    done = shop.propose("human", "ecs:UpdateService", SCALE, *WHY)
    shop.written(str(done["mutation"]["id"]))
