"""Sessions at the console: each sign-in makes a session key, which ends with the standing key, and a sealed cookie that names it."""

from dataclasses import dataclass
from datetime import timedelta

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gateway.doors.console.sealed_cookie import SealedCookie
from gateway.doors.console.visit import go
from gateway.errors import NotAllowed
from gateway.model.caller import Caller
from gateway.ports import KeyRing

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Opens and ends them. The secret of a session key is not in its cookie, so a stolen one opens neither the API nor the AWS door."""

    keys: KeyRing
    cookies: SealedCookie
    hours: float

    async def opened(self, request: Request, caller: Caller, wanted: str, *, by: str) -> Response:
        """The answer that signs the person in and leads to the page. `by` says in the log what proved who it is.

        Raises `errors.NotAllowed` for a session key, `errors.NotFound` if the standing key has ended.
        """
        if caller.in_session:
            raise NotAllowed("This is a session key. Sign in with the standing key that it was made with.")
        lasts = timedelta(hours=self.hours)
        key = await self.keys.issue(
            actor=caller.actor,
            kind=caller.kind,
            roles=caller.roles,
            on_behalf_of=caller.on_behalf_of,
            lasts=lasts,
            session_of=caller.key_id,
        )
        log.info("console_sign_in", actor=caller.actor, session=key.id, by=by)
        answer = RedirectResponse(wanted, status_code=303)
        answer.headers["set-cookie"] = self.cookies.made(key.id, int(lasts.total_seconds()), request.scope)
        return answer

    async def ended(self, request: Request) -> Response:
        """The answer that signs out: the session key ends, so that a copy of the cookie opens nothing."""
        if key_id := self.cookies.text(request.scope):
            await self.keys.revoke(key_id)
        answer = go("/sign-in", done="signed-out")
        answer.headers["set-cookie"] = self.cookies.ended(request.scope)
        return answer
