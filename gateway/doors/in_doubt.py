"""The text for a caller whose call AWS may or may not have carried out; every door uses it."""

from gateway.model.mutation import Mutation
from gateway.model.outcome import InDoubt


def in_doubt_text(mutation: Mutation, outcome: InDoubt) -> str:
    """What is known, and what happens next. It promises only what happens whether or not a reconciler runs."""
    call = f"{mutation.call.service}:{mutation.call.operation} (mutation {mutation.id})"
    if outcome.settled:
        return f"{call} is not sent again. {outcome.reason}"
    return (
        f"Whether AWS carried out {call} is not known: {outcome.reason} It is not sent again, and its claims stand until it is "
        "settled: by the reconciler, if one runs and the live values show the outcome, or else by an approver "
        f"(`sentinel settle {mutation.id}`). `sentinel records` shows when that was done."
    )
