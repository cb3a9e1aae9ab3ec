"""The ready-made keys of `sentinel up`: issued at its first start, found again at the next."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from gateway.model.caller import ActorKind
from gateway.model.motive import Intent, Motivation, Motive
from gateway.ports import Key, KeyRing

_LASTS = timedelta(days=90)
_ENOUGH = timedelta(days=1)
"""A key that ends sooner is replaced."""

_KEYS: dict[str, tuple[str, ActorKind, tuple[str, ...], Motive | None]] = {
    "agent": ("agent-scaler", ActorKind.AGENT, (), None),
    "human": ("you", ActorKind.HUMAN, ("approver", "operator"), None),
    "pipeline": ("terraform", ActorKind.PIPELINE, (), Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)),
    "optimizer": ("agent-optimizer", ActorKind.AGENT, (), None),  # the other agent of the tour
    "reconciler": ("reconciler", ActorKind.SERVICE, (), None),
}


async def demo_keys(ring: KeyRing) -> Mapping[str, Key]:
    """The keys by the name that `--as` takes, and `reconciler`; what is missing, revoked or about to end is issued."""
    soon = datetime.now(UTC) + _ENOUGH
    known = {
        (key.actor, key.kind, key.roles, key.motive): key
        for key in reversed(await ring.all())  # the newest of an actor last, so that it is the one that stays
        if not key.is_session and not key.ended(soon)
    }
    return {
        name: known.get((actor, kind, roles, motive))
        or await ring.issue(actor=actor, kind=kind, roles=roles, motive=motive, lasts=_LASTS)
        for name, (actor, kind, roles, motive) in _KEYS.items()
    }
