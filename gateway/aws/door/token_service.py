"""Answers AWS's token service (STS) itself: AssumeRole and the like give keys of this gateway, never credentials of AWS.

A key is a session key of the ledger like those of `sentinel session`. Who asked for it stays its actor, and it ends with the key that asked.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias
from xml.sax.saxutils import escape

from gateway.aws.door.data_calls import call_signature
from gateway.aws.door.operation_router import FORM_TYPE
from gateway.aws.door.protocols import form as form_fields
from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated, SentinelError
from gateway.core.http.strict_parsers import form
from gateway.core.model.caller import Assumed, Caller
from gateway.core.model.ids import digest_id, new_id
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Call, Door
from gateway.core.off_loop import work_for_stranger
from gateway.core.partitions import partition_of
from gateway.core.ports import Clock, Key, KeyRing, Request
from gateway.core.service_models import ServiceModels
from gateway.identity.roles import (
    SHORTEST,
    Roles,
    SessionRequest,
    assumed_key,
    motive_of_tags,
    own_key,
    unknown_role,
    web_identity_key,
)
from gateway.identity.web_identity import WebIdentities, principal_tags
from gateway.line.data_plane import DataSignatures
from gateway.line.pipeline import Pipeline

STS: Final = "sts"
_NAMESPACE: Final = "https://sts.amazonaws.com/doc/2011-06-15/"
_WEB: Final = "AssumeRoleWithWebIdentity"
_SAML: Final = "AssumeRoleWithSAML"
_LARGEST_UNSIGNED: Final = 64 * 1024
"""Bytes of the body of a call without a signature, whose proof is in the body. A token has at most 20,000 characters."""
LONGEST: Final = timedelta(hours=12)
"""Of GetSessionToken and GetFederationToken, as of `sentinel session`."""
_NOT_HERE: Final[Mapping[str, str]] = {
    "Policy": "Sentinel evaluates no policy of IAM for its keys, so it would not narrow this one. Leave it out: contracts and Sentinel's policies "
    "bound what the key may do",
    "PolicyArns": "Sentinel evaluates no policy of IAM for its keys, so it would not narrow this one. Leave it out: contracts and Sentinel's "
    "policies bound what the key may do",
    "SerialNumber": "Sentinel knows no MFA device of AWS. Leave it out",
    "TokenCode": "Sentinel knows no MFA device of AWS. Leave it out",
    "ProvidedContexts": "Sentinel takes no context of others. Leave it out",
    "ProviderId": "it is for providers of OAuth 2.0, which Sentinel does not ask. Leave it out",
}
"""Parameters that would promise what a key of the gateway does not keep, and why."""
Parameters: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = tuple[str, Mapping[str, Any]]
"""The operation, and the members of its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenService:
    """The token service of the gateway."""

    roles: Roles
    keys: KeyRing
    web: WebIdentities
    models: ServiceModels
    clock: Clock
    signatures: DataSignatures
    """Those that were used, so that nobody who saw a request gets a key by sending it again."""
    account: Callable[[], Awaitable[str]]
    """The gateway's account in AWS, for ARNs. Raises `errors.UpstreamUnavailable`."""

    @staticmethod
    def takes(call: Call) -> bool:
        """Whether the gateway answers this call. What it does not answer stays as every other call of its class: not sent for anybody."""
        return call.service == STS and call.operation in _ANSWERS

    @staticmethod
    def takes_unsigned(inbound: Inbound) -> bool:
        """Whether it may be a call whose proof is in its body, told by its head alone."""
        if "authorization" in inbound.by_name:
            return False
        length = inbound.only_header("content-length")
        return (
            inbound.method == "POST"
            and inbound.path == "/"
            and not inbound.query
            and (inbound.header("content-type") or "").partition(";")[0].strip().lower() == FORM_TYPE
            and length.isascii()
            and length.isdigit()
            and len(length) < 7  # noqa: PLR2004  digits that are enough for the limit
            and int(length) <= _LARGEST_UNSIGNED
        )

    async def unsigned(self, pipeline: Pipeline, inbound: Inbound) -> bytes | None:
        """The answer to a call that proves itself by a token; None if it is another call, which needs a signature.

        A refusal is recorded. Raises `errors.NotAuthenticated`, `errors.NotAllowed`, `errors.Malformed`, `errors.IdentityProviderUnusable`,
        `errors.Overloaded`.
        """
        work_for_stranger(inbound.peer)
        body = await inbound.read_body()
        if b"Action=AssumeRoleWith" not in body:
            return None
        try:
            fields = form(body)
            action = fields.get("Action", "")
            if action not in (_WEB, _SAML):
                return None
            if action == _SAML:
                raise _no_saml()
            shape = await self.models.input_of(STS, action)
            fields = {name: value for name, value in fields.items() if name not in ("Action", "Version")}
            return _document(await self._with_web_identity(form_fields.parse(shape, fields, ec2=False)))
        except (NotAuthenticated, NotAllowed, Malformed) as error:
            await pipeline.turn_away(inbound, error)
            raise

    async def answer(self, pipeline: Pipeline, inbound: Inbound, caller: Caller, request: Request) -> bytes:
        """The answer to a signed call. A refusal is recorded.

        Raises `errors.NotAllowed`, `errors.Malformed`, `errors.SignatureSpent`, `errors.Overloaded`, `errors.TryLater`,
        `errors.LedgerUnavailable`, `errors.UpstreamUnavailable`.
        """
        await pipeline.admit_question(caller)
        call = request.call
        try:
            if call.operation != "GetCallerIdentity":
                self._spend(inbound, request)
            return _document(await _ANSWERS[call.operation](self, caller, call))
        except SentinelError as error:
            await pipeline.turn_away(inbound, error, caller)
            raise

    def _spend(self, inbound: Inbound, request: Request) -> None:
        """Spend the signature. Raises `errors.NotAllowed` for a presigned URL: who sees one would get a key."""
        if request.door is not Door.AWS:
            raise NotAllowed("A presigned URL gives nobody a key. Sign the request itself; no key was made.")
        if (signature := call_signature(inbound, request)) is not None:
            self.signatures.spend(signature)

    async def _caller_identity(self, caller: Caller, call: Call) -> Answer:
        account = await self._account_of(caller)
        return "GetCallerIdentity", {
            "Arn": _arn(caller, account, call.region),
            "UserId": _user_id(caller),
            "Account": account,
        }

    async def _assume_role(self, caller: Caller, call: Call) -> Answer:
        given = call.parameters
        _refuse_parameters(given)
        if given.get("SourceIdentity", caller.actor) != caller.actor:
            raise NotAllowed(
                f"The source identity of your sessions is {caller.actor}, whose key asks: leave SourceIdentity out. No key was made."
            )
        asked = str(given["RoleArn"])
        role = self.roles.of_arn(asked)
        wish = SessionRequest(
            role=asked, name=str(given["RoleSessionName"]), motive=_tagged(given), lasts=_lasts(given)
        )
        wanted, lasts = assumed_key(caller, role, wish)
        key = await self._own(caller) if caller.plan else await self.keys.assume(wanted, lasts=lasts)
        assumed = key.assumed or Assumed(role=role.name, name=wish.name)
        return "AssumeRole", {
            **_credentials(key),
            **await self._assumed_user(assumed, call.region),
            "SourceIdentity": caller.actor,
        }

    async def _own(self, caller: Caller) -> Key:
        """The caller's own key: what is assumed in the session of a plan stays in it, and is judged by the plan."""
        key = await self.keys.find(caller.key_id)
        if key is None or key.ended(self.clock.now()):
            raise NotAllowed("The session of the plan has ended. No key was made.")
        return key

    async def _with_web_identity(self, given: Parameters) -> Answer:
        _refuse_parameters(given)
        asked = str(given["RoleArn"])
        role = self.roles.of_arn(asked)
        if role.web_identity is None:
            raise unknown_role(asked)
        claims = await self.web.claims(role, str(given["WebIdentityToken"]), asked=asked)
        motive = motive_of_tags(principal_tags(claims))
        wish = SessionRequest(role=asked, name=str(given["RoleSessionName"]), motive=motive, lasts=_lasts(given))
        subject = f"{role.web_identity.issuer} {claims['sub']}"
        wanted, lasts = web_identity_key(role, wish, subject=subject, claims=claims)
        key = await self.keys.assume(wanted, lasts=lasts)
        audience = claims["aud"]
        return _WEB, {
            **_credentials(key),
            **await self._assumed_user(key.assumed or Assumed(role=role.name, name=wish.name), ""),
            "SubjectFromWebIdentityToken": str(claims["sub"]),
            "Provider": role.web_identity.issuer,
            "Audience": audience if isinstance(audience, str) else str(audience[0]),
        }

    async def _session_token(self, caller: Caller, call: Call) -> Answer:
        _refuse_parameters(call.parameters)
        if caller.in_session:
            raise NotAllowed(
                "GetSessionToken needs a standing key, as at AWS; assume a role with this one. No key was made."
            )
        key = await self.keys.issue(
            actor=caller.actor,
            kind=caller.kind,
            roles=caller.roles,
            on_behalf_of=caller.on_behalf_of,
            motive=caller.motive,
            lasts=_within_longest(_lasts(call.parameters)),
            session_of=caller.key_id,
        )
        return "GetSessionToken", _credentials(key)

    async def _federation_token(self, caller: Caller, call: Call) -> Answer:
        given = call.parameters
        _refuse_parameters(given)
        wish = SessionRequest(role="", name=str(given["Name"]), motive=_tagged(given))
        key = await self.keys.assume(own_key(caller, wish), lasts=_within_longest(_lasts(given)))
        account = await self._account_of(caller)
        name = key.assumed.name if key.assumed is not None else wish.name
        arn = f"arn:{partition_of(call.region)}:sts::{account}:federated-user/{name}"
        return "GetFederationToken", {
            **_credentials(key),
            "FederatedUser": {"FederatedUserId": f"{account}:{name}", "Arn": arn},
        }

    async def _no_saml(self, _caller: Caller, _call: Call) -> Answer:
        raise _no_saml()

    async def _with_web_identity_signed(self, _caller: Caller, call: Call) -> Answer:
        return await self._with_web_identity(call.parameters)

    async def _assumed_user(self, assumed: Assumed, region: str) -> Mapping[str, Any]:
        account = self.roles.accounts.get(assumed.role) or await self.account()
        arn = f"arn:{partition_of(region)}:sts::{account}:assumed-role/{assumed.role}/{assumed.name}"
        return {"AssumedRoleUser": {"AssumedRoleId": _role_id(assumed), "Arn": arn}}

    async def _account_of(self, caller: Caller) -> str:
        role = caller.assumed.role if caller.assumed is not None else ""
        return self.roles.accounts.get(role) or await self.account()


