"""One line for each decision, with who, what, the verdict, the rules and the outcome, and without values."""

from structlog.testing import capture_logs

from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import CallClass, Effect, EffectAction, Mutation
from gateway.core.model.outcome import Refused
from gateway.core.model.verdict import Decision, Finding, Verdict
from gateway.line.pipeline import log_decision
from tests.kit.doubles import AGENT, APPLIED, CALL

MOTIVE = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, text="a-secret-text", evidence=("T-1",))


def change(count: int) -> Mutation:
    effects = tuple(
        Effect(
            address=f"aws_sqs_queue.q{number}",
            attribute="delay",
            action=EffectAction.SET,
            resource_type="aws_sqs_queue",
            value="a-secret-value",
        )
        for number in range(count)
        for _ in range(2)
    )
    return Mutation(id="mut_1", caller=AGENT, call=CALL, call_class=CallClass.MUTATION, motive=MOTIVE, effects=effects)


def finding(verdict: Verdict, rule: str) -> Finding:
    return Finding(check="policy", verdict=verdict, rule=rule, reason="a-secret-reason")


def test_a_refusal_names_its_rules_once() -> None:
    findings = (finding(Verdict.ALLOW, "ok"), finding(Verdict.DENY, "no"), finding(Verdict.DENY, "no"))
    decision = Decision(findings=findings)
    with capture_logs() as lines:
        log_decision(change(7), decision, Refused(decision=decision))
    (line,) = lines
    assert "secret" not in str(line)
    assert line == {
        "event": "decision",
        "log_level": "info",
        "mutation": "mut_1",
        "verdict": "deny",
        "outcome": "refused",
        "operation": "sqs:PurgeQueue",
        "actor": "agent",
        "kind": "agent",
        "motive": "cost/budget",
        "resources": [f"aws_sqs_queue.q{number}" for number in range(5)],
        "more_resources": 2,
        "rules": ["no"],
    }


def test_an_applied_change_says_so() -> None:
    with capture_logs() as lines:
        log_decision(change(1), Decision(findings=(finding(Verdict.ALLOW, "ok"),)), APPLIED)
    assert [(line["verdict"], line["outcome"], line["rules"]) for line in lines] == [("allow", "applied", [])]
