"""Twenty actors that want different values for the same attributes, for ever: what each wants, for which goal, and why."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.model.caller import ActorKind
from tests.bench.contention.callers import Message

CONTESTED: Final = 50
"""Attributes that all actors want."""
_OWN_EVERY: Final = 10
"""One wish in this many is for the actor's own attribute, which nobody else wants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """One actor and its standing motive."""

    name: str
    number: int
    kind: ActorKind
    intent: str
    motivation: str
    evidence: Sequence[str] = ()

    @property
    def motive(self) -> str:
        """Goal and reason in one word, with a mark where nothing supports the reason."""
        return f"{self.intent}/{self.motivation}{'' if self.evidence else ' (nothing supports it)'}"

    @property
    def own_queue(self) -> int:
        """The number of the queue that only this actor wants."""
        return CONTESTED + self.number


_MOTIVES: Final = (
    (ActorKind.HUMAN, "availability", "incident", ("A-1",)),
    (ActorKind.HUMAN, "cost", "budget", ("Q3",)),
    (ActorKind.AGENT, "availability", "incident", ("A-2",)),
    (ActorKind.AGENT, "availability", "incident", ()),
    (ActorKind.AGENT, "security", "vulnerability", ("CVE-2026-1",)),
    (ActorKind.AGENT, "security", "vulnerability", ()),
    (ActorKind.AGENT, "performance", "launch", ("L-1",)),
    (ActorKind.AGENT, "cost", "budget", ("Q3",)),
    (ActorKind.AGENT, "cost", "experiment", ("X-1",)),
    (ActorKind.PIPELINE, "consistency", "routine", ("apply",)),
)
ACTORS: Final = tuple(
    Actor(
        name=f"{kind.value}-{number}",
        number=number,
        kind=kind,
        intent=intent,
        motivation=motivation,
        evidence=evidence,
    )
    for number, (kind, intent, motivation, evidence) in enumerate(_MOTIVES * 2)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One wish in the loop of an actor."""

    actor: Actor
    queue: int
    value: int

    @property
    def contested(self) -> bool:
        """Whether others want the attribute too."""
        return self.queue < CONTESTED

    def message(self, key: str) -> Message:
        """As it is sent, with this idempotency key."""
        return Message(actor=self.actor.name, idempotency_key=key, body=self._body())

    def _body(self) -> Mapping[str, Any]:
        actor = self.actor
        return {
            "service": "sqs",
            "operation": "SetQueueAttributes",
            "parameters": {
                "QueueUrl": f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{self.queue}",
                "Attributes": {"VisibilityTimeout": str(self.value)},
            },
            "motive": {"intent": actor.intent, "motivation": actor.motivation, "evidence": list(actor.evidence)},
        }


def rounds(actor: Actor, count: int) -> Iterator[Round]:
    """The wishes of one actor. Of each contested attribute it always wants the same value, which no other actor wants."""
    chosen = random.Random(actor.number)  # noqa: S311  examples, no secrets
    for number in range(count):
        if number % _OWN_EVERY == 0:
            yield Round(actor=actor, queue=actor.own_queue, value=number)
        else:
            yield Round(actor=actor, queue=chosen.randrange(CONTESTED), value=actor.number)


def actor_of(value: int) -> Actor:
    """Whose value of a contested attribute this is."""
    return ACTORS[value]
