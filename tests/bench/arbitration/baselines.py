"""What the same wishes come to where nothing knows why: the last writer wins, or fields have owners and may be forced."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tests.bench.arbitration.actors import Actor, Round

_FORCING: Final = {"incident", "vulnerability"}


@dataclass
class Holders:
    """Who holds each attribute, and how often it changed hands."""

    holder: dict[int, Actor] = field(default_factory=dict)
    flips: dict[int, int] = field(default_factory=dict)
    applied: int = 0
    refused: int = 0

    def apply(self, wish: Round) -> None:
        """The wish is carried out."""
        self.applied += 1
        before = self.holder.get(wish.queue)
        if before is not None and before != wish.actor:
            self.flips[wish.queue] = self.flips.get(wish.queue, 0) + 1
        self.holder[wish.queue] = wish.actor


def last_writer_wins(wishes: Iterable[Round]) -> Holders:
    """Every wish is carried out, as AWS does by itself."""
    holders = Holders()
    for wish in wishes:
        holders.apply(wish)
    return holders


def force_or_fail(wishes: Iterable[Round]) -> Holders:
    """As Kubernetes' server-side apply: another's field is a conflict, which fails unless it is forced.

    Whether to force is up to the caller; here those do who say that it is urgent, and nobody asks whether it is.
    https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
    """
    holders = Holders()
    for wish in wishes:
        owner = holders.holder.get(wish.queue)
        if owner is None or owner == wish.actor or wish.actor.motivation in _FORCING:
            holders.apply(wish)
        else:
            holders.refused += 1
    return holders
