"""What a record says about the facts of its decision, beside the values that its effects hold."""

from itertools import islice
from typing import Final

from gateway.model.facts import Facts
from gateway.model.json import Json

MOST_NAMED: Final = 20
"""Most contracts, claims, dependants and attributes that the facts of a record name."""


def recorded_facts(facts: Facts) -> dict[str, Json]:
    """Contracts by address, ids of the claims that were seen, dependants, flips and what the caller had of them, its open claims; only what there is."""
    subjects = facts.subjects[:MOST_NAMED]
    dependants = {each.address for subject in subjects for each in subject.dependants[:MOST_NAMED]}
    found: dict[str, Json] = {
        "contracts": {each.effect.address: each.contract.source for each in subjects if each.contract.source},
        "claims": [standing.claim.id for standing in facts.claims[:MOST_NAMED]],
        "dependants": sorted(dependants)[:MOST_NAMED],
        "flips": dict(islice(facts.flips.items(), MOST_NAMED)),
        "held_before": sorted(facts.held_before)[:MOST_NAMED],
        "open_claims": facts.open_claims,
    }
    return {name: value for name, value in found.items() if value}
