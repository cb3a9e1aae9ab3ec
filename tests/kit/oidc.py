"""An identity provider on loopback: discovery, a page to sign in on, codes that count once, and ID tokens that a peer library signs."""

import base64
import hashlib
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode

import httpx
from aiohttp import web
from joserfc import jwk, jwt

from gateway.core.settings import ServerSettings
from gateway.core.settings.console import ConsoleSettings
from tests.kit.gate import Gate
from tests.kit.hcp import serving

CLIENT = "sentinel console/1"
"""With characters that a form and a header must encode."""
SECRET = "swordfish+oidc/7731"
_KEY = jwk.RSAKey.generate_key(2048, {"kid": "rsa-1", "use": "sig"})
_PAGE = """<!doctype html><html lang="en"><title>The provider</title><h1>Who are you?</h1>
<form action="/consent"><button>I am {email}</button>{hidden}</form><p><a href="/cancel?{query}">Cancel</a></p></html>"""

Key = jwk.RSAKey | jwk.ECKey | jwk.OctKey


@dataclass
class OidcStub:
    """The provider: who is signed in at it, what it says of itself, and how it misbehaves."""

    redirect_uri: str = ""
    """The only one that it sends people back to."""
    secret: str = ""
    """Of the client; empty for a public one."""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "u-1", "email": "human", "email_verified": True})
    """The claims about who is signed in."""
    only_userinfo: set[str] = field(default_factory=set)
    """Claims that are in the user info and not in the ID token."""
    userinfo: dict[str, Any] = field(default_factory=dict)
    """Changes of the user info."""
    claims: dict[str, Any] = field(default_factory=dict)
    """Changes of the ID token's claims; None takes one away."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Changes of the document; None takes one away."""
    answers: dict[str, web.Response] = field(default_factory=dict)
    """What is answered instead, by path."""
    token: str = ""
    """An ID token that is given instead."""
    key: Key = field(default_factory=lambda: _KEY)
    """What ID tokens are signed with."""
    algorithm: str = "RS256"
    published: list[dict[str, Any]] = field(default_factory=lambda: [_KEY.as_dict(private=False)])
    iss: str = ""
    """The `iss` of answers, instead of its own; `none` leaves it out."""
    asked: list[str] = field(default_factory=list)
    """The paths that the gateway asked, in order."""
    port: int = 0
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def issuer(self) -> str:
        """Its name."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> web.AppRunner:
        """Listen on a free port of loopback."""
        application = web.Application()
        for path, answer in (
            ("/.well-known/openid-configuration", self._document),
            ("/jwks", self._jwks),
            ("/authorize", self._authorize),
            ("/consent", self._consent),
            ("/cancel", self._cancel),
            ("/token", self._token),
            ("/userinfo", self._userinfo),
        ):
            application.router.add_route("*", path, answer)
        runner = web.AppRunner(application, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port = runner.addresses[0][1]
        return runner

    def consent(self, url: str) -> str:
        """What a person's browser does with the address that it was sent to: signs in; the address that it is sent back to."""
        assert url.startswith(f"{self.issuer}/authorize?")
        reply = httpx.get(url.replace("/authorize?", "/consent?"))
        assert reply.status_code == 302, reply.text
        return reply.headers["location"]

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        """A token with these claims, signed with the provider's key."""
        named = {"kid": self.key.kid} if self.key.kid else {}
        return jwt.encode(
            {"alg": self.algorithm, **named, **header}, claims, self.key, algorithms=[header.get("alg", self.algorithm)]
        )

    def rotate(self, key: Key, algorithm: str) -> None:
        """Sign with another key from now on, and publish it in the place of all others."""
        self.key, self.algorithm = key, algorithm
        self.published[:] = [key.as_dict(private=False)]

    async def _document(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "response_types_supported": ["code"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }
        return self._said(request, {name: value for name, value in document.items() if value is not None})

    async def _jwks(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        return self._said(request, {"keys": self.published})

    async def _authorize(self, request: web.Request) -> web.StreamResponse:
        self._check(request)
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{value}">' for name, value in request.query.items()
        )
        page = _PAGE.format(email=self.person["email"], hidden=hidden, query=request.query_string)
        return web.Response(text=page, content_type="text/html")

    async def _consent(self, request: web.Request) -> web.StreamResponse:
        self._check(request)
        code = secrets.token_urlsafe(16)
        self._codes[code] = dict(request.query)
        return self._back(request, {"code": code})

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        self._check(request)
        return self._back(request, {"error": "access_denied", "error_description": "<b>no</b>"})

    def _check(self, request: web.Request) -> None:
        query = request.query
        right = {"response_type": "code", "client_id": CLIENT, "redirect_uri": self.redirect_uri, "code_challenge_method": "S256"}  # fmt: skip
        wrong = {name: query.get(name) for name, value in right.items() if query.get(name) != value}
        if wrong or "openid" not in query["scope"].split() or not query["state"] or not query["nonce"]:
            raise web.HTTPBadRequest(text=f"wrong: {wrong}")

    def _back(self, request: web.Request, answer: dict[str, str]) -> web.StreamResponse:
        issuer = {} if self.iss == "none" else {"iss": self.iss or self.issuer}
        query = urlencode({**answer, "state": request.query["state"], **issuer})
        return web.Response(status=302, headers={"location": f"{self.redirect_uri}?{query}"})

    async def _token(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        form = {name: values[0] for name, values in parse_qs((await request.read()).decode()).items()}
        if not self._is_client(request, form):
            return web.json_response({"error": "invalid_client"}, status=401)
        begun = self._codes.pop(form["code"], None)
        challenge = (
            base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        )
        if begun is None or begun["redirect_uri"] != form["redirect_uri"] or begun["code_challenge"] != challenge:
            return web.json_response({"error": "invalid_grant"}, status=400)
        token = self.token or self.signed(self._claims(begun["nonce"]))
        return self._said(request, {"token_type": "Bearer", "access_token": "access-1", "id_token": token})

    def _claims(self, nonce: str) -> dict[str, Any]:
        now = int(time.time())
        person = {name: value for name, value in self.person.items() if name not in self.only_userinfo}
        own = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 3600, "nonce": nonce}
        return {name: value for name, value in {**own, **person, **self.claims}.items() if value is not None}

    def _is_client(self, request: web.Request, form: dict[str, str]) -> bool:
        """Whether the client proves itself as the document says: in the header by default."""
        in_body = self.metadata.get("token_endpoint_auth_methods_supported") == ["client_secret_post"]
        if not self.secret or in_body:
            return (form.get("client_id"), form.get("client_secret", "")) == (CLIENT, self.secret)
        given = base64.b64decode(request.headers.get("authorization", "").removeprefix("Basic ")).decode()
        return [unquote_plus(part) for part in given.split(":")] == [
            CLIENT,
            self.secret,
        ] and "client_secret" not in form

    async def _userinfo(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        if request.headers.get("authorization") != "Bearer access-1":
            return web.json_response({"error": "invalid_token"}, status=401)
        return self._said(request, {**self.person, **self.userinfo})

    def _said(self, request: web.Request, document: dict[str, Any]) -> web.StreamResponse:
        return self.answers.get(request.path) or web.json_response(document)


@contextmanager
def gate_with_provider(directory: Path, **settings: Any) -> Iterator[tuple[Gate, OidcStub]]:
    """A gateway whose people sign in at the provider too."""
    stub = OidcStub()
    with socket.create_server(("127.0.0.1", 0)) as listening, serving(stub):
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        stub.redirect_uri = f"{url}/console/sign-in/oidc/callback"
        console = ConsoleSettings(oidc_issuer=stub.issuer, oidc_client_id=CLIENT, **settings)
        server = ServerSettings(public_url=url)
        with Gate(directory=directory, console=console, server=server, listening=listening) as gate:
            yield gate, stub
