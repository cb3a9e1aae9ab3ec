"""Settings of the roles that clients assume at the gateway, as they assume AWS's: which kind, roles and ceiling of motive they have, and who may."""

import re
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from gateway.core.errors import Malformed
from gateway.core.http.motive_syntax import duration
from gateway.core.model.approval import DECIDING
from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.settings.console import require_secure_url
from gateway.core.settings.stacks import ROLE_ARN
from gateway.core.settings.table import SettingsTable

ACTOR_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@/+-]{0,99}")
"""The names of actors and roles: they are shown in records, commits and terminals."""

_Pattern = Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,500}$")]
_Claim = Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_:/.-]{0,199})?$")]


class WebIdentitySettings(SettingsTable):
    """Tokens of an OpenID Connect provider (GitHub Actions, Kubernetes, a company's login) that may assume a role without a key."""

    issuer: Annotated[str, Field(min_length=1, max_length=500)]
    """The provider as its tokens name it to the last character, e.g. `https://token.actions.githubusercontent.com`."""
    audiences: Annotated[tuple[_Pattern, ...], Field(min_length=1)] = ("sts.amazonaws.com",)
    """For whom tokens are made; one of these must be in `aud`."""
    subjects: Annotated[tuple[_Pattern, ...], Field(min_length=1)]
    """Which `sub` may assume the role, with `*` for any text, e.g. `repo:acme/shop:ref:refs/heads/main` or
    `system:serviceaccount:shop:deployer`."""
    actor_claim: _Claim = ""
    """The claim that names the actor, of which be sure that nobody can choose it; default: the role's name is the actor."""
    on_behalf_of_claim: _Claim = ""
    """The claim that names the person behind, who then approves none of it, e.g. `actor` of GitHub's tokens."""

    @model_validator(mode="after")
    def _is_safe(self) -> Self:
        require_secure_url(self.issuer, loopback=True)
        if "?" in self.issuer:
            raise ValueError("`issuer` has no query.")
        if any(not subject.strip("*") for subject in self.subjects):
            raise ValueError(
                "`subjects` would let everybody in whom the provider knows; name at least a repository or a namespace."
            )
        return self


class RoleSettings(SettingsTable):
    """A role that clients assume with `sts:AssumeRole` at the gateway. It gives nothing that its caller's key has not: a role narrows."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+=,.@_-]{0,63}$")]
    """The role's name, the last part of the ARN by which clients name it."""
    arn: Annotated[str, Field(pattern=ROLE_ARN)] = ""
    """The ARN by which clients name it, if they have one of a role of AWS already. Default: `arn:aws:iam::ACCOUNT:role/NAME` with the
    account of the role or of the gateway, and any account where neither is set."""
    account: Annotated[str, Field(pattern=r"^(\d{12})?$")] = ""
    """AWS account that its calls go to; default: the one in `arn`, else the setting `account`."""
    kind: ActorKind | None = None
    """Kind of actor: that of the caller's key, or `agent`. Default: that of the key. A role for web identities needs one."""
    roles: tuple[Annotated[str, Field(pattern=rf"^{ACTOR_NAME.pattern}$")], ...] = ()
    """Roles of the assumed key, e.g. `stack/shop`. The caller's key must have each of them. Roles that decide (`approver`, `operator`,
    `break-glass`, `reconciler`) are never handed on."""
    intent: Intent | None = None
    """The motive of its calls that state no other; needs `motivation`."""
    motivation: Motivation | None = None
    """Why now; needs `intent`."""
    wanted_for: str = ""
    """How long its changes are wanted, e.g. `2h`; needs `intent`."""
    only: bool = False
    """Whether this motive is a ceiling: no tag and no call may state another one, or a longer time."""
    trusts: tuple[_Pattern, ...] = ()
    """Actors that may assume it with their keys, with `*` for any text; nobody by default."""
    longest_hours: Annotated[float, Field(ge=0.25, le=12)] = 1.0
    """How long an assumed key lasts at most. It ends with the key that assumed it in any case."""
    web_identity: WebIdentitySettings | None = None
    """Whose tokens assume it without a key; nobody's by default."""

    @property
    def motive(self) -> Motive | None:
        """The motive, None if it has none."""
        if self.intent is None or self.motivation is None:
            return None
        wanted = duration(self.wanted_for, "`wanted_for`") if self.wanted_for else None
        return Motive(intent=self.intent, motivation=self.motivation, wanted_for=wanted)

    @property
    def longest(self) -> timedelta:
        """`longest_hours` as a duration."""
        return timedelta(hours=self.longest_hours)

    @property
    def account_of_calls(self) -> str:
        """The account that its calls go to, as far as it says one."""
        return self.account or (self.arn.split(":")[4] if self.arn else "")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if decides := sorted(DECIDING.intersection(self.roles)):
            message = f"No role hands on `{decides[0]}`: what decides about others comes from a key of its owner's own."
            raise ValueError(message)
        if (self.intent is None) is not (self.motivation is None):
            raise ValueError("`intent` and `motivation` belong together: give both, or neither.")
        try:
            motive = self.motive
        except Malformed as error:
            raise ValueError(str(error)) from None
        if motive is None and (self.only or self.wanted_for):
            raise ValueError("`only` and `wanted_for` need `intent` and `motivation`.")
        if self.web_identity is not None and self.kind is None:
            raise ValueError("A role with `web_identity` needs `kind`: no key says which one it is.")
        return self


def distinct_roles(roles: Sequence[RoleSettings]) -> Sequence[RoleSettings]:
    """The roles. Raises ValueError if two have the same name or ARN."""
    for what in ([role.name for role in roles], [role.arn for role in roles if role.arn]):
        if len(set(what)) != len(what):
            raise ValueError("Two roles have the same name or ARN.")
    return roles


def check_role_accounts(roles: Sequence[RoleSettings], accounts: Collection[str]) -> None:
    """Raise ValueError if a role is for an account that the gateway has no credentials of: its calls would be judged for one account, and reach another."""
    for role in roles:
        if role.account_of_calls not in accounts:
            message = (
                f"roles: the calls of `{role.name}` would go to the account {role.account_of_calls}, of which the gateway has no credentials. "
                "Set `account` if it is the gateway's own, or `assume_role` of a stack in it."
            )
            raise ValueError(message)
