"""The text of a refusal or a doubt: what was decided, every objection, and what the caller can do next."""

from collections.abc import Iterable

from gateway.core.model.masking import without_digests
from gateway.core.model.mutation import Mutation
from gateway.core.model.outcome import InDoubt
from gateway.core.model.verdict import Decision, Finding, Verdict

MAX_OBJECTIONS = 20
"""How many objections a refusal states; the record of the decision has more."""


def refusal_text(mutation: Mutation, decision: Decision) -> str:
    """One paragraph for a held or denied mutation: the call, every objection, and the next step. Nothing was sent to AWS.

    Callers that may not see all are not given the digests of secrets.
    """
    text = _text(mutation, decision)
    return text if mutation.caller.sees_all else str(without_digests(text))


def _text(mutation: Mutation, decision: Decision) -> str:
    call = f"{mutation.call.service}:{mutation.call.operation}"
    reasons = _reasons(list(_unique(_objection(finding) for finding in decision.objections)))
    if decision.verdict is Verdict.HOLD:
        return (
            f"Sentinel holds {call} for a human (mutation {mutation.id}); nothing was sent to AWS. {reasons} "
            f"{_who(decision)} `sentinel approve {mutation.id}`, repeat the identical call; "
            f"GET /v1/mutations/{mutation.id}?wait=30s returns as soon as that is decided."
        )
    return f"Sentinel refused {call} (mutation {mutation.id}); nothing was sent to AWS. {reasons}"


def _who(decision: Decision) -> str:
    people = decision.needs.people if decision.needs else 1
    return "Once a human has run" if people == 1 else f"Once {people} different people have run"


def _reasons(objections: list[str]) -> str:
    more = len(objections) - MAX_OBJECTIONS
    return " ".join(objections[:MAX_OBJECTIONS]) + (f" And {more} more objections." if more > 0 else "")


def _objection(finding: Finding) -> str:
    """The rule id, with the class of the conflict if it is one, then the finding's reason. Reasons about bounds already contain file and line."""
    conflict = f", {finding.conflict.value} conflict" if finding.conflict else ""
    return f"[{finding.rule}{conflict}] {finding.reason}"


def _unique(sentences: Iterable[str]) -> Iterable[str]:
    """Each sentence once, in order: two effects of one call often have the same objection."""
    return dict.fromkeys(sentences)


def in_doubt_text(mutation: Mutation, outcome: InDoubt) -> str:
    """The known facts and the next step. The text promises only what happens whether or not a reconciler runs."""
    call = f"{mutation.call.service}:{mutation.call.operation} (mutation {mutation.id})"
    if outcome.settled:
        return f"{call} is not sent again. {outcome.reason}"
    return (
        f"Whether AWS carried out {call} is not known: {outcome.reason} It is not sent again, and its claims stand until it is "
        "settled: by the reconciler, if one runs and the live values show the outcome, or else by an approver "
        f"(`sentinel settle {mutation.id}`). `sentinel records` shows when that was done."
    )
