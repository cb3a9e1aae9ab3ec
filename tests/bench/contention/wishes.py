"""What many actors want of the same queues: every wish of its own value, so that what arrives at AWS tells whose it was."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation

ACTORS: Final = {
    f"{kind.value}-{number}": kind
    for kind, count in ((ActorKind.AGENT, 12), (ActorKind.HUMAN, 4), (ActorKind.PIPELINE, 4))
    for number in range(count)
}
CONTENDERS_OF_A_QUEUE: Final = 20
LONGEST: Final = 43_200
"""The largest visibility timeout in seconds (Amazon SQS), so the most wishes that can be told apart."""
_MOTIVES: Final = [(intent.value, motivation.value) for intent in Intent for motivation in Motivation]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One actor's wish for one queue. Its value names it: no other wish has it."""

    actor: str
    queue: str
    value: int
    intent: str
    motivation: str
    evidence: Sequence[str]

    @property
    def idempotency_key(self) -> str:
        """The same whenever the wish is sent."""
        return f"wish-{self.value}"

    @property
    def recorded_key(self) -> str:
        """The same as the ledger has it: with the door in front."""
        return f"api:{self.idempotency_key}"

    def body(self) -> dict[str, Any]:
        """The body of `POST /v1/mutations`."""
        return {
            "service": "sqs",
            "operation": "SetQueueAttributes",
            "parameters": {
                "QueueUrl": f"https://sqs.us-east-1.amazonaws.com/123456789012/{self.queue}",
                "Attributes": {"VisibilityTimeout": str(self.value)},
            },
            "motive": {"intent": self.intent, "motivation": self.motivation, "evidence": list(self.evidence)},
        }


def wishes(count: int, *, seed: int = 0) -> Iterator[Wish]:
    """`count` wishes; those that follow each other mostly want the same queue."""
    chosen = random.Random(seed)  # noqa: S311  examples, no secrets
    actors = list(ACTORS)
    for number in range(count):
        intent, motivation = chosen.choice(_MOTIVES)
        near = number // CONTENDERS_OF_A_QUEUE + chosen.choice((0, 0, 0, 1))
        yield Wish(
            actor=chosen.choice(actors),
            queue=f"queue-{min(near, queues(count) - 1)}",
            value=number,
            intent=intent,
            motivation=motivation,
            evidence=("CVE-2026-1", "A-1") if chosen.random() < 0.5 else (),
        )


def queues(count: int) -> int:
    """How many queues that many wishes want."""
    return max(1, count // CONTENDERS_OF_A_QUEUE)
