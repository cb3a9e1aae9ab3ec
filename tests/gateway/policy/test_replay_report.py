"""Reports of replays: grouped, bounded, and harmless as Markdown."""

from typing import Any

from gateway.policy.replay_report import ReplayReport


def flip(rule: str = "SEN-1", actor: str = "agent", number: int = 0, **more: Any) -> dict[str, Any]:
    """A change that would be denied."""
    objection = {
        "rule": rule, "verdict": "deny", "reason": "No <b>such</b> thing.", "address": "aws_sqs_queue.q", "attribute": "x", "source": "a.rego:3",
    }  # fmt: skip
    return {
        "mutation": f"mut_{number}", "at": "2026-03-01T12:00:00Z", "actor": actor, "kind": "agent", "call": "sqs:X", "stack": "shop",
        "observed": False, "from": "allow", "to": "deny", "rule": rule, "old": [], "new": [objection],
    } | more  # fmt: skip


def page(*flips: dict[str, Any], replayed: int = 10, **not_replayed: int) -> dict[str, Any]:
    """A page of ten decisions."""
    return {
        "replayed": replayed,
        "flips": list(flips),
        "not_replayed": not_replayed,
        "revision": "r" * 64,
        "contracts": "",
    }


def test_pages_are_joined_by_rule_and_actor() -> None:
    report = ReplayReport()
    report.add(page(flip(), flip(number=1), flip(actor="other"), no_facts=2))
    report.add(page(flip(number=2), newer=1))
    shown = report.to_json()
    assert (shown["replayed"], shown["flips"], shown["not_replayed"]) == (20, 4, {"newer": 1, "no_facts": 2})
    assert [(each["actor"], each["count"], each["source"]) for each in shown["groups"]] == [
        ("agent", 3, "a.rego:3"),
        ("other", 1, "a.rego:3"),
    ]
    text = "\n".join(report.lines())
    assert "4 verdicts would be others (4 allowed → denied)" in text
    assert "Not replayed: 2 decisions from before facts were kept" in text
    assert "now: denied by SEN-1: No <b>such</b> thing." in text


def test_no_flips_are_one_sentence_with_its_limits() -> None:
    report = ReplayReport()
    report.add(page())
    first, kept, history = report.lines()
    assert first == "10 decisions replayed under policies rrrrrrrrrrrr: every verdict would be the same."
    assert (kept, history.startswith("Claims, budgets")) == ("What contracts said then was kept.", True)
    report.add(page() | {"contracts": "c" * 64})
    first, history = report.lines()
    assert "under policies rrrrrrrrrrrr and contracts cccccccccccc" in first
    assert report.sarif()["runs"][0]["results"] == []


def test_the_report_does_not_grow_with_the_ledger() -> None:
    report = ReplayReport()
    for number in range(700):
        report.add(page(*(flip(rule=f"SEN-{number}", number=each) for each in range(20))))
    assert len(report.groups) == 500
    assert all(len(each["calls"]) == 10 for each in report.groups.values())
    assert (report.flips, report.to_json()["flips_only_counted"]) == (14_000, 4_000)
    assert len(report.markdown()) < 200_000


def test_nothing_that_a_caller_wrote_is_markup() -> None:
    report = ReplayReport()
    report.add(page(flip(actor="@team|<img>")))
    assert "<img>" not in report.markdown()
    assert "@team" not in report.markdown()


def test_a_rule_is_named_at_its_line_in_the_repository() -> None:
    report = ReplayReport()
    report.add(page(flip(), flip(rule="policy.broke", new=[])))
    [first, second] = [
        each["locations"][0]["physicalLocation"] for each in report.sarif(root="infra/policies/")["runs"][0]["results"]
    ]
    assert (first["artifactLocation"]["uri"], first["region"]["startLine"]) == ("infra/policies/a.rego", 3)
    assert (second["artifactLocation"]["uri"], second["region"]["startLine"]) == ("infra/policies", 1)


def test_a_bound_is_named_at_its_line_in_the_repository_of_the_stack() -> None:
    report = ReplayReport()
    objection = flip()["new"][0] | {"rule": "bounds.max", "source": "shop.sentinel.hcl:7"}
    report.add(page(flip(rule="bounds.max", new=[objection])) | {"contracts": "c" * 64})
    [result] = report.sarif(root="policies", stack_root="infra/shop")["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("infra/shop/shop.sentinel.hcl", 7)
