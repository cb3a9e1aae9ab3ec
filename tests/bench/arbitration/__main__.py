"""Who wins, at machine speed: `python -m tests.bench.arbitration [--rounds N]` (`make bench-arbitration`). One JSON object a figure.

Twenty actors in loops want 50 attributes, and each one of its own that nobody else wants. The same wishes, one of each actor in turn, are then given
to two baselines: the last writer wins, and Kubernetes' force-or-fail. Two agents that set one attribute in turn follow, once with one motive and
once outbidding each other.
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from pathlib import Path

from gateway.core.model.motive import Intent, Motivation
from tests.bench.arbitration.actors import ACTORS, CONTESTED, rounds
from tests.bench.arbitration.baselines import Holders, force_or_fail, last_writer_wins
from tests.bench.arbitration.play import Play, play, quarrel
from tests.bench.figure import quantile, show

TURNS = 200
"""Of each of two agents that set one attribute in turn."""
SAME = (("availability", "incident"),)
OUTBIDDING = tuple(
    (intent.value, motivation.value) for motivation in reversed(Motivation) for intent in reversed(Intent)
)
"""Every motive, roughly from the lowest to the highest."""


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        played = asyncio.run(play(Path(directory), arguments.rounds))
    asked = sum(wish.contested for wish in played.asked)
    _show_speed(played)
    _show_holders("sentinel", played.holders, refused=asked - played.holders.applied)
    # In turn, not in the order in which Sentinel answered: it refuses faster than it carries out, so losers are through with their loops first.
    turns = zip(*(rounds(actor, arguments.rounds // len(ACTORS)) for actor in ACTORS), strict=True)
    contested = [wish for turn in turns for wish in turn if wish.contested]
    for name, baseline in (("last_writer_wins", last_writer_wins), ("force_or_fail", force_or_fail)):
        holders = baseline(contested)
        _show_holders(name, holders, refused=holders.refused)
    for name, motives in (("same_motive", SAME), ("outbidding", OUTBIDDING)):
        with tempfile.TemporaryDirectory() as directory:
            flips = asyncio.run(quarrel(Path(directory), motives, TURNS))
        show(f"arbitration.two_agents.{name}.flips", flips, "flips", n=2 * TURNS)


def _show_speed(played: Play) -> None:
    count = len(played.asked)
    show("arbitration.decisions", count / played.seconds, "decisions/s", n=count)
    for answer, times in sorted(played.answers.items()):
        show(f"arbitration.{answer}", times, "wishes", n=count)
    waits = played.uncontested_seconds
    show("arbitration.uncontested.longest_wait", max(waits), "s", floor=quantile(waits, 0.5), n=len(waits))
    show("arbitration.uncontested.refused", played.uncontested_refused, "wishes", n=len(waits))


def _show_holders(name: str, holders: Holders, *, refused: int) -> None:
    """How often attributes changed hands, and which motives hold them at the end."""
    flips = [holders.flips.get(queue, 0) for queue in range(CONTESTED)]
    asked = holders.applied + refused
    show(f"arbitration.{name}.flips.most", max(flips), "flips", n=CONTESTED)
    show(f"arbitration.{name}.flips.all", sum(flips), "flips", n=asked)
    winners = Counter(actor.motive for actor in holders.holder.values())
    told = {motive: winners.get(motive, 0) for motive in dict.fromkeys(actor.motive for actor in ACTORS)}
    print(json.dumps({"name": f"arbitration.{name}.winners", "value": told, "unit": "attributes", "n": CONTESTED}))


if __name__ == "__main__":
    main()
