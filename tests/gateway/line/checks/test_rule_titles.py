"""Titles and places of rules: those of policies, and those built into Sentinel."""

from dataclasses import replace

from gateway.core.model.verdict import Finding, RuleText, Verdict
from gateway.line.checks.rule_titles import built_in_rules, titled
from gateway.terraform.contracts.bounds import CONDITION, NAMES

FINDING = Finding(check="policy", verdict=Verdict.DENY, rule="SEN-X", reason="No.")
RULES = {"SEN-X": RuleText("What it is", "guardrails/x.rego:7")}


def test_a_policys_rule_has_the_title_and_place_of_its_metadata() -> None:
    (found,) = titled((FINDING,), RULES)
    assert (found.title, found.source) == ("What it is", "guardrails/x.rego:7")
    (placed,) = titled((replace(FINDING, source="a.hcl:1"),), RULES)
    assert (placed.title, placed.source) == ("What it is", "a.hcl:1")


def test_every_bound_has_a_title() -> None:
    findings = tuple(replace(FINDING, rule=f"bounds.{name}") for name in (*NAMES, CONDITION))
    assert all(found.title for found in titled(findings, {}))


def test_a_rule_that_nobody_knows_stays_as_it_is() -> None:
    assert titled((FINDING,), {}) == (FINDING,)


def test_built_in_rules_have_titles_and_no_file() -> None:
    found = built_in_rules()
    assert found["bounds.max"].title == "A value above its maximum"
    assert {text.source for text in found.values()} == {""}
