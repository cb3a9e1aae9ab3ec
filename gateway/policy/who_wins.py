"""Asks the arbitration policy in force who would win between two motives, of a change and of a claim that are only thought of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from gateway.core.errors import Malformed, PolicyUnavailable
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, Relation, StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.verdict import Mode, Verdict
from gateway.core.ports import Clock
from gateway.line.checks import contest
from gateway.line.checks.arbitration import arbitrated, arbitration_findings
from gateway.line.checks.policy_answer import member, only
from gateway.line.checks.policy_input import policy_input
from gateway.line.checks.priorities import priorities_of
from gateway.policy.bundle import RunningEngine

_KEPT: Final = 64
_STACK: Final = re.compile(r"[a-z0-9-]{0,63}")
_TYPE: Final = "aws_autoscaling_group"
_ATTRIBUTE: Final = "desired_capacity"
_ASKS, _HOLDS = "the one who asks", "the holder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two: who, and why."""

    kind: ActorKind = ActorKind.AGENT
    intent: Intent | None = None
    """None without a motive."""
    motivation: Motivation | None = None
    proven: bool = True
    """Whether its evidence holds, where the motivation needs some."""

    def motive(self, numbers: Mapping[str, Any]) -> Motive | None:
        """The motive, with evidence of the form that the numbers ask for if it is proven."""
        if self.intent is None or self.motivation is None:
            return None
        prefixes = numbers.get("proof", {}).get(self.motivation.value, []) if self.proven else []
        return Motive(
            intent=self.intent, motivation=self.motivation, evidence=tuple(f"{each}2026-0001" for each in prefixes[:1])
        )

    def to_json(self) -> dict[str, Json]:
        """The side in answers."""
        return {
            "kind": self.kind.value,
            "intent": self.intent and self.intent.value,
            "motivation": self.motivation and self.motivation.value,
            "proven": self.proven,
        }


@dataclass(slots=True, kw_only=True)
class WhoWins:
    """Answers for a change of one attribute that another actor holds. The answers are the policy's own, and are kept while it is in force."""

    engine: RunningEngine
    clock: Clock
    _kept: dict[tuple[str, str, Side, Side], dict[str, Any]] = field(default_factory=dict)

    async def between(self, asks: Side, holds: Side, stack: str = "") -> dict[str, Any]:
        """Who wins, by which scores, and the table of all motivations for the intents and kinds of the two.

        Raises `errors.Malformed` for a name that no stack can have, `errors.PolicyUnavailable` if the policies do not tell.
        """
        if not _STACK.fullmatch(stack):
            raise Malformed("The name of a stack has small letters, digits and hyphens.")
        key = self.engine.revision, stack, asks, holds
        if key not in self._kept:
            found = await self._asked(asks, holds, stack)
            if self.engine.revision != key[0]:
                return found
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[key] = found
        return self._kept[key]

    async def _asked(self, asks: Side, holds: Side, stack: str) -> dict[str, Any]:
        numbers = await priorities_of(self.engine, (stack,))
        values = numbers.numbers if isinstance(numbers.numbers, Mapping) else {}
        document = _document(asks, [holds], stack, values, self.clock.now())
        ranked = only(
            await self.engine.ask(contest.ENTRYPOINT, document),
            {"evaluated", "incoming", "rivals", "needed", "winning"},
        )
        rivals = member(ranked, "rivals", dict)
        if len(rivals) != 1:
            raise PolicyUnavailable("Arbitration saw no contest between the two.")
        [rival] = rivals.values()
        answer = await arbitrated(self.engine, document)
        findings = arbitration_findings(answer)
        denied = [each for each in findings if each.verdict is Verdict.DENY]
        decisive = next(iter(denied or findings), None)
        return {
            "stack": stack,
            "asks": {**asks.to_json(), **member(ranked, "incoming", dict)},
            "holds": {**holds.to_json(), "score": rival["score"], "terms": rival["terms"]},
            "outcome": rival["outcome"],
            "verdict": decisive.verdict.value if decisive else Verdict.ALLOW.value,
            "rule": decisive.rule if decisive else "",
            "reason": decisive.reason if decisive else "",
            "needed": ranked["needed"],
            "claim_seconds": member(answer, "obligations", dict).get("claim_seconds"),
            "table": await self._table(asks, holds, stack, values),
            "layers": list(numbers.layers),
            "priorities": numbers.revision,
            "numbers": values,
            "revision": self.engine.revision,
        }

    async def _table(self, asks: Side, holds: Side, stack: str, numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
        """For each motivation of the one who asks the outcome against each of the holder's; a question a row."""
        rows = []
        rivals = [
            replace(holds, intent=holds.intent or Intent.CONSISTENCY, motivation=motivation)
            for motivation in Motivation
        ]
        for motivation in Motivation:
            own = replace(asks, intent=asks.intent or Intent.CONSISTENCY, motivation=motivation)
            answer = await self.engine.ask(contest.ENTRYPOINT, _document(own, rivals, stack, numbers, self.clock.now()))
            ranked = member(only(answer, {"evaluated", "incoming", "rivals", "needed", "winning"}), "rivals", dict)
            outcomes = {
                rival.motivation.value: ranked.get(f"clm_{place}", {}).get("outcome", "")
                for place, rival in enumerate(rivals)
                if rival.motivation is not None
            }
            rows.append({"motivation": motivation.value, "outcomes": outcomes})
        return rows


def side_of(kind: str, intent: str, motivation: str, *, proven: bool) -> Side:
    """The side of these words; an empty intent or motivation stands for no motive. Raises `errors.Malformed` for an unknown word."""
    try:
        return Side(
            kind=ActorKind(kind or ActorKind.AGENT.value),
            intent=Intent(intent) if intent and motivation else None,
            motivation=Motivation(motivation) if intent and motivation else None,
            proven=proven,
        )
    except ValueError as error:
        raise Malformed(f"One of the two cannot be: {error}.") from None


def _document(
    asks: Side, rivals: Sequence[Side], stack: str, numbers: Mapping[str, Any], now: datetime
) -> Mapping[str, Json]:
    """The input of the policies for a change of one attribute of as many resources as there are rivals, each of whom holds one."""
    addresses = [f"{_TYPE}.example_{place}" for place, _ in enumerate(rivals)]
    effects = tuple(
        Effect(address=each, attribute=_ATTRIBUTE, action=EffectAction.SET, value=2, resource_type=_TYPE)
        for each in addresses
    )
    mutation = Mutation(
        id="mut_example",
        caller=Caller(actor=_ASKS, kind=asks.kind, key_id=""),
        call=Call(service="autoscaling", operation="SetDesiredCapacity"),
        call_class=CallClass.MUTATION,
        motive=asks.motive(numbers),
        effects=effects,
    )
    claims = tuple(
        StandingClaim(
            claim=Claim(
                id=f"clm_{place}",
                mutation_id="mut_other",
                address=addresses[place],
                attribute=_ATTRIBUTE,
                value=1,
                actor=_HOLDS,
                kind=rival.kind,
                motive=rival.motive(numbers),
                since=now,
            ),
            relation=Relation.SAME,
        )
        for place, rival in enumerate(rivals)
    )
    subjects = tuple(
        Subject(effect=each, before=1, declared=1, attributes_before={}, attributes_after={}, contract=Contract())
        for each in effects
    )
    return policy_input(
        mutation,
        Facts(now=now, stack=stack, stacks=(stack,), mode=Mode.ENFORCE, subjects=subjects, claims=claims),
    )
