"""A decision: no findings are a denial, the strongest finding wins, an approval lifts only holds."""

from dataclasses import replace

import pytest

from gateway.core.model.verdict import Decision, Finding, Mode, Verdict


def _finding(verdict: Verdict) -> Finding:
    return Finding(check="c", verdict=verdict, rule="r", reason="Because.")


ALLOW, HOLD, DENY = _finding(Verdict.ALLOW), _finding(Verdict.HOLD), _finding(Verdict.DENY)
ABSOLUTE = replace(DENY, absolute=True)


@pytest.mark.parametrize(
    ("findings", "approval", "mode", "verdict", "carried_out"),
    [
        ((), "", Mode.ENFORCE, Verdict.DENY, False),
        ((ALLOW,), "", Mode.ENFORCE, Verdict.ALLOW, True),
        ((ALLOW, HOLD), "", Mode.ENFORCE, Verdict.HOLD, False),
        ((ALLOW, HOLD), "apr_1", Mode.ENFORCE, Verdict.ALLOW, True),
        ((HOLD, DENY), "apr_1", Mode.ENFORCE, Verdict.DENY, False),
        ((ALLOW, DENY), "", Mode.ENFORCE, Verdict.DENY, False),
        ((ALLOW, DENY), "", Mode.OBSERVE, Verdict.DENY, True),
        ((ALLOW, HOLD), "", Mode.OBSERVE, Verdict.HOLD, True),
        ((ALLOW, ABSOLUTE), "", Mode.OBSERVE, Verdict.DENY, False),
        ((), "", Mode.OBSERVE, Verdict.DENY, False),
    ],
)
def test_the_verdict_of_findings(
    findings: tuple[Finding, ...], approval: str, mode: Mode, verdict: Verdict, carried_out: bool
) -> None:
    decision = Decision(findings=findings, approval=approval, mode=mode)
    assert (decision.verdict, decision.carried_out) == (verdict, carried_out)


def test_objections_are_the_denials_then_the_holds() -> None:
    assert Decision(findings=(ALLOW, HOLD, DENY)).objections == (DENY, HOLD)
