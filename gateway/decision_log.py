"""Logs each decision in one line: who asked for what, the verdict, the rules behind it and the outcome. No value, text or secret is in it."""

import structlog

from gateway.model.mutation import Mutation
from gateway.model.outcome import Applied, Failed, InDoubt, Outcome, Refused
from gateway.model.verdict import Decision, Verdict

log = structlog.get_logger()

_NAMES = {Applied: "applied", Refused: "refused", Failed: "failed", InDoubt: "in_doubt"}
_MOST_ADDRESSES = 5
"""How many of the changed resources a line names. The record has all of them."""


def log_decision(mutation: Mutation, decision: Decision, outcome: Outcome) -> None:
    """Log one recorded decision and what came of it."""
    addresses = tuple(dict.fromkeys(effect.address for effect in mutation.effects))
    motive = mutation.motive
    log.info(
        "decision",
        mutation=mutation.id,
        verdict=decision.verdict.value,
        outcome=_NAMES[type(outcome)],
        operation=f"{mutation.call.service}:{mutation.call.operation}",
        actor=mutation.caller.actor,
        kind=mutation.caller.kind.value,
        motive=f"{motive.intent}/{motive.motivation}" if motive else "",
        resources=list(addresses[:_MOST_ADDRESSES]),
        more_resources=max(0, len(addresses) - _MOST_ADDRESSES),
        rules=list(dict.fromkeys(each.rule for each in decision.findings if each.verdict is not Verdict.ALLOW)),
    )
