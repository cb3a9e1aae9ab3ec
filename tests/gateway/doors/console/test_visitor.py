"""Who visits: by cookie, or by the word of a proxy that the settings name, and of no other."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.records.record import Stage
from gateway.core.settings.console import ConsoleSettings
from gateway.doors.console.visitor import SealedCookie, Visitor, Visitors
from tests.kit.console import FROM_HERE, Person, held
from tests.kit.doubles import NOW, FixedClock
from tests.kit.gate import Gate

SSO = ConsoleSettings(sso_header="x-forwarded-email", sso_peers=(ip_network("10.0.0.5/32"), ip_network("fd00::/8")))
COOKIES = SealedCookie(key=b"k" * 32, https=False)


@dataclass
class Ring:
    """A key ring with given keys, newest first."""

    keys: list[Key]
    listed: int = 0
    asked: list[str] = field(default_factory=list)

    async def find(self, key_id: str) -> Key | None:
        """The key."""
        self.asked.append(key_id)
        return next((key for key in self.keys if key.id == key_id), None)

    async def standing(self) -> list[Key]:
        """All but the sessions."""
        self.listed += 1
        return [key for key in self.keys if not key.is_session]


def key(key_id: str, actor: str, kind: ActorKind = ActorKind.HUMAN, **more: Any) -> Key:
    return Key(id=key_id, secret="s", actor=actor, kind=kind, **more)


RING = [
    key("SNTS1", "ana", roles=("approver",)),
    key("SNTL4", "ana", revoked=True),
    key("SNTL3", "ana", roles=("approver",)),
    key("SNTL2", "bot", ActorKind.AGENT),
    key("SNTL1", "old", expires_at=NOW - timedelta(seconds=1)),
]


def visit(settings: ConsoleSettings, peer: str, *headers: tuple[str, str], ring: Ring | None = None) -> Visitor | None:
    visitors = Visitors(keys=ring or Ring(RING), clock=FixedClock(), cookies=COOKIES, settings=settings)  # type: ignore[arg-type]
    scope = {"client": (peer, 1), "headers": [(name.encode(), value.encode()) for name, value in headers]}
    return asyncio.run(visitors.visitor(scope))


def cookie(key_id: str) -> tuple[str, str]:
    text = COOKIES.text_of(key(key_id, "ana"))
    return "cookie", COOKIES.set_header(text, 60, {"scheme": "http"}).partition(";")[0]


def test_a_key_that_became_another_one_loses_its_session() -> None:
    """The secret covers all that the key is, so it is another one once somebody gave the key a role in the database."""
    before = Key(id="SNTS1", secret="of an agent", actor="ana", kind=ActorKind.AGENT)
    sealed = COOKIES.set_header(COOKIES.text_of(before), 60, {"scheme": "http"}).partition(";")[0]
    assert visit(ConsoleSettings(), "127.0.0.1", ("cookie", sealed)) is None
    only_named = COOKIES.set_header("SNTS1", 60, {"scheme": "http"}).partition(";")[0]
    assert visit(ConsoleSettings(), "127.0.0.1", ("cookie", only_named)) is None
    assert visit(ConsoleSettings(), "127.0.0.1", cookie("SNTS1")) is not None


def test_a_cookie_names_a_key_that_lives() -> None:
    found = visit(ConsoleSettings(), "127.0.0.1", cookie("SNTS1"))
    assert found is not None
    assert (found.key.actor, found.by_proxy) == ("ana", False)
    assert visit(ConsoleSettings(), "127.0.0.1", cookie("SNTL4")) is None
    assert visit(ConsoleSettings(), "127.0.0.1", cookie("SNTL1")) is None
    assert visit(ConsoleSettings(), "127.0.0.1", cookie("SNTS9")) is None
    assert visit(ConsoleSettings(), "127.0.0.1") is None


@pytest.mark.parametrize("peer", ["10.0.0.5", "fd00::1"])
def test_the_proxy_says_who_it_is_with_the_rights_of_their_own_key(peer: str) -> None:
    found = visit(SSO, peer, ("x-forwarded-email", "ana"))
    assert found is not None
    assert (found.key.id, found.key.roles, found.by_proxy) == ("SNTL3", ("approver",), True)


@pytest.mark.parametrize("name", ["bot", "old", "nobody", "", "ANA", "ana,ana"])
def test_the_proxy_cannot_name_who_has_no_human_key(name: str) -> None:
    assert visit(SSO, "10.0.0.5", ("x-forwarded-email", name)) is None


@pytest.mark.parametrize("peer", ["10.0.0.6", "127.0.0.1", "not an address", ""])
def test_the_header_counts_for_nothing_from_elsewhere(peer: str) -> None:
    assert visit(SSO, peer, ("x-forwarded-email", "ana")) is None
    found = visit(SSO, peer, ("x-forwarded-email", "root"), cookie("SNTS1"))
    assert found is not None
    assert found.key.actor == "ana"


def test_without_settings_no_header_counts() -> None:
    assert visit(ConsoleSettings(), "10.0.0.5", ("x-forwarded-email", "ana"), ("", "ana")) is None


def test_two_names_are_none_even_with_a_cookie() -> None:
    twice = (("x-forwarded-email", "ana"), ("x-forwarded-email", "ana"), cookie("SNTS1"))
    assert visit(SSO, "10.0.0.5", *twice) is None


def test_the_keys_are_listed_once_for_many_requests() -> None:
    ring = Ring(RING)
    visitors = Visitors(keys=ring, clock=FixedClock(), cookies=COOKIES, settings=SSO)  # type: ignore[arg-type]
    scope: dict[str, Any] = {"client": ("10.0.0.5", 1), "headers": [(b"x-forwarded-email", b"ana")]}

    async def many() -> None:
        for _ in range(20):
            await visitors.visitor(scope)

    asyncio.run(many())
    assert ring.listed < 20
    assert ring.asked.count("SNTL3") == 20


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize(("network", "status"), [("127.0.0.1/32", 200), ("10.0.0.5/32", 303)])
def test_through_a_running_gateway_only_the_proxy_is_believed(tmp_path: Path, network: str, status: int) -> None:
    console = ConsoleSettings(sso_header="x-forwarded-email", sso_peers=(ip_network(network),))
    with Gate(directory=tmp_path, console=console) as gate:
        person = Person(gate.url, headers={**FROM_HERE, "x-forwarded-email": "human"})
        page = person.get("/console/approvals")
        assert page.status_code == status
        assert ("signed in by the proxy" in page.text) is (status == 200)
        mutation = held(gate)
        given = person.post(f"/console/mutations/{mutation}/reject", data={"reason": "Not in a freeze"})
        assert (given.headers["location"] == "/console/sign-in") is (status != 200)
        assert [record.actor for record in gate.records(stage=Stage.REJECTED)] == (["human"] if status == 200 else [])
        machine = Person(gate.url, headers={**FROM_HERE, "x-forwarded-email": "agent"})
        assert machine.get("/console/approvals").status_code == 303


SECURE = SealedCookie(key=b"k" * 32, https=True)


def scope(cookie: str, scheme: str = "http") -> dict[str, Any]:
    return {"headers": [(b"cookie", cookie.encode("latin-1"))], "scheme": scheme}


def pair(header: str) -> str:
    return header.partition(";")[0]


def test_a_cookie_names_its_key() -> None:
    made = COOKIES.set_header("SNTS1A", 60, {"scheme": "http"})
    assert made.endswith("; Path=/console; Max-Age=60; HttpOnly; SameSite=Lax")
    assert COOKIES.text(scope(f"theme=dark; {pair(made)}; x=y")) == "SNTS1A"
    assert COOKIES.text(scope(pair(COOKIES.clear_header({"scheme": "http"})))) == ""


def test_over_https_only_this_host_can_set_it() -> None:
    made = SECURE.set_header("SNTS1A", 60, {"scheme": "http"})
    assert made.startswith("__Host-sentinel-console=")
    assert "; Path=/; Secure;" in made
    assert SECURE.text(scope(pair(made))) == "SNTS1A"
    assert COOKIES.text(scope(pair(made), "https")) == "SNTS1A"
    assert SECURE.text(scope(pair(COOKIES.set_header("SNTS1A", 60, {"scheme": "http"})))) == ""


@pytest.mark.parametrize("change", [lambda v: v.replace("1A", "1B"), lambda v: v[:-1] + "x", lambda v: v.partition(".")[0], lambda v: v + "ü"])  # fmt: skip
def test_a_changed_cookie_names_nothing(change: Any) -> None:
    name, _, value = pair(COOKIES.set_header("SNTS1A", 60, {"scheme": "http"})).partition("=")
    assert COOKIES.text(scope(f"{name}={change(value)}")) == ""


def test_another_gateway_s_cookie_and_two_of_them_name_nothing() -> None:
    own = pair(COOKIES.set_header("SNTS1A", 60, {"scheme": "http"}))
    assert SealedCookie(key=b"x" * 32, https=False).text(scope(own)) == ""
    assert COOKIES.text(scope(f"{own}; {own}")) == ""
    assert COOKIES.text(scope(f"{own}; {'x' * 5000}")) == ""
    assert COOKIES.text({"headers": []}) == ""


def test_the_seal_of_one_purpose_is_none_of_another() -> None:
    other = SealedCookie(key=b"k" * 32, https=False, purpose="sign-in")
    assert COOKIES.text(scope(pair(other.set_header("SNTS1A", 60, {"scheme": "http"})))) == ""
    renamed = SealedCookie(key=b"k" * 32, https=True, name="sentinel-sign-in")
    assert renamed.set_header("x", 60, {"scheme": "http"}).startswith("__Host-sentinel-sign-in=x.")


def test_the_key_does_not_show() -> None:
    assert "kkk" not in repr(COOKIES)
