"""Signing in through the identity provider: begun with a link, ended by the answer that the browser brings back."""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gateway.core.errors import LedgerUnavailable, NotAuthenticated, SentinelError
from gateway.core.http.asgi import Scope
from gateway.core.model.caller import Caller
from gateway.core.ports import Clock
from gateway.doors.api.problems import status_of
from gateway.doors.console.forms import read_members
from gateway.doors.console.sign_in import Sessions, inside
from gateway.doors.console.visit import inbound
from gateway.doors.console.visitor import SealedCookie, Visitors
from gateway.identity.oidc import ATTEMPT_LASTS, OidcProvider, SignInAttempt, SpentAttempts
from gateway.line.pipeline import Pipeline

log = structlog.get_logger()

PATH: Final = "/console/sign-in/oidc"
"""Where it begins."""
BACK: Final = f"{PATH}/callback"
"""Where the provider sends people back."""
_MOST_MEMBERS: Final = 20
_ANSWER: Final = "answer of the identity provider"
_HERE: Final = ([b"same-origin"], [b"none"])
_BEGIN_HERE: Final = (
    "A page of another site led here, or the browser does not say which. Follow the link on this page to sign in, by https, or on this "
    "machine by http://localhost."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSignIn:
    """The two addresses of the flow."""

    pipeline: Pipeline
    provider: OidcProvider
    clock: Clock
    sessions: Sessions
    visitors: Visitors
    cookies: SealedCookie
    """Of attempts."""
    key: bytes = field(repr=False)
    public_url: str
    page: Callable[..., Response]
    """The page on which people sign in."""
    _spent: SpentAttempts = field(default_factory=SpentAttempts)

    async def begin(self, request: Request) -> Response:
        """Send the browser to the provider. A link leads here and no form: browsers hold `form-action` of the content policy against every
        redirect that follows a form, and where providers redirect to is not known here.
        """
        wanted = inside(request.query_params.get("next", ""))
        if await self.visitors.visitor(request.scope) is not None:
            return RedirectResponse(wanted, status_code=303)
        if not _begun_here(request.scope):
            return self.page(wanted, problem=_BEGIN_HERE, status=403)
        attempt = SignInAttempt.begin(self.key, self.clock.now(), wanted)
        try:
            url = await self.provider.authorization_url(attempt)
        except SentinelError as error:
            log.warning("console_oidc", problem=str(error))
            return self.page(wanted, problem=str(error), status=status_of(error))
        answer = RedirectResponse(url, status_code=303)
        answer.headers["set-cookie"] = self.cookies.set_header(
            attempt.text, int(ATTEMPT_LASTS.total_seconds()), request.scope
        )
        return answer

    async def back(self, request: Request) -> Response:
        """Sign the person in whom the provider names. Whatever is refused is recorded, as at every door."""
        wanted = inside("")
        try:
            given = read_members(request.scope["query_string"], _MOST_MEMBERS, _ANSWER, "Nobody was signed in.")
            attempt = self._attempt(request.scope, given.get("state", ""))
            wanted = attempt.wanted
            caller = await self._caller(given, attempt)
            answer = await self.sessions.open(request, caller, wanted, by="oidc")
        except LedgerUnavailable:
            raise
        except SentinelError as error:
            await self.pipeline.turn_away(inbound(request, self.clock), error)
            return self.page(wanted, problem=str(error), status=status_of(error))
        answer.headers.append("set-cookie", self.cookies.clear_header(request.scope))
        return answer

    def _attempt(self, scope: Scope, state: str) -> SignInAttempt:
        """The attempt that this browser began and this answer belongs to, for the only time."""
        attempt = SignInAttempt.read(self.key, self.cookies.text(scope))
        now = self.clock.now()
        if attempt is None or attempt.until <= now:
            raise NotAuthenticated(
                f"This browser began no sign-in within the last {ATTEMPT_LASTS.seconds // 60} minutes at {self.public_url}, so nobody was signed "
                "in. Sign in again."
            )
        if not hmac.compare_digest(attempt.state.encode(), state.encode("utf-8", "replace")):
            raise NotAuthenticated(
                "This answer belongs to another sign-in than the one that this browser began last, so nobody was signed in. Sign in again."
            )
        self._spent.spend(attempt, now)
        return attempt

    async def _caller(self, given: Mapping[str, str], attempt: SignInAttempt) -> Caller:
        """The person, as the owner of their own key."""
        name = await self.provider.person(given, attempt)
        key = await self.visitors.human_key(name)
        if key is None:
            raise NotAuthenticated(
                f"The identity provider names {name!r}, and no human of that name has a key here, so nobody was signed in. Those who "
                "run this gateway can make one: `sentinel key create NAME --kind human`."
            )
        return key.caller


def _begun_here(scope: Scope) -> bool:
    """Whether the person followed a link of this console or typed the address. A page of another site signs nobody in."""
    return [value for name, value in scope["headers"] if name == b"sec-fetch-site"] in _HERE
