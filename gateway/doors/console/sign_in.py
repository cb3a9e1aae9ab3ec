"""The page on which people sign in with a key, and the session that a sign-in makes: a session key and a sealed cookie. The browser gets no secret."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from gateway.core.errors import NotAllowed, SentinelError
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.ports import Authenticator, Clock, KeyRing
from gateway.doors.api.problems import status_of
from gateway.doors.console.forms import form_of
from gateway.doors.console.visit import DONE, Templates, go, inbound
from gateway.doors.console.visitor import SealedCookie, Visitors, key_id_in
from gateway.line.pipeline import Pipeline

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Opens and ends them. The secret of a session key is not in its cookie, so a stolen one opens neither the API nor the AWS door."""

    keys: KeyRing
    cookies: SealedCookie
    hours: float

    async def open(self, request: Request, caller: Caller, wanted: str, *, by: str) -> Response:
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
        answer.headers["set-cookie"] = self.cookies.set_header(
            self.cookies.text_of(key), int(lasts.total_seconds()), request.scope
        )
        return answer

    async def end(self, request: Request) -> Response:
        """The answer that signs out: the session key ends, so that a copy of the cookie opens nothing. What was approved in it stays."""
        if key_id := key_id_in(self.cookies.text(request.scope)):
            await self.keys.revoke(key_id, distrust=False)
        answer = go("/sign-in", done="signed-out")
        answer.headers["set-cookie"] = self.cookies.clear_header(request.scope)
        return answer


_INSIDE: Final = re.compile(r"/console(?:/(?!sign)[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?(?:\?[!-\[\]^-~]*)?")
_LONGEST_NEXT: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """The page, and what its form does."""

    pipeline: Pipeline
    authenticator: Authenticator
    clock: Clock
    sessions: Sessions
    visitors: Visitors
    templates: Templates
    provider: str
    """The host of the identity provider with which people can sign in too; empty if none is set."""

    async def ask(self, request: Request) -> Response:
        """The page that asks for a key; those who are signed in already go on."""
        wanted = inside(request.query_params.get("next", ""))
        if await self.visitors.visitor(request.scope) is not None:
            return RedirectResponse(wanted, status_code=303)
        return self.page(wanted, done=DONE.get(request.query_params.get("done", ""), ""))

    async def take(self, request: Request) -> Response:
        """Sign in with the key of the form. A wrong one is recorded as at every door."""
        given = inbound(request, self.clock)
        wanted = inside("")
        try:
            fields = await form_of(given)
            wanted = inside(fields.get("next", ""))
            caller = await self.pipeline.authenticate(_with_key(given, fields.get("key", "")), self.authenticator)
            return await self.sessions.open(request, caller, wanted, by="key")
        except SentinelError as error:
            return self.page(wanted, problem=str(error), status=status_of(error))

    def page(self, wanted: str, *, problem: str = "", done: str = "", status: int = 200) -> Response:
        """The page on which people sign in, to go on to the wanted one."""
        values = {"caller": None, "by_proxy": False, "path": "", "next": wanted, "problem": problem, "done": done}
        values["provider"] = self.provider
        return self.templates.page("sign_in.html", status, **values)


def inside(path: str) -> str:
    """The page of the console that an address names; the first page if it is any other address."""
    fits = len(path) <= _LONGEST_NEXT and _INSIDE.fullmatch(path)
    return path if fits else "/console"


def _with_key(given: Inbound, key: str) -> Inbound:
    """The request as if the browser had sent the key in its header, as programs do."""
    others = tuple((name, value) for name, value in given.headers if name != "authorization")
    return replace(given, headers=(*others, ("authorization", f"Bearer {key.strip()}")))