_ANSWERS: Final[Mapping[str, Callable[[TokenService, Caller, Call], Awaitable[Answer]]]] = {
    "AssumeRole": TokenService._assume_role,  # noqa: SLF001  the table of its own methods
    _WEB: TokenService._with_web_identity_signed,  # noqa: SLF001
    _SAML: TokenService._no_saml,  # noqa: SLF001
    "GetCallerIdentity": TokenService._caller_identity,  # noqa: SLF001
    "GetFederationToken": TokenService._federation_token,  # noqa: SLF001
    "GetSessionToken": TokenService._session_token,  # noqa: SLF001
}


def _no_saml() -> NotAllowed:
    return NotAllowed(
        "Sentinel verifies no assertions of SAML: their signatures are over XML, and no library that does that safely is a part of it. No key was "
        "made, and nothing was sent. Let the provider give tokens of OpenID Connect (AssumeRoleWithWebIdentity), or use a key of Sentinel."
    )


def _refuse_parameters(given: Parameters) -> None:
    for name, why in _NOT_HERE.items():
        if given.get(name):
            raise Malformed(f"The parameter {name} is not taken: {why}. No key was made.")


def _tagged(given: Parameters) -> Any:
    return motive_of_tags([(str(tag["Key"]), str(tag["Value"])) for tag in given.get("Tags", ())])


