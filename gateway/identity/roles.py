"""The roles of the gateway: who may assume one, and what the assumed key may do, which is never more than the key that asked.

The principal stays who it was: an assumed key has the actor of the key that asked, so stops, budgets and the rule that nobody approves their own
call reach it, whatever the role and the session are called.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from gateway.core.errors import Malformed, NotAllowed
from gateway.core.http.motive_syntax import motive_of
from gateway.core.model.approval import DECIDING
from gateway.core.model.caller import ActorKind, Assumed, Caller
from gateway.core.model.motive import Motive, ceiling_text, exceeds
from gateway.core.ports import Key
from gateway.core.settings.roles import ACTOR_NAME, RoleSettings

TAG_PREFIX: Final = "sentinel:"
"""Begins the session tags that state the motive."""
_TAGS: Final = ("intent", "motivation", "evidence", "text", "wanted_for")
_MOST_TAGS: Final = 50
_ARN: Final = re.compile(r"arn:aws(?:-[a-z]+)*:iam::(\d{12}):role/(?:[\x21-\x7e]*/)?([A-Za-z0-9+=,.@_-]{1,64})")
_LONGEST_ARN: Final = 2048
_NAME: Final = re.compile(r"[A-Za-z0-9_+=,.@-]{2,64}")
SHORTEST: Final = timedelta(minutes=15)
"""The shortest session of AWS's token service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest:
    """What was asked for."""

    role: str
    """The role as it was asked for, by its ARN or its name."""
    name: str
    """The session name."""
    motive: Motive | None = None
    """Of the session tags."""
    lasts: timedelta | None = None
    """None for the usual time: one hour, or less if the role allows only that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The roles of the settings."""

    settings: tuple[RoleSettings, ...] = ()
    account: str = ""
    """The account of the gateway, if it is set."""

    @property
    def names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(role.name for role in self.settings)

    @property
    def accounts(self) -> Mapping[str, str]:
        """The account that the calls of a role go to, by its name, for those that name one."""
        return {role.name: role.account_of_calls for role in self.settings if role.account_of_calls}

    def of_arn(self, arn: str) -> RoleSettings:
        """The role that this ARN names. Raises `errors.NotAllowed`, `errors.Malformed`."""
        found = _ARN.fullmatch(arn) if len(arn) <= _LONGEST_ARN else None
        if found is None:
            raise Malformed(f"{arn[:100]!r} is no ARN of a role, like arn:aws:iam::123456789012:role/deployer.")
        account, name = found.groups()
        for role in self.settings:
            here = role.account_of_calls or self.account
            if role.arn == arn or (not role.arn and role.name == name and here in ("", account)):
                return role
        raise unknown_role(arn)

    def named(self, name: str) -> RoleSettings:
        """The role of this name. Raises `errors.NotAllowed`."""
        for role in self.settings:
            if role.name == name:
                return role
        raise unknown_role(name)


def unknown_role(name: str) -> NotAllowed:
    """No such role, or one that does not trust the caller: one sentence for both, as AWS has, so that nobody finds out which there are."""
    return NotAllowed(
        f"The role {name[:200]} may not be assumed by you at this gateway. No key was made. Its roles are in [[roles]] of its settings, "
        "each with the actors that it trusts; a role of AWS itself is not assumed through Sentinel."
    )


def assumed_key(caller: Caller, role: RoleSettings, wish: SessionRequest) -> tuple[Key, timedelta]:
    """The key that a caller may have in the role, without id and secret, and how long it lasts.

    Raises `errors.NotAllowed` if the role does not trust the caller, or would give it more than its key has, `errors.Malformed`.
    """
    if not matches(caller.actor, role.trusts):
        raise unknown_role(wish.role)
    kind = role.kind or caller.kind
    if kind not in (caller.kind, ActorKind.AGENT):
        raise NotAllowed(
            f"The role {role.name} is for the kind {kind.value}, and your key is of the kind {caller.kind.value}: a role keeps the kind of the "
            "key, or makes it an agent. No key was made."
        )
    if more := sorted(set(role.roles) - set(caller.roles)):
        raise NotAllowed(
            f"The role {role.name} has the role `{more[0]}`, which your key has not: a role gives nothing that the key has not. No key was made; "
            "ask for a key with it (`sentinel key create --role`)."
        )
    motive = _motive(role, wish.motive, caller)
    return Key(
        id="",
        secret="",
        actor=caller.actor,
        kind=kind,
        roles=role.roles,
        on_behalf_of=caller.on_behalf_of,
        motive=motive,
        motive_only=role.only or caller.motive_only,
        assumed=Assumed(role=role.name, name=session_name(wish.name), parent=caller.key_id),
    ), _lasts(role, wish.lasts)


def web_identity_key(
    role: RoleSettings, wish: SessionRequest, *, subject: str, claims: Mapping[str, object]
) -> tuple[Key, timedelta]:
    """The key of a web identity whose token was verified, and how long it lasts. `subject` names issuer and `sub`.

    Raises `errors.NotAllowed` if a claim names nobody, or the motive exceeds the role's.
    """
    identity = role.web_identity
    if identity is None or role.kind is None:
        raise unknown_role(wish.role)
    return Key(
        id="",
        secret="",
        actor=_named(claims, identity.actor_claim) if identity.actor_claim else role.name,
        kind=role.kind,
        roles=role.roles,
        on_behalf_of=_named(claims, identity.on_behalf_of_claim) if identity.on_behalf_of_claim else "",
        motive=_motive(role, wish.motive, None),
        motive_only=role.only,
        assumed=Assumed(role=role.name, name=session_name(wish.name), subject=subject),
    ), _lasts(role, wish.lasts)


