"""The pages of the console by their addresses, and the life of a request: guarded, signed in, served, and every error as a page."""

import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias
from urllib.parse import quote

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.core.errors import LedgerUnavailable, SentinelError
from gateway.core.http.asgi import Message, Receive, Scope, Send, send_response
from gateway.doors.console.actors import actor, actors, ask_resume, ask_stop, reset, resume, stop
from gateway.doors.console.api_client import ApiClient, http_status
from gateway.doors.console.approvals import approvals, ask_rejection, reject_all
from gateway.doors.console.changes import Changes
from gateway.doors.console.claims import ask_release, claims, release_all
from gateway.doors.console.contests import contests
from gateway.doors.console.door import ConsoleParts
from gateway.doors.console.drift import decide, drift, write_back
from gateway.doors.console.feed import Feed
from gateway.doors.console.ledger import ledger, verify
from gateway.doors.console.mutation import act, mutation
from gateway.doors.console.oidc_sign_in import BACK, PATH, OidcSignIn
from gateway.doors.console.overview import Overview
from gateway.doors.console.playground import playground, try_edits
from gateway.doors.console.policy import numbers, policy, rule, who_wins
from gateway.doors.console.pulse import Pulse
from gateway.doors.console.rendering import environment, static_files
from gateway.doors.console.replay import replay, run_replay
from gateway.doors.console.resource import resource, resources
from gateway.doors.console.sign_in import Sessions, SignIn
from gateway.doors.console.stack_map import stack_map
from gateway.doors.console.visit import Page, Templates, Visit, act_on, go
from gateway.doors.console.visitor import SealedCookie, Visitors
from gateway.doors.router import App
from gateway.identity.oidc import OidcProvider

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""On every answer of the console."""
_SAFE: Final = frozenset({"GET", "HEAD"})
_FOREIGN: Final = (
    "This form did not come from a page of this console, so nothing was changed. Open the console by https, or on this machine by "
    "http://localhost, in a browser that sends Sec-Fetch-Site, and send the form again."
)


class Guard:
    """An ASGI application in front of the pages."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse one that another site's page made."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                own = {**HEADERS, "cache-control": "no-store"}
                more = [(name.encode(), value.encode()) for name, value in own.items() if name.encode() not in given]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        if scope["method"] in _SAFE or _from_here(scope):
            await self._app(scope, receive, guarded)
            return
        body = _FOREIGN.encode()
        headers = [("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(body)))]
        await send_response(guarded, 403, headers, body)


def _from_here(scope: Scope) -> bool:
    """Whether a page of this origin made the request. Browsers say so, and no page can change what they say."""
    values = [value for name, value in scope["headers"] if name == b"sec-fetch-site"]
    return values == [b"same-origin"]


log = structlog.get_logger()

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

PAGES: Final[tuple[tuple[str, Page], ...]] = (
    ("/approvals", approvals),
    ("/approvals/reject", ask_rejection),
    ("/mutations/{mutation_id}", mutation),
    ("/claims", claims),
    ("/claims/release", ask_release),
    ("/contests", contests),
    ("/resources", resources),
    ("/resource", resource),
    ("/map", stack_map),
    ("/drift", drift),
    ("/write-back", write_back),
    ("/actors", actors),
    ("/actors/{actor}", actor),
    ("/stops/new", ask_stop),
    ("/stops/{stop_id}/resume", ask_resume),
    ("/policy", policy),
    ("/policy/rules/{rule}", rule),
    ("/policy/numbers", numbers),
    ("/policy/who-wins", who_wins),
    ("/replay", replay),
    ("/ledger", ledger),
    ("/playground", playground),
)
"""What is read, by its address below `/console`. Add a page here and, if people go there first, in `MENU`."""
OWN: Final = ("", "/changes", "/changes/stream", "/feed", "/feed/stream")
"""The addresses of pages that need more than a visit, in the order in which `Site` makes them."""
ACTS: Final[tuple[tuple[str, Page], ...]] = (
    ("/approvals/reject", act_on(ask_rejection, reject_all)),
    ("/mutations/{mutation_id}/{action}", act_on(mutation, act)),
    ("/claims/release", act_on(ask_release, release_all)),
    ("/drift/{drift_id}/decide", act_on(drift, decide)),
    ("/stops", act_on(actors, stop)),
    ("/stops/{stop_id}/resume", act_on(actors, resume)),
    ("/actors/{actor}/reset", act_on(actors, reset)),
    ("/ledger/verify", act_on(ledger, verify)),
    ("/replay", run_replay),
    ("/playground", try_edits),
)
"""What forms are sent to. Each ends with the address of a page; replays and trials change nothing, and answer with their own page."""
_BROKE: Final = "Sentinel had an internal error; its log says more. Look at the records before you do it again."


class Site:
    """The console as an ASGI application."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._parts = parts
        self._templates = Templates(environment=environment())
        cookies = SealedCookie(key=parts.cookie_key, https=parts.public_url.startswith("https://"))
        self._visitors = Visitors(keys=parts.keys, clock=parts.clock, cookies=cookies, settings=parts.settings)
        sessions = Sessions(keys=parts.keys, cookies=cookies, hours=parts.settings.session_hours)
        doors = SignIn(
            pipeline=parts.pipeline,
            authenticator=parts.authenticator,
            clock=parts.clock,
            sessions=sessions,
            visitors=self._visitors,
            templates=self._templates,
            provider=parts.settings.oidc_host,
        )
        pulse = Pulse(parts.changes)
        parts.stopping.add(pulse.end)
        feed, changes = Feed(pulse), Changes(pulse)
        own = (Overview(parts.readiness).page, changes.page, changes.stream, feed.page, feed.stream)
        pages = (*PAGES, *zip(OWN, own, strict=True))
        routes = [
            Route("/console/static/{name}", _static),
            Route("/console/sign-in", self._whole(doors.ask)),
            Route("/console/sign-in", self._whole(doors.take), methods=["POST"]),
            Route("/console/sign-out", self._whole(sessions.end), methods=["POST"]),
            *(self._oidc(doors, sessions) if parts.settings.oidc_issuer else ()),
            *(Route(f"/console{path}", self._whole(self._signed_in(page))) for path, page in pages),
            *(Route(f"/console{path}", self._whole(self._signed_in(page)), methods=["POST"]) for path, page in ACTS),
            Route("/console/{rest:path}", self._nothing, methods=["GET", "POST"]),
        ]
        self._app = Guard(Starlette(routes=routes))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)

    def _oidc(self, doors: SignIn, sessions: Sessions) -> tuple[Route, ...]:
        """The addresses of the sign-in through the identity provider."""
        parts = self._parts
        provider = OidcProvider(settings=parts.settings, redirect_uri=f"{parts.public_url}{BACK}", clock=parts.clock)
        flow = OidcSignIn(
            pipeline=parts.pipeline,
            provider=provider,
            clock=parts.clock,
            sessions=sessions,
            visitors=self._visitors,
            cookies=replace(sessions.cookies, name="sentinel-sign-in", purpose="sign-in"),
            key=parts.cookie_key,
            public_url=parts.public_url,
            page=doors.page,
        )
        return Route(PATH, self._whole(flow.begin)), Route(BACK, self._whole(flow.back))

    def _signed_in(self, page: Page) -> Endpoint:
        """The page for those who are signed in; others are asked for their key first."""

        async def endpoint(request: Request) -> Response:
            visitor = await self._visitors.visitor(request.scope)
            if visitor is None:
                return _to_sign_in(request)
            api = ApiClient(self._parts.api, request.scope, visitor.key)
            visit = Visit(
                request=request,
                visitor=visitor,
                api=api,
                templates=self._templates,
                clock=self._parts.clock,
                checkouts=self._parts.checkouts,
                ending_keys=self._parts.ending_keys,
                still_in=lambda: self._is_in(request),
            )
            try:
                return await page(visit)
            except SentinelError as error:
                return visit.page("error.html", problem=str(error), status=http_status(error))

        return endpoint

    async def _is_in(self, request: Request) -> bool:
        return await self._visitors.visitor(request.scope) is not None

    def _whole(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint, whose unexpected errors tell nothing."""

        async def answered(request: Request) -> Response:
            try:
                return await endpoint(request)
            except LedgerUnavailable as error:
                return self._error(str(error), 503)
            except Exception as error:  # noqa: BLE001  whatever it is, the answer tells nothing of it
                place = traceback.extract_tb(error.__traceback__)[-1]
                log.error(  # noqa: TRY400  its text could hold what a page showed
                    "console_broke",
                    method=request.method,
                    path=request.url.path[:200],
                    error=type(error).__name__,
                    place=f"{place.filename}:{place.lineno}",
                )
                return self._error(_BROKE, 500)

        return answered

    async def _nothing(self, _request: Request) -> Response:
        return self._error("The console has no such page.", 404)

    def _error(self, problem: str, status: int) -> Response:
        values = {"caller": None, "by_proxy": False, "path": "", "done": "", "problem": problem}
        return self._templates.page("error.html", status, **values)


def _to_sign_in(request: Request) -> Response:
    """Ask for a key, and come back to the page: to one that is read, never to an act."""
    if request.method not in {"GET", "HEAD"}:
        return go("/sign-in")
    query = f"?{request.url.query}" if request.url.query else ""
    wanted = quote(f"{request.url.path}{query}", safe="")
    return RedirectResponse(f"/console/sign-in?next={wanted}", status_code=303)


async def _static(request: Request) -> Response:
    """A file that pages load; its address has its version, so it may be kept."""
    found = static_files().get(request.path_params["name"])
    if found is None:
        return Response(status_code=404)
    headers = {"content-type": found.kind, "cache-control": "public, max-age=31536000, immutable"}
    return Response(found.content, headers=headers)
