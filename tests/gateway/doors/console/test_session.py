"""A session is a key of its own that ends with the standing key; only a standing key opens one."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.requests import Request

from gateway.core.errors import NotAllowed
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.ports import Key
from gateway.doors.console.sign_in import Sessions
from gateway.doors.console.visitor import SealedCookie

COOKIES = SealedCookie(key=b"k" * 32, https=False)
ANA = Caller(actor="ana", kind=ActorKind.HUMAN, key_id="SNTL1", roles=("approver",), on_behalf_of="team")


@dataclass
class Ring:
    """A key ring that notes what it is asked for."""

    issued: list[dict[str, Any]] = field(default_factory=list)
    revoked: list[str] = field(default_factory=list)

    async def issue(self, **given: Any) -> Key:
        """A session key."""
        self.issued.append(given)
        return Key(id="SNTS1", secret="hidden", actor=given["actor"], kind=given["kind"])

    async def revoke(self, key_id: str, *, distrust: bool) -> None:
        """Note it."""
        assert not distrust, "a person who signs out still means what they approved"
        self.revoked.append(key_id)


def request(scheme: str = "http", cookie: str = "") -> Request:
    headers = [(b"cookie", cookie.encode())] if cookie else []
    return Request({"type": "http", "scheme": scheme, "headers": headers, "method": "GET", "path": "/"})


def opened(ring: Ring, caller: Caller, scheme: str = "http") -> Any:
    sessions = Sessions(keys=ring, cookies=COOKIES, hours=2)  # type: ignore[arg-type]
    return asyncio.run(sessions.open(request(scheme), caller, "/console/claims", by="key"))


def test_a_session_has_what_its_key_has_and_ends_with_it() -> None:
    ring = Ring()
    answer = opened(ring, ANA)
    [given] = ring.issued
    assert (given["session_of"], given["roles"], given["on_behalf_of"]) == ("SNTL1", ("approver",), "team")
    assert given["lasts"].total_seconds() == 7200
    assert answer.headers["location"] == "/console/claims"
    assert answer.headers["set-cookie"].startswith("sentinel-console=SNTS1-")
    assert "hidden" not in str(answer.headers)


def test_over_https_the_cookie_is_secure() -> None:
    assert "; Secure;" in opened(Ring(), ANA, "https").headers["set-cookie"]


def test_a_session_opens_no_session() -> None:
    ring = Ring()
    with pytest.raises(NotAllowed, match="standing key"):
        opened(ring, Caller(actor="ana", kind=ActorKind.HUMAN, key_id="SNTSAAAAAAAAAAAAAAAA"))
    assert ring.issued == []


def test_signing_out_ends_the_key_of_the_cookie() -> None:
    ring = Ring()
    sessions = Sessions(keys=ring, cookies=COOKIES, hours=2)  # type: ignore[arg-type]
    cookie = COOKIES.set_header("SNTS1", 60, {"scheme": "http"}).partition(";")[0]
    answer = asyncio.run(sessions.end(request(cookie=cookie)))
    assert ring.revoked == ["SNTS1"]
    assert "Max-Age=0" in answer.headers["set-cookie"]
    asyncio.run(sessions.end(request()))
    assert ring.revoked == ["SNTS1"]
