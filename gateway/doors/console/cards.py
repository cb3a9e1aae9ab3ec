"""The card of a mutation, which a person reads before they decide: the change, what depends on it, whose claims would end, and whether they may decide."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.model.approval import ApprovalRule, approval_rule_from_json, glass_objection, objection, own_objection
from gateway.core.model.caller import Caller
from gateway.core.model.consequence import consequence
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.doors.console.differences import Difference, difference
from gateway.doors.console.rendering import duration_text, value_text

_PLAIN: Final = 60
"""Characters of a value that is shown in a line with the other one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """The effect of a call on one attribute of one resource."""

    address: str
    attribute: str
    action: str
    implied: bool
    contract: str
    difference: Difference
    unseen: bool
    """Whether the values are secret, so that only the fact of the change is shown."""
    consequence: str
    """What it does that the difference does not show, as a sentence; empty for a new value."""
    plain: tuple[str, str] | None
    """The values before and after if both are short and plain: they are shown side by side instead of as lines."""

    @property
    def destroys(self) -> bool:
        """Whether something goes."""
        return self.action == EffectAction.DELETE


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationCard:
    """A mutation as its approver must see it."""

    id: str
    explanation: Mapping[str, Any]
    call: Mapping[str, Any]
    """`service`, `operation`, `account`, `region`, `parameters`, and whether these are the `whole` of it."""
    changes: tuple[ShownChange, ...]
    losers: tuple[Mapping[str, Any], ...]
    """The standing claims that end if it is approved."""
    rule: ApprovalRule
    why_not: str
    """Why this visitor may not decide, as a sentence; empty if they may."""
    why_no_approval: str
    """Why nobody can approve it; empty if somebody can."""
    may_break_glass: bool

    @property
    def waits(self) -> bool:
        """Whether it waits for a human."""
        return str(self.explanation["state"]) == "held"

    @property
    def longest(self) -> str:
        """How long an approval may wait for the call."""
        return duration_text(self.rule.longest.total_seconds())

    @property
    def consents(self) -> list[Mapping[str, Any]]:
        """The approvals so far."""
        return [
            answer
            for answer in self.explanation["approval"]["answers"]
            if answer["stage"] == "approved" and not answer.get("ended_with")
        ]

    @property
    def missing(self) -> int:
        """How many more people must approve it."""
        return max(0, self.rule.people - len({answer["by"] for answer in self.consents}))

    @property
    def as_command(self) -> list[str]:
        """The call as a command line, for its own actor."""
        motive = self.explanation["motive"] or {}
        options = [("--intent", motive.get("intent")), ("--motivation", motive.get("motivation"))]
        options += [("--why", motive.get("text")), *(("--evidence", each) for each in motive.get("evidence", ()))]
        options += [("--wanted-for", f"{motive['wanted_seconds']}s" if motive.get("wanted_seconds") else "")]
        options += [("--region", self.call.get("region"))]
        given = [word for name, value in options if value for word in (name, str(value))]
        parameters = json.dumps(self.call["parameters"], sort_keys=True)
        return ["sentinel", "propose", self.call["service"], self.call["operation"], parameters, *given]


def card_of(mutation_id: str, explanation: Mapping[str, Any], call: Mapping[str, Any], visitor: Caller) -> MutationCard:
    """The card of a mutation, from its explanation and its call."""
    rule = approval_rule_from_json(explanation["approval"]["needs"])
    requesters = (str(explanation["actor"]), str(explanation["on_behalf_of"]))
    return MutationCard(
        id=mutation_id,
        explanation=explanation,
        call=call,
        changes=tuple(_change(effect) for effect in explanation["facts"]["effects"]),
        losers=_losers(explanation),
        rule=rule,
        why_not=objection(visitor, rule) or own_objection(visitor, mutation_id, requesters),
        why_no_approval=""
        if call.get("whole", True)
        else "It cannot be approved: it is too large to be kept whole, or a secret in what it runs is masked, so nobody can see all of it.",
        may_break_glass=not glass_objection(visitor),
    )


def _change(effect: Mapping[str, Any]) -> ShownChange:
    secret = bool(effect["sensitive"])
    return ShownChange(
        address=effect["address"],
        attribute=effect["attribute"],
        action=effect["action"],
        implied=bool(effect["implied"]),
        contract=effect["contract"],
        difference=Difference(lines=()) if secret else difference(effect["before"], effect["value"]),
        unseen=secret,
        consequence=consequence(EffectAction(effect["action"]), effect["attribute"]),
        plain=None if secret else _plain(effect["before"], effect["value"]),
    )


def _plain(before: Json, after: Json) -> tuple[str, str] | None:
    """Both values as they are shown in a line, if they fit; what was not set before is told so."""
    if before == after or any(isinstance(value, dict | list) for value in (before, after)):
        return None
    texts = ["not set" if value is None else value_text(value) for value in (before, after)]
    fits = all(len(text) <= _PLAIN and not text.startswith(('"{', '"[')) for text in texts)
    return (texts[0], texts[1]) if fits else None


def _losers(explanation: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The claims that end: those of rivals with their holders, others by their ids."""
    ending = [*explanation["approval"]["would_end"], *explanation["supersedes"]]
    contest = explanation["contest"] or {"rivals": ()}
    known = {rival["claim"]: rival for rival in contest["rivals"]}
    return tuple(known.get(claim, {"claim": claim}) for claim in dict.fromkeys(ending))
