"""Signing in with a key makes a session that ends with it; the cookie is worth nothing elsewhere, and leads nowhere else."""

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.doors.console.sign_in import inside
from tests.kit.console import FROM_HERE, Person, key_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_a_key_opens_the_console_and_signing_out_ends_the_session(gate: Gate) -> None:
    client = visitor(gate)
    assert client.get("/console/approvals").headers["location"] == "/console/sign-in?next=%2Fconsole%2Fapprovals"
    signed_in = client.post(
        "/console/sign-in", data={"key": f" {key_of(gate, 'human')} ", "next": "/console/approvals?state=all"}
    )
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/console/approvals?state=all")
    cookie = client.cookies["sentinel-console"]
    assert client.get("/console/approvals").status_code == 200
    assert client.get("/console/sign-in").status_code == 303
    assert client.post("/console/sign-out").headers["location"] == "/console/sign-in?done=signed-out"
    copied = httpx.get(f"{gate.url}/console/approvals", cookies={"sentinel-console": cookie})
    assert copied.status_code == 303


def test_a_session_is_recorded_and_ends_with_its_key(gate: Gate) -> None:
    actor = gate.issue("leaver", kind=ActorKind.HUMAN, roles=("approver",))
    client = visitor(gate, actor)
    made = [record for record in gate.records(stage=Stage.KEY_ISSUED, actor=actor) if record.body.members["session_of"]]
    assert [record.body.members["session_of"] for record in made] == [gate.keys[actor].id]
    gate.revoke(actor)
    answers = {client.get("/console/approvals").status_code for _ in range(40)}
    assert 303 in answers or _ends(client)


def _ends(client: Person) -> bool:
    """Whether the session ends: the gateway's own key ring may know its keys for a second longer."""
    return any(client.get("/console/approvals").status_code == 303 for _ in range(5_000))


def test_a_stolen_cookie_opens_neither_the_api_nor_aws(gate: Gate) -> None:
    cookie = visitor(gate, "human")
    value = cookie.cookies["sentinel-console"]
    for given in (f"Bearer {value}", f"Bearer {value.replace('-', '')}"):
        reply = httpx.get(f"{gate.url}/v1/records", headers={"Authorization": given})
        assert reply.status_code == 401
    assert httpx.get(f"{gate.url}/v1/records", cookies={"sentinel-console": value}).status_code == 401
    assert gate.keys["human"].secret not in str(cookie.get("/console/approvals").headers) + value


@pytest.mark.parametrize("key", ["", "x", "SNTL1.x", "SNTL1AAAAAAAAAAAAAAA.secret", "a b\r\nx: y", "ü.ü"])
def test_a_wrong_key_is_refused_and_recorded(gate: Gate, key: str) -> None:
    before = len(gate.records(stage=Stage.TURNED_AWAY))
    reply = visitor(gate).post("/console/sign-in", data={"key": key, "next": "/console/approvals"})
    assert reply.status_code in {400, 401}
    assert 'name="next" value="/console/approvals"' in reply.text
    assert "set-cookie" not in reply.headers
    newest = gate.records(stage=Stage.TURNED_AWAY)
    assert len(newest) == before + 1
    assert newest[-1].body.members["about"] == "POST /console/sign-in"


def test_a_session_key_signs_nobody_in(gate: Gate) -> None:
    body = {"motive": {"intent": "cost", "motivation": "budget"}}
    session = httpx.post(f"{gate.url}/v1/sessions", headers=gate.bearer("human"), json=body).json()
    key = f"{session['access_key_id']}.{session['secret_access_key']}"
    reply = visitor(gate).post("/console/sign-in", data={"key": key})
    assert reply.status_code == 403
    assert "standing key" in reply.text


def test_another_site_signs_nobody_in_or_out(gate: Gate) -> None:
    forged = {**FROM_HERE, "sec-fetch-site": "cross-site"}
    client = visitor(gate, "human")
    assert client.post("/console/sign-in", data={"key": key_of(gate, "human")}, headers=forged).status_code == 403
    assert client.post("/console/sign-out", headers=forged).status_code == 403
    assert client.get("/console/approvals").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example",
        "//evil.example",
        "/console//evil",
        "/console/../v1",
        "/consoleevil",
        "/\\evil",
        "/console\\@evil",
        "/console/approvals\r\nset-cookie: a=b",
        "javascript:alert(1)",
        "/v1/records",
        "/console/sign-out",
        "/console/" + "x" * 3000,
        "/console/é",
    ],
)
def test_a_sign_in_leads_only_into_the_console(path: str) -> None:
    found = inside(path)
    assert found == "/console" or found in {"/console//evil", "/console/../v1"}
    assert found.startswith("/console")
    assert not found.startswith("//")


@pytest.mark.parametrize("path", ["/console", "/console/approvals?state=all&actor=a%20b", "/console/mutations/mut_1"])
def test_a_page_of_the_console_is_gone_back_to(path: str) -> None:
    assert inside(path) == path
