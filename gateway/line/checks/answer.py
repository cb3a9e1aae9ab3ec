"""What a held call is told if people were asked about the same call before: it waits with that one, or was rejected."""

from dataclasses import replace
from datetime import datetime

from gateway.core.model.approval import Answered, Rejection, misfits
from gateway.core.model.verdict import CounterOffer, Decision, Finding, Verdict
from gateway.core.times import utc_seconds
from gateway.line.checks.rule_titles import titled


def with_answer(decision: Decision, answered: Answered, now: datetime) -> Decision:
    """The decision about a call that is held: a denial with the human's reason if it was rejected lately in these circumstances, attached to
    the mutation that is held for it already if there is one, else as it is.
    """
    rejection = answered.rejection
    if rejection is not None and _stands(rejection, decision, now):
        return replace(decision, findings=(*decision.findings, *titled((_rejected(rejection, decision),), {})))
    alike = (held for held, binding in answered.held.items() if binding is not None and binding == decision.binding)
    return replace(decision, attached=next(alike, ""))


def _stands(rejection: Rejection, decision: Decision, now: datetime) -> bool:
    """Whether the rejection still answers the call: for the time that the policies say, as long as nothing about it has changed."""
    if decision.needs is None or decision.binding is None or rejection.binding is None:
        return False
    return now < rejection.at + decision.needs.rejected and not misfits(rejection.binding, decision.binding)


def _rejected(rejection: Rejection, decision: Decision) -> Finding:
    ends = rejection.at + decision.needs.rejected if decision.needs else rejection.at
    said = f": {_sentence(rejection.reason)}" if rejection.reason.strip() else " and gave no reason."
    reason = (
        f"{rejection.by} rejected this call (mutation {rejection.mutation_id}){said} "
        f"It is refused until {utc_seconds(ends)} as long as nothing about it changes; then people are asked again."
    )
    return Finding(
        check="approval",
        verdict=Verdict.DENY,
        rule="approval.rejected",
        reason=reason,
        offer=CounterOffer(holder=rejection.by, retry_after=ends),
    )


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
