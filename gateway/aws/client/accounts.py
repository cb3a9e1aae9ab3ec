"""The credentials by account: the gateway's own, a role that it assumes there, or a session that is for one call.

A session that AWS refuses is a failure before the call is sent. Nothing is ever sent with wider rights instead.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import structlog

from gateway.aws.client.credentials import Credentials
from gateway.aws.client.mutations import Aws
from gateway.aws.client.outcome import parsed_reply
from gateway.aws.client.session_policy import session_policy
from gateway.aws.models.session_actions import SessionActions
from gateway.core.errors import NotSendable
from gateway.core.model.caller import source_identity
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, Reply
from gateway.core.ports import Clock, SentFor
from gateway.core.service_models import ServiceModels
from gateway.core.texts import visible

log = structlog.get_logger()

_SECONDS: Final = 10.0
"""How long AWS may take to give a session."""
_ONE_CALL: Final = timedelta(minutes=15)
"""The shortest session that AWS gives; a call is sent within a minute, or never."""
_RENEWED: Final = timedelta(minutes=10)
"""How long before its end the session of an account is renewed."""
_ACCOUNT: Final = timedelta(hours=1)
_NOT_IN_TAGS: Final = re.compile(r"[^\w .:/=+@-]")
_LONGEST_TAG: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumedAccount:
    """How the gateway gets into an account."""

    role: str
    """ARN of the role that it assumes."""
    external_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    credentials: Credentials
    ends: datetime


@dataclass(slots=True, kw_only=True)
class Accounts:
    """The credentials of the gateway."""

    aws: Aws
    """Signs with the gateway's own credentials."""
    models: ServiceModels
    actions: Callable[[], SessionActions]
    """Reads the table, once a session of one call is asked for."""
    clock: Clock
    region: str
    """Where AWS's token service is asked."""
    account: str = ""
    """The gateway's own account, if the settings say it."""
    roles: Mapping[str, AssumedAccount] = field(default_factory=dict)
    """By account. That of the gateway's own account, if changes have one, is under `own`."""
    own: AssumedAccount | None = None
    per_mutation: bool = False
    _sessions: dict[str, _Session] = field(default_factory=dict, init=False)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict, init=False)

    async def of(self, account: str) -> Credentials | None:
        """The credentials of calls to an account; None for the gateway's own. Raises `errors.NotSendable`."""
        target = self.roles.get(account)
        if target is None:
            if account != self.account:
                self._check_own(account)
            return None
        return await self._shared(target)

    async def of_mutation(self, call: Call, mutation_id: str, reason: SentFor) -> tuple[Credentials | None, str]:
        """The credentials of a decided mutation, and what they are limited to, in words. Raises `errors.NotSendable`."""
        target = self.roles.get(call.account)
        if target is None:
            self._check_own(call.account)
            target = self.own
        if target is None:
            return None, ""
        if not self.per_mutation:
            return await self._shared(target), ""
        policy = session_policy(call, reason.arns, self.actions())
        session = await self._assumed(
            target,
            name=mutation_id,
            lasts=_ONE_CALL,
            more={
                "Policy": policy.document,
                "SourceIdentity": source_identity(reason.actor),
                "Tags": session_tags(mutation_id, reason),
            },
        )
        return session.credentials, policy.scope

    def _check_own(self, account: str) -> None:
        """A call that was judged for another account must not be sent with the gateway's own credentials."""
        if self.account and account not in ("", self.account):
            raise NotSendable(
                f"The gateway has no credentials of the account {account}: its own are of {self.account}. Nothing was sent. Give a stack of that "
                "account the setting `assume_role`."
            )

    async def _shared(self, target: AssumedAccount) -> Credentials:
        """The session that all calls to an account share, renewed before its end."""
        async with self._locks.setdefault(target.role, asyncio.Lock()):
            known = self._sessions.get(target.role)
            if known is None or known.ends - self.clock.now() < _RENEWED:
                known = await self._assumed(target, name="sentinel", lasts=_ACCOUNT, more={})
                self._sessions[target.role] = known
            return known.credentials

    async def _assumed(
        self, target: AssumedAccount, *, name: str, lasts: timedelta, more: Mapping[str, Any]
    ) -> _Session:
        """A new session of a role. Raises `errors.NotSendable`."""
        parameters: dict[str, Any] = {
            "RoleArn": target.role,
            "RoleSessionName": name,
            "DurationSeconds": int(lasts.total_seconds()),
            **({"ExternalId": target.external_id} if target.external_id else {}),
            **more,
        }
        call = Call(service="sts", operation="AssumeRole", parameters=parameters, account="", region=self.region)
        try:
            async with asyncio.timeout(_SECONDS):
                outcome = await self.aws.send(await self.aws.prepare(call, name))
        except TimeoutError:
            raise _refused(target, f"it did not answer within {_SECONDS:g} seconds") from None
        match outcome:
            case Applied(reply=reply):
                return self._session(target, reply)
            case Failed(code=code, message=message):
                raise _refused(target, visible(f"{code}: {message}")[:400])
            case _:
                raise _refused(target, "its answer was lost")

    def _session(self, target: AssumedAccount, reply: Reply) -> _Session:
        try:
            given = parsed_reply(self.models.operation("sts", "AssumeRole"), reply).get("Credentials") or {}
        except Exception:  # noqa: BLE001  botocore's parsers raise what they like
            raise _refused(target, "its answer cannot be read") from None
        key, secret, token, ends = (
            given.get(name) for name in ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")
        )
        if not (key and secret and token and isinstance(ends, datetime)):
            raise _refused(target, "its answer holds no session")
        return _Session(credentials=Credentials(access_key_id=key, secret=secret, token=token), ends=ends)


def _refused(target: AssumedAccount, why: str) -> NotSendable:
    log.warning("session_refused", role=target.role, reason=why)
    return NotSendable(
        f"AWS gave no session of the role {target.role} ({why}), so nothing was sent. The trust of the role must let the gateway do "
        "sts:AssumeRole, and with `upstream.session_per_mutation` sts:TagSession and sts:SetSourceIdentity. Nothing changed; try again."
    )


def session_tags(mutation_id: str, reason: SentFor) -> Sequence[Mapping[str, str]]:
    """The tags that tell AWS's log of the mutation: actor, mutation, intent, motivation, evidence and approvers, as far as there are any."""
    motive = reason.motive
    tags = {
        "sentinel:mutation": mutation_id,
        "sentinel:actor": reason.actor,
        "sentinel:intent": motive.intent.value if motive is not None else "",
        "sentinel:motivation": motive.motivation.value if motive is not None else "",
        "sentinel:evidence": " ".join(motive.evidence) if motive is not None else "",
        "sentinel:approver": " ".join(reason.approvers),
    }
    return [
        {"Key": name, "Value": _NOT_IN_TAGS.sub("-", value)[:_LONGEST_TAG]} for name, value in tags.items() if value
    ]
