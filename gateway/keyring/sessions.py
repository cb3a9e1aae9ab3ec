"""Session keys never exceed the standing key that they are made with."""

from dataclasses import replace

from gateway.errors import NotAllowed
from gateway.model.motive import ceiling_text, exceeds
from gateway.ports import Key


def session_within(standing: Key, wanted: Key) -> Key:
    """The session key that may be issued: the wanted one, which ends with its standing key at the latest. Its motive is the only one that
    it may state if that is so for its standing key, whose motive it has if it asks for none.

    Raises `errors.NotAllowed` if it is another actor's, or has a role or a motive that the standing key has not.
    """
    if standing.is_session:
        raise NotAllowed("A session key cannot make further session keys; use the standing key it was made with.")
    who = (standing.actor, standing.kind, standing.on_behalf_of)
    if who != (wanted.actor, wanted.kind, wanted.on_behalf_of) or not set(wanted.roles) <= set(standing.roles):
        raise NotAllowed(f"A session of key {standing.id} has its actor, and no roles but its own. No key was made.")
    if standing.motive_only:
        wanted = replace(wanted, motive=wanted.motive or standing.motive, motive_only=True)
        if standing.motive is None or wanted.motive is None or exceeds(wanted.motive, standing.motive):
            raise NotAllowed(f"{ceiling_text(standing.motive)} No key was made.")
    ends = [moment for moment in (wanted.expires_at, standing.expires_at) if moment is not None]
    return replace(wanted, expires_at=min(ends, default=None))
