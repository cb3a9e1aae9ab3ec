"""The platform engineer: she puts Sentinel in front of an own stack, first observing, and runs the pipelines that apply it."""

import json

import pytest

from tests.system.users.conftest import Shop, mutation_of

pytestmark = [
    *(pytest.mark.system, pytest.mark.terraform, pytest.mark.slow, pytest.mark.long),
    pytest.mark.allow_hosts(["127.0.0.1"]),
]

PUBLISHED = """
resource "aws_sns_topic" "reports" {
  name_prefix = "shop-reports-"
}

resource "aws_cloudwatch_event_target" "published" {
  rule = aws_cloudwatch_event_rule.nightly.name
  arn  = aws_sns_topic.reports.arn
}
"""
OPTIONS = """
resource "aws_db_parameter_group" "orders" {
  name   = "shop-orders"
  family = "postgres16"

  parameter {
    name  = "log_min_duration_statement"
    value = "500"
  }
}
"""


def test_a_platform_engineer_guards_an_own_stack(shop: Shop) -> None:
    the_stack_was_applied_as_one_plan(shop)
    at_first_she_only_observes(shop)
    a_typo_in_a_contract_does_not_pass_the_pipeline(shop)
    an_approval_of_a_plan_covers_the_run(shop)
    what_only_the_plan_explains_passes_too(shop)
    keys_are_renewed_before_they_end(shop)
    shop.ends_well()


def the_stack_was_applied_as_one_plan(shop: Shop) -> None:
    """`sentinel up --stack … --apply` had the whole plan judged, so that no call of it was held; nothing is left of it."""
    plans = [each for each in shop.records("decided") if each["body"]["call"]["service"] == "terraform"]
    assert [each["body"]["decision"]["verdict"] for each in plans] == ["allow"]
    assert shop.json("human", "holds", "--state", "all")["holds"] == []
    assert shop.differences() == {}
    assert len(shop.json("human", "resources")["resources"]) == 21


def at_first_she_only_observes(shop: Shop) -> None:
    """Every call is sent, also one that nobody understands; the report says what enforcing would have done."""
    shop.restart("--observe")
    why = ("--intent", "availability", "--motivation", "incident")
    nine = {"cluster": "shop", "service": "shop-api", "desiredCount": 9}
    scaled = shop.propose("agent", "ecs:UpdateService", nine, *why)
    disabled = shop.propose("agent", "events:DisableRule", {"Name": "shop-nightly"}, *why)
    assert {scaled["outcome"]["outcome"], disabled["outcome"]["outcome"]} == {"applied"}
    back = shop.propose("agent", "ecs:UpdateService", {**nine, "desiredCount": 2}, *why)
    enabled = shop.propose("agent", "events:EnableRule", {"Name": "shop-nightly"}, *why)
    report = shop.operator("observe", "report").stdout
    for words in ("ecs:UpdateService", "bounds.max", "events:DisableRule"):
        assert words in report
    shop.written(*(str(each["mutation"]["id"]) for each in (scaled, disabled, back, enabled)))
    shop.restart()


def a_typo_in_a_contract_does_not_pass_the_pipeline(shop: Shop) -> None:
    """A resource that no stack declares protects nothing: the check names the one that was meant, on any branch."""
    shop.sentinel("human", "contract", "check", str(shop.code))
    shop.git("checkout", "--quiet", "-b", "typo")
    shop.edit("infra/shop.sentinel.hcl", '"aws_db_instance" "orders"', '"aws_db_instance" "ordres"')
    shop.git("checkout", "--quiet", "main")
    refused = shop.sentinel("human", "contract", "check", str(shop.code), "--ref", "typo", code=1).stdout
    assert "ordres" in refused
    assert "did you mean 'aws_db_instance.orders'" in refused


def an_approval_of_a_plan_covers_the_run(shop: Shop) -> None:
    """A plan that destroys logs waits for two people. What the provider invents at each run, names and ids, asks nobody again."""
    report = shop.code / "report.tf"
    text = report.read_text()
    group = text[text.index('resource "aws_cloudwatch_log_group"') :]
    report.write_text(text.replace(group, "").rstrip() + "\n" + PUBLISHED)
    shop.commit("Reports are published, their logs are not kept")
    checked = shop.sentinel("pipeline", "plan-check", str(shop.plan("pipeline")), code=2).stdout
    assert "aws_cloudwatch_log_group.report" in checked
    held = mutation_of(shop.apply("pipeline", code=2).stderr)
    for name in ("ada", "ben"):
        approver = shop.new_key(name, "human", "--role", "approver")
        shop.sentinel(approver, "approve", held, "--yes", "--reason", "the reports are kept elsewhere")
    shop.apply("pipeline")
    assert shop.differences() == {}


def what_only_the_plan_explains_passes_too(shop: Shop) -> None:
    """The provider sets parameters by a second call, before the state has the group: without the plan it would be held."""
    database = shop.code / "database.tf"
    before = database.read_text()
    database.write_text(before + OPTIONS)
    shop.commit("Slow statements are logged")
    shop.sentinel("pipeline", "plan-check", str(shop.plan("pipeline")))
    shop.apply("pipeline")
    # The simulated AWS keeps no parameters of a group, so the plan would never be clean with it.
    database.write_text(before)
    shop.commit("Slow statements are not logged")
    shop.apply("pipeline")
    assert shop.differences() == {}


def keys_are_renewed_before_they_end(shop: Shop) -> None:
    """A renewed key is of the same actor, with a new end; both work until the old one ends."""
    old = shop.new_key("deploy", "pipeline", "--intent", "consistency", "--motivation", "routine", "--only")
    renewed = json.loads(shop.operator("key", "renew", old.id, "--json").stdout)
    assert renewed["access_key_id"] != old.id
    assert renewed["actor"] == "deploy"
    shop.sentinel(old, "resources")
