"""One request of a signed-in person: the visitor, the API as the visitor sees it, and the answers that a page can give."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gateway.core.errors import SentinelError
from gateway.core.http.asgi import RequestBody, declared_length, inbound_of
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.inbound import Inbound
from gateway.core.ports import Clock
from gateway.doors.console.api_client import ApiClient, http_status
from gateway.doors.console.forms import LARGEST, form_of
from gateway.doors.console.rendering import static_files
from gateway.doors.console.visitor import Visitor
from gateway.ledger.ask.key_ends import EndingKey

Row = TypeVar("Row")

DONE: Final[Mapping[str, str]] = {
    "approved": "Approved. The requester's identical call now passes once.",
    "partly": "Your consent is recorded. More people must approve before the call passes.",
    "rejected": "Rejected. The requester is told your reason.",
    "all-rejected": "All that were listed are rejected. Their requesters are told your reason.",
    "passed": "Passed in an emergency. The record names you and your reason.",
    "released": "Released. The claims have ended.",
    "put-back": "Its end is now. The reconciler sends the call that puts it back.",
    "settled": "Settled. The record names you and your reason.",
    "decided": "Decided. The record names you and your reason.",
    "stopped": "Stopped, from the next request on.",
    "resumed": "Resumed. Changes are decided again.",
    "reset": "The circuit breaker is closed.",
    "signed-out": "Signed out. The session key has ended.",
}
"""What a page says after an act. An address chooses one of these and nothing else, so that no link makes the console say more."""


MENU: Final[tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]] = (
    ("Overview", "/console", ()),
    ("Changes", "/console/changes", ()),
    ("Approvals", "/console/approvals", ()),
    (
        "Resources",
        "/console/resources",
        (("Map", "/console/map"), ("Drift", "/console/drift"), ("Write-back", "/console/write-back")),
    ),
    ("Actors", "/console/actors", (("Claims", "/console/claims"), ("Contests", "/console/contests"))),
    ("Policy", "/console/policy", (("Replay", "/console/replay"), ("Playground", "/console/playground"))),
    ("Records", "/console/feed", (("Ledger", "/console/ledger"),)),
)
"""What stands in the head of every page: pages, some with a menu of others behind them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """Renders pages."""

    environment: Environment

    def page(self, name: str, status: int = 200, **values: object) -> HTMLResponse:
        """A page as an answer."""
        return HTMLResponse(self.text(name, **values), status_code=status)

    def text(self, name: str, **values: object) -> str:
        """The text of a template."""
        return self.environment.get_template(name).render(asset=asset, menu=MENU, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request of a signed-in person."""

    request: Request
    visitor: Visitor
    api: ApiClient
    templates: Templates
    clock: Clock
    checkouts: Mapping[str, Path]
    """Where the code of each stack is, by its name."""
    ending_keys: Callable[[], Sequence[EndingKey]]
    """The keys that end soon."""
    still_in: Callable[[], Awaitable[bool]]
    """Whether the sign-in still holds: asked by what lasts longer than a page."""

    @property
    def caller(self) -> Caller:
        """The visitor as the caller that every door knows."""
        return self.visitor.key.caller

    @property
    def query(self) -> Mapping[str, str]:
        """The members of the query; of one that was sent twice the last."""
        return self.request.query_params

    def page(self, name: str, *, problem: str = "", status: int = 200, **values: object) -> HTMLResponse:
        """A page with what all pages show: who visits, what was just done, and what went wrong."""
        return self.templates.page(
            name,
            status,
            caller=self.caller,
            by_proxy=self.visitor.by_proxy,
            path=self.request.url.path,
            done=DONE.get(self.query.get("done", ""), ""),
            problem=problem,
            now=self.clock.now(),
            ending=self.ending_keys() if self.caller.kind is ActorKind.HUMAN else (),
            **values,
        )

    async def form(self, largest: int = LARGEST) -> Mapping[str, str]:
        """The fields of a form of so many bytes at most. Raises `errors.Malformed`, `errors.BodyTooLarge`."""
        return await form_of(inbound(self.request, self.clock, largest))


@dataclass(frozen=True, slots=True)
class ApiPart:
    """The answer of the API that a part of a page shows, or why the visitor cannot have it."""

    answer: Mapping[str, Any]
    why_not: str = ""


async def part(question: Awaitable[dict[str, Any]]) -> ApiPart:
    """What a part of a page shows: the rest of the page stands without it."""
    try:
        return ApiPart(await question)
    except SentinelError as error:
        return ApiPart({}, str(error))


Page: TypeAlias = Callable[[Visit], Awaitable[Response]]


class RefusalPage(Protocol):
    """A page that can say why an act on it was refused."""

    async def __call__(self, visit: Visit, problem: str = "", status: int = 200) -> Response:
        """The page."""
        ...


def act_on(page: RefusalPage, act: Page) -> Page:
    """The act, whose refusal is shown on the page that it was done on, with the status of the refusal."""

    async def answer(visit: Visit) -> Response:
        try:
            return await act(visit)
        except SentinelError as error:
            return await page(visit, str(error), http_status(error))

    return answer


def rows_of(found: Sequence[Row], most: int) -> tuple[Sequence[Row], Row | None]:
    """The rows of a page, and the last of them if there are more: the API was asked for one row more than a page has."""
    return found[:most], found[most - 1] if len(found) > most else None


def inbound(request: Request, clock: Clock, largest: int = LARGEST) -> Inbound:
    """The request as it arrived; its body, of so many bytes at most, is not read yet."""
    body = RequestBody(request.receive, largest, declared=declared_length(request.scope))
    return inbound_of(request.scope, body, clock)


def go(path: str, **query: str) -> RedirectResponse:
    """Send the browser to a page of the console, to be read with GET."""
    given = urlencode({name: value for name, value in query.items() if value})
    return RedirectResponse(f"/console{path}{'?' if given else ''}{given}", status_code=303)


def asset(name: str) -> str:
    """The address of a file that pages load."""
    return f"/console/static/{name}?v={static_files()[name].version}"
