"""What a caller is told about a decision, in words that let it ask better next time."""

from collections.abc import Iterable

from gateway.model.mutation import Mutation
from gateway.model.verdict import Decision, Finding, Verdict


def refusal_text(mutation: Mutation, decision: Decision) -> str:
    """One paragraph: what was decided about which call, every objection, and what to do next. Nothing was sent to AWS."""
    what = f"{mutation.call.service}:{mutation.call.operation}"
    reasons = " ".join(_once(_objection(finding) for finding in decision.objections))
    if decision.verdict is Verdict.HOLD:
        return (
            f"Sentinel holds {what} for a human (mutation {mutation.id}); nothing was sent to AWS. {reasons} "
            f"Once a human has run `sentinel approve {mutation.id}`, repeat the identical call."
        )
    return f"Sentinel refused {what} (mutation {mutation.id}); nothing was sent to AWS. {reasons}"


def _objection(finding: Finding) -> str:
    """The finding's own sentence, led by its rule's id; bounds already name file and line themselves."""
    return f"[{finding.rule}] {finding.reason}"


def _once(sentences: Iterable[str]) -> Iterable[str]:
    """Each sentence once, in order: two effects of one call often meet the same objection."""
    return dict.fromkeys(sentences)