def _lasts(given: Parameters) -> timedelta | None:
    seconds = given.get("DurationSeconds")
    return None if seconds is None else timedelta(seconds=int(seconds))


def _within_longest(asked: timedelta | None) -> timedelta:
    """AWS gives 36 hours at most. Raises `errors.Malformed` for what is too short."""
    if asked is not None and asked < SHORTEST:
        raise Malformed("A session lasts 900 seconds or more. No key was made.")
    return min(asked or LONGEST, LONGEST)


def _credentials(key: Key) -> Mapping[str, Any]:
    return {
        "Credentials": {
            "AccessKeyId": key.id,
            "SecretAccessKey": key.secret,
            "SessionToken": key.session_token,
            "Expiration": _time(key.expires_at),
        }
    }


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment is not None else ""


def _role_id(assumed: Assumed) -> str:
    """The role's id, which is the same for all its sessions, and the session's name."""
    return f"{digest_id('SNTR', assumed.role).replace('_', '').upper()[:20]}:{assumed.name}"


def _user_id(caller: Caller) -> str:
    if caller.assumed is not None and caller.assumed.role:
        return _role_id(caller.assumed)
    return caller.key_id


def _arn(caller: Caller, account: str, region: str) -> str:
    partition, assumed = partition_of(region), caller.assumed
    if assumed is None:
        return f"arn:{partition}:iam::{account}:user/{caller.actor}"
    if assumed.role:
        return f"arn:{partition}:sts::{account}:assumed-role/{assumed.role}/{assumed.name}"
    return f"arn:{partition}:sts::{account}:federated-user/{assumed.name}"


def _document(answer: Answer) -> bytes:
    """The answer in the form of the query protocol."""
    operation, members = answer
    return (
        f'<{operation}Response xmlns="{_NAMESPACE}"><{operation}Result>{_xml(members)}</{operation}Result>'
        f"<ResponseMetadata><RequestId>{new_id('req')}</RequestId></ResponseMetadata></{operation}Response>"
    ).encode()


def _xml(members: Mapping[str, Any]) -> str:
    return "".join(
        f"<{name}>{_xml(value) if isinstance(value, Mapping) else escape(str(value))}</{name}>"
        for name, value in members.items()
    )
