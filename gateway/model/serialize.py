"""JSON forms that the ledger's records and the replies to callers share."""

from gateway.model.json import Json
from gateway.model.verdict import Finding


def finding_to_json(finding: Finding) -> dict[str, Json]:
    """A finding without its counter-offer, which records and replies show in different detail."""
    found: dict[str, Json] = {
        "check": finding.check,
        "verdict": finding.verdict.value,
        "rule": finding.rule,
        "reason": finding.reason,
        "address": finding.address,
        "attribute": finding.attribute,
        "source": finding.source,
        "title": finding.title,
    }
    return {**found, "conflict": finding.conflict.value} if finding.conflict else found
