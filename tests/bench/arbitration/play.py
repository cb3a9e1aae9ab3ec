"""Plays actors against each other through a gateway: each in a loop of its own, as fast as it is answered."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import perf_counter

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from tests.bench.arbitration.actors import ACTORS, CONTESTED, Actor, Round, rounds
from tests.bench.arbitration.baselines import Holders
from tests.bench.contention.aws import RememberingAws, remembering_aws
from tests.bench.contention.callers import Caller, Message
from tests.bench.contention.gateways import gateways, issue, settings_of
from tests.bench.contention.stack import write_queues

_APPLIED = 200
_HELD = 202


@dataclass
class Play:
    """What came of it."""

    asked: list[Round] = field(default_factory=list)
    """The wishes in the order in which they were answered."""
    answers: Counter[str] = field(default_factory=Counter)
    uncontested_seconds: list[float] = field(default_factory=list)
    """How long each wish that nobody contests took until it was applied."""
    uncontested_refused: int = 0
    holders: Holders = field(default_factory=Holders)
    seconds: float = 0.0

    def take(self, wish: Round, status: int, seconds: float) -> None:
        """Note one answer."""
        self.asked.append(wish)
        self.answers[{_APPLIED: "applied", _HELD: "held"}.get(status, "refused")] += 1
        if not wish.contested:
            self.uncontested_seconds.append(seconds)
            self.uncontested_refused += status != _APPLIED


async def play(directory: Path, count: int) -> Play:
    """`count` wishes of all actors together, in an empty directory."""
    played = Play()
    async with _world(directory, {actor.name: actor.kind for actor in ACTORS}) as (port, keys, aws):
        began = perf_counter()
        async with asyncio.TaskGroup() as group:
            for actor in ACTORS:
                group.create_task(_loop(Caller(port=port, keys=keys), rounds(actor, count // len(ACTORS)), played))
        played.seconds = perf_counter() - began
        for queue in range(CONTESTED):
            for value in aws.arrived(f"queue-{queue}"):
                played.holders.apply(Round(actor=ACTORS[value], queue=queue, value=value))
    return played


@asynccontextmanager
async def _world(
    directory: Path, actors: Mapping[str, ActorKind]
) -> AsyncIterator[tuple[int, Mapping[str, Key], RememberingAws]]:
    """The port of a gateway in front of an AWS that remembers, with a key for each actor."""
    settings = settings_of(directory / "data", "")
    keys = await issue(settings, actors)
    write_queues(directory / "stack", CONTESTED + len(ACTORS))
    async with (
        remembering_aws() as aws,
        gateways(
            1, data=settings.data, ledger=settings.ledger_url, stack=directory / "stack", upstream=aws.port
        ) as running,
    ):
        yield running[0].port, keys, aws


async def _loop(caller: Caller, wishes: Iterator[Round], played: Play) -> None:
    for number, wish in enumerate(wishes):
        began = perf_counter()
        status, _ = await caller.send(wish.message(f"round-{wish.actor.number}-{number}"))
        played.take(wish, status, perf_counter() - began)
    await caller.close()


async def quarrel(directory: Path, motives: Sequence[tuple[str, str]], count: int) -> int:
    """Two agents set one attribute in turn, `count` times each, with the next of these motives (intent, motivation) every time.

    Returns how often the attribute changed hands at AWS.
    """
    pair = [_quarreling(number, motives, count) for number in range(2)]
    actors = {messages[0].actor: ActorKind.AGENT for messages in pair}
    async with _world(directory, actors) as (port, keys, aws):
        caller = Caller(port=port, keys=keys)
        for messages in zip(*pair, strict=True):
            for message in messages:
                await caller.send(message)
        await caller.close()
        values = aws.arrived("queue-0")
    return sum(before % 2 != after % 2 for before, after in pairwise(values))


def _quarreling(number: int, motives: Sequence[tuple[str, str]], count: int) -> Sequence[Message]:
    """What one of the two sends. Its values are even, or odd."""
    every = []
    for turn in range(count):
        intent, motivation = motives[min(2 * turn + number, len(motives) - 1)]
        actor = Actor(
            name=f"agent-{number}",
            number=number,
            kind=ActorKind.AGENT,
            intent=intent,
            motivation=motivation,
            evidence=("CVE-2026-1",),
        )
        every.append(Round(actor=actor, queue=0, value=2 * turn + number).message(f"turn-{number}-{turn}"))
    return every
