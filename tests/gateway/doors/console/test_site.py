"""Every page is for those who are signed in, has the headers, and tells nothing of an error nobody expected."""

import re
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.doors.console.rendering import environment
from gateway.doors.console.site import ACTS, HEADERS, OWN, PAGES
from gateway.doors.console.visit import Templates
from gateway.ledger.ask.key_ends import EndingKey
from tests.kit.console import visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def _address(path: str) -> str:
    return "/console" + re.sub(r"\{\w+\}", "x", path)


@pytest.mark.parametrize("path", [*(path for path, _ in PAGES), *OWN])
def test_a_stranger_sees_no_page(gate: Gate, path: str) -> None:
    reply = visitor(gate).get(_address(path))
    assert reply.status_code == 303
    assert reply.headers["location"].startswith("/console/sign-in?next=")
    assert HEADERS.items() <= dict(reply.headers).items()


@pytest.mark.parametrize("path", [path for path, _ in ACTS])
def test_a_stranger_does_nothing(gate: Gate, path: str) -> None:
    before = len(gate.records())
    reply = visitor(gate).post(_address(path), data={"reason": "because"})
    assert (reply.status_code, reply.headers["location"]) == (303, "/console/sign-in")
    assert len(gate.records()) == before


@pytest.mark.parametrize("path", [path for path, _ in ACTS])
def test_no_other_site_acts_for_who_is_signed_in(gate: Gate, path: str) -> None:
    client = visitor(gate, "human")
    for site in ("cross-site", "same-site", "none"):
        assert client.post(_address(path), headers={"sec-fetch-site": site}).status_code == 403
    client.headers.pop("sec-fetch-site")
    assert client.post(_address(path)).status_code == 403


def test_what_is_not_there_is_a_page_too(gate: Gate) -> None:
    client = visitor(gate, "human")
    for path in ("/console/nothing", "/console/mutations/mut_none", "/console/mutations/a%2Fb"):
        reply = client.get(path)
        assert reply.status_code == 404, path
        assert HEADERS.items() <= dict(reply.headers).items()
    assert client.get("/console/static/none.js").status_code == 404
    assert client.get("/console/static/..%2Fdoor.py").status_code == 404


def test_an_error_that_nobody_expected_tells_nothing(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    client = visitor(gate, "human")

    async def breaks(*_: Any, **__: Any) -> Any:
        raise RuntimeError("hunter2")

    monkeypatch.setattr("gateway.doors.console.api_client.ApiClient.get", breaks)
    reply = client.get("/console/approvals")
    assert reply.status_code == 500
    assert "hunter2" not in reply.text


def test_files_are_kept_by_browsers_and_pages_are_not(gate: Gate) -> None:
    client = visitor(gate, "human")
    page = client.get("/console/approvals")
    assert page.headers["cache-control"] == "no-store"
    for address in re.findall(r'(?:src|href)="(/console/static/[^"]+)"', page.text):
        assert "immutable" in client.get(address).headers["cache-control"]


def test_a_page_names_the_keys_that_end_soon() -> None:
    ana = Caller(actor="ana", kind=ActorKind.HUMAN, key_id="k")
    given = {"caller": ana, "by_proxy": True, "path": "/console/feed", "done": "", "problem": "", "status": 200}
    key = EndingKey("SNTLFADING", "reconciler", "service", "2026-12-01T00:00:00Z")
    shown = Templates(environment=environment()).text("error.html", ending=[key], **given)
    assert "1 key ends within 14 days" in shown
    assert "sentinel key renew SNTLFADING" in shown
    assert "within 14 days" not in Templates(environment=environment()).text("error.html", ending=[], **given)
