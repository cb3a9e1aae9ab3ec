"""A browser's requests to the console, without a browser: a signed-in client that says what browsers say of their own forms."""

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import httpx

from tests.kit.gate import Gate

FROM_HERE = {"sec-fetch-site": "same-origin"}
"""What a browser sends with a form of the same origin."""
PROPOSAL: dict[str, Any] = {
    "service": "events",
    "operation": "CancelReplay",
    "parameters": {"ReplayName": "n"},
    "motive": {"intent": "availability", "motivation": "incident", "text": "The lag grows", "evidence": ["A-1"]},
}
"""A call whose effects are not known, so that it is held."""


@dataclass
class Person:
    """Somebody at a browser. Each request has a connection of its own, so that nothing stays open."""

    url: str
    headers: dict[str, str] = field(default_factory=lambda: dict(FROM_HERE))
    cookies: httpx.Cookies = field(default_factory=httpx.Cookies)

    def get(self, path: str, **more: Any) -> httpx.Response:
        """Open a page."""
        return self._ask("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        """Send a form."""
        return self._ask("POST", path, **more)

    def _ask(self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        given = {**self.headers, **(headers or {})}
        with httpx.Client(base_url=self.url, headers=given, cookies=self.cookies, timeout=300) as client:
            reply = client.request(method, path, **more)
            self.cookies = client.cookies
        return reply


def visitor(gate: Gate, actor: str | None = None) -> Person:
    """Somebody who is signed in as the actor; without one, not signed in."""
    person = Person(gate.url)
    if actor is not None:
        signed_in = person.post("/console/sign-in", data={"key": key_of(gate, actor)})
        assert signed_in.status_code == 303, signed_in.text
    return person


def key_of(gate: Gate, actor: str) -> str:
    """The key of an actor as a person types it."""
    return f"{gate.keys[actor].id}.{gate.keys[actor].secret}"


def held(gate: Gate, actor: str = "agent", **changed: Any) -> str:
    """Propose a call that is held, different from all before; its mutation."""
    name = f"n{len(gate.records())}"
    body = {**PROPOSAL, "parameters": {**PROPOSAL["parameters"], "ReplayName": name}, **changed}
    reply = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(actor), json=body)
    assert reply.status_code == 202, reply.text
    return str(reply.json()["mutation"]["id"])


def text_of(page: httpx.Response) -> str:
    """What a person reads on a page, without its marks."""
    body = page.text.partition("<main")[2]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())