def own_key(caller: Caller, wish: SessionRequest, *, roles: tuple[str, ...] = ()) -> Key:
    """A key without a role of the gateway: the caller's actor and kind, and of its roles only these.

    For a federated user, whom the caller vouches for, and for clients that fetch their keys (`sentinel credentials`). Raises
    `errors.NotAllowed`, also if the caller is in a session itself, `errors.Malformed`.
    """
    if caller.in_session:
        raise NotAllowed("This needs a standing key, as at AWS; assume a role with a session key. No key was made.")
    _within(wish.motive, caller.motive, ceiling=caller.motive_only)
    return Key(
        id="",
        secret="",
        actor=caller.actor,
        kind=caller.kind,
        roles=tuple(role for role in caller.roles if role in roles and role not in DECIDING),
        on_behalf_of=caller.on_behalf_of,
        motive=wish.motive or caller.motive,
        motive_only=caller.motive_only,
        assumed=Assumed(name=session_name(wish.name), parent=caller.key_id),
    )


def motive_of_tags(tags: Sequence[tuple[str, str]]) -> Motive | None:
    """The motive that session tags state (`sentinel:intent`, `sentinel:motivation`, and if wanted `sentinel:evidence`, `sentinel:text`,
    `sentinel:wanted_for`); None if none does. Other tags mean nothing here.

    Evidence is separated by blanks or commas, since a tag's value at AWS has no comma. Raises `errors.Malformed`.
    """
    if len(tags) > _MOST_TAGS:
        raise Malformed(f"A session has at most {_MOST_TAGS} tags. No key was made.")
    given: dict[str, str] = {}
    for name, value in tags:
        if not name.lower().startswith(TAG_PREFIX):
            continue
        member = name[len(TAG_PREFIX) :]
        if member not in _TAGS or not name.startswith(TAG_PREFIX):
            known = ", ".join(TAG_PREFIX + each for each in _TAGS)
            raise Malformed(f"There is no session tag {name[:60]!r}; Sentinel knows {known}. No key was made.")
        if member in given:
            raise Malformed(f"The session tag {name[:60]} is given twice. No key was made.")
        given[member] = value
    if not given:
        return None
    if missing := {"intent", "motivation"} - given.keys():
        raise Malformed(
            f"The session tags state a motive without {TAG_PREFIX}{min(missing)}; both are needed. No key was made."
        )
    return motive_of(
        intent=given["intent"],
        motivation=given["motivation"],
        text=given.get("text", ""),
        evidence=tuple(re.split(r"[\s,]+", given["evidence"].strip(" ,")))
        if given.get("evidence", "").strip(" ,")
        else (),
        wanted_for=given.get("wanted_for", ""),
    )


def session_name(name: str) -> str:
    """The name of a session. Raises `errors.Malformed`."""
    if not _NAME.fullmatch(name):
        raise Malformed(
            f"{name[:64]!r} is no session name: it has 2 to 64 letters, digits and characters of `_+=,.@-`. No key was made."
        )
    return name


def matches(text: str, patterns: Sequence[str]) -> bool:
    """Whether the text is one of the patterns, in which `*` is any text."""
    return any(_fits(text, pattern) for pattern in patterns)


def _fits(text: str, pattern: str) -> bool:
    """Linear in the text for each part of the pattern: the first place where a part fits is as good as any later one."""
    first, *middle = pattern.split("*")
    if not middle:
        return text == pattern
    if not text.startswith(first):
        return False
    *middle, last = middle
    at = len(first)
    for part in middle:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return len(text) - at >= len(last) and text.endswith(last)


def _motive(role: RoleSettings, stated: Motive | None, caller: Caller | None) -> Motive | None:
    """The motive of the key. Raises `errors.NotAllowed` if it exceeds what the role or the caller's key may state."""
    own = role.motive
    _within(stated, own, ceiling=role.only)
    ceiling = caller is not None and caller.motive_only
    theirs = caller.motive if caller is not None else None
    chosen = stated or own or theirs
    _within(chosen, theirs, ceiling=ceiling)
    return chosen


def _within(stated: Motive | None, most: Motive | None, *, ceiling: bool) -> None:
    if ceiling and stated is not None and (most is None or exceeds(stated, most)):
        raise NotAllowed(
            f"{ceiling_text(most)} The session would state {stated.intent}/{stated.motivation}. No key was made."
        )


def _lasts(role: RoleSettings, asked: timedelta | None) -> timedelta:
    """How long the key lasts. Raises `errors.Malformed` for longer than the role allows, or shorter than AWS does."""
    if asked is None:
        return min(timedelta(hours=1), role.longest)
    if asked > role.longest:
        hours = f"{role.longest_hours:g}"
        raise Malformed(f"The role {role.name} lasts at most {hours} hours (`longest_hours`). No key was made.")
    if asked < SHORTEST:
        raise Malformed("A session lasts 900 seconds or more. No key was made.")
    return asked


def _named(claims: Mapping[str, object], claim: str) -> str:
    """The actor that a claim names."""
    found = claims.get(claim)
    if not isinstance(found, str) or not ACTOR_NAME.fullmatch(found):
        raise NotAllowed(
            f"The token's claim `{claim}` names no actor: that has up to 100 letters, digits and characters of `._@/+-`. No key was made."
        )
    return found
