"""The page of policy: every rule with its title and place, and how often it spoke against a call of late."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from gateway.core.model.verdict import RuleText, Verdict
from gateway.doors.console.visit import Visit
from gateway.line.checks.rule_titles import built_in_rules

COUNTED: Final = 100
"""Of the decisions against a call, the newest of each verdict that are counted: the page takes as long with a million records as with few."""

Rules = Callable[[], Mapping[str, RuleText]]


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """The page. The rules are those in force when it is shown."""

    rules: Rules
    revision: Callable[[], str]

    async def page(self, visit: Visit) -> Response:
        """Rules, the most frequent first."""
        words = visit.query.get("q", "").lower()
        denied, held = await asyncio.gather(
            *(self._against(visit, verdict) for verdict in (Verdict.DENY, Verdict.HOLD))
        )
        counts = denied + held
        texts = {**built_in_rules(), **self.rules()}
        named = {**{rule: RuleText("") for rule in counts}, **texts}
        rows = [
            (rule, text, denied[rule], held[rule])
            for rule, text in sorted(named.items(), key=lambda each: (-counts[each[0]], each[0]))
            if words in f"{rule} {text.title} {text.source}".lower()
        ]
        return visit.page(
            "policy.html", rows=rows, q=visit.query.get("q", ""), revision=self.revision(), counted=COUNTED
        )

    async def _against(self, visit: Visit, verdict: Verdict) -> Counter[str]:
        """How often each rule gave this verdict among the newest decisions with it."""
        found = await visit.api.get("/records", stage="decided", verdict=verdict.value, limit=COUNTED)
        return Counter(rule for record in found["records"] for rule in _rules_of(record, verdict))


def _rules_of(record: Mapping[str, Any], verdict: Verdict) -> set[str]:
    findings = record["body"]["decision"]["findings"]
    return {str(finding["rule"]) for finding in findings if finding["verdict"] == verdict}
