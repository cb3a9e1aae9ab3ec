"""Who holds an attribute, as any caller is told: an agent must know whom it would contradict, and until when."""

from typing import Any

from gateway.model.caller import Caller
from gateway.model.claim import Claim
from gateway.model.json import to_json
from gateway.model.motive import Motive


def holder_of(claim: Claim, caller: Caller) -> dict[str, Any]:
    """The holder of a claim and its motive. The free text of another's motive, and the evidence for it, are for people and pipelines."""
    motive = claim.motive
    shown: dict[str, Any] = {
        "holder": claim.actor,
        "kind": claim.kind.value,
        **motive_words(motive),
        "since": to_json(claim.since),
        "until": to_json(claim.until),
        "unsettled": claim.unsettled,
        "mutation_id": claim.mutation_id,
    }
    if motive is not None and (caller.sees_all or caller.actor == claim.actor):
        shown |= {"text": motive.text, "evidence": list(motive.evidence)}
    return shown


def motive_words(motive: Motive | None) -> dict[str, str]:
    """Intent and motivation; empty without a motive."""
    if motive is None:
        return {"intent": "", "motivation": ""}
    return {"intent": motive.intent.value, "motivation": motive.motivation.value}
