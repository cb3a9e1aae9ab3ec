"""The JSON forms that records and replies share."""

from gateway.model.serialize import finding_to_json
from gateway.model.verdict import CounterOffer, Finding, Verdict


def test_a_finding_has_every_member_but_its_counter_offer() -> None:
    finding = Finding(
        check="bounds",
        verdict=Verdict.DENY,
        rule="bounds.max",
        reason="Too many.",
        address="aws_lb.front",
        attribute="idle_timeout",
        source="main.sentinel.hcl:3",
        title="A value above its maximum",
        offer=CounterOffer(nearest=60),
    )
    assert finding_to_json(finding) == {
        "check": "bounds",
        "verdict": "deny",
        "rule": "bounds.max",
        "reason": "Too many.",
        "address": "aws_lb.front",
        "attribute": "idle_timeout",
        "source": "main.sentinel.hcl:3",
        "title": "A value above its maximum",
    }
