"""The demo keys of `sentinel up`: one for each kind of actor."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.ports import Key, KeyRing

_LASTS = timedelta(days=90)
_MIN_REMAINING = timedelta(days=1)
"""A key that expires sooner is replaced."""

_KEYS: dict[str, tuple[str, ActorKind, tuple[str, ...], Motive | None]] = {
    "agent": ("agent-scaler", ActorKind.AGENT, (), None),
    "human": ("you", ActorKind.HUMAN, ("approver", "operator"), None),
    "pipeline": ("terraform", ActorKind.PIPELINE, (), Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)),
    "optimizer": ("agent-optimizer", ActorKind.AGENT, (), None),  # the other agent of the tour
    "reconciler": ("reconciler", ActorKind.SERVICE, ("reconciler",), None),
}


async def demo_keys(keyring: KeyRing) -> Mapping[str, Key]:
    """The keys by the name that `--as` takes, and `reconciler`. Keys that are missing, revoked or about to expire are issued."""
    soon = datetime.now(UTC) + _MIN_REMAINING
    known = {
        (key.actor, key.kind, key.roles, key.motive): key
        for key in reversed(await keyring.standing())  # oldest first, so that the newest key of an actor wins
        if not key.is_session and not key.ended(soon)
    }
    return {
        name: known.get((actor, kind, roles, motive))
        or await keyring.issue(actor=actor, kind=kind, roles=roles, motive=motive, lasts=_LASTS)
        for name, (actor, kind, roles, motive) in _KEYS.items()
    }
