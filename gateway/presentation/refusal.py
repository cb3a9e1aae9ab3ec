"""The text of a refusal or a doubt: what was decided, every objection, and what the caller can do next."""

from collections.abc import Iterable

from gateway.core.model.caller import ActorKind
from gateway.core.model.masking import without_digests
from gateway.core.model.mutation import Mutation
from gateway.core.model.outcome import InDoubt
from gateway.core.model.verdict import Decision, Finding, Verdict
from gateway.core.texts import by_rule

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
    reasons = _reasons(decision.objections)
    if decision.verdict is Verdict.HOLD:
        by_person = mutation.caller.kind is ActorKind.HUMAN
        listed = f"`sentinel holds {mutation.id}` says who may, and who has. " if by_person else ""
        return (
            f"Sentinel holds {call} for {'another person' if by_person else 'a human'} (mutation {mutation.id}); "
            f"nothing was sent to AWS. {reasons} {_who(decision, by_person=by_person)} `sentinel approve {mutation.id}`, "
            f"repeat the identical call. {listed}GET /v1/mutations/{mutation.id}?wait=30s returns as soon as that is decided."
        )
    return f"Sentinel refused {call} (mutation {mutation.id}); nothing was sent to AWS. {reasons}"


def _who(decision: Decision, *, by_person: bool) -> str:
    """Who must approve it. A person cannot approve a call of their own."""
    people = decision.needs.people if decision.needs else 1
    one = "another person" if by_person else "a human"
    return (
        f"Once {one} has run"
        if people == 1
        else f"Once {people} {'other' if by_person else 'different'} people have run"
    )


def _reasons(objections: Iterable[Finding]) -> str:
    """Each rule once, before all that it says; each reason once, since two effects of one call often have the same."""
    said = list(dict.fromkeys((_rule(finding), finding.reason) for finding in objections))
    more = len(said) - MAX_OBJECTIONS
    text = " ".join(f"[{rule}] {' '.join(reasons)}" for rule, reasons in by_rule(said[:MAX_OBJECTIONS]).items())
    return text + (f" And {more} more objections." if more > 0 else "")


def _rule(finding: Finding) -> str:
    """The rule id, with the class of the conflict if it is one."""
    return f"{finding.rule}, {finding.conflict.value} conflict" if finding.conflict else finding.rule


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
