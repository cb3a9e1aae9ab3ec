"""Who may read the figures: keys with the role, and networks of the settings; tests/gateway/telemetry plays it on a whole gateway."""

import ipaddress

import httpx
import pytest

from gateway.core.errors import NotAuthenticated
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.inbound import Inbound
from gateway.doors.metrics import MetricsDoor
from tests.kit.doubles import CloudDouble, FixedClock, LedgerDouble, line


class _Bearer:
    """Knows one key by its roles."""

    async def authenticate(self, inbound: Inbound) -> Caller:
        token = inbound.header("authorization")
        if token is None:
            raise NotAuthenticated("No key.")
        return Caller(actor="x", kind=ActorKind.SERVICE, key_id="SNTL1", roles=tuple(token.split()))


async def _scrape(accept: str) -> tuple[bytes, str]:
    return f"figures for {accept}".encode(), "text/plain"


@pytest.mark.parametrize(
    ("peer", "roles", "status"),
    [
        ("10.0.7.9", None, 200),
        ("::ffff:10.0.7.9", None, 200),
        ("fd00::1", None, 200),
        ("10.0.8.9", None, 401),
        ("127.0.0.1", None, 401),
        ("", None, 401),
        ("not an address", None, 401),
        ("10.0.8.9", "approver", 403),
        ("10.0.8.9", "metrics", 200),
    ],
)
async def test_only_those_who_may_read_them(peer: str, roles: str | None, status: int) -> None:
    ledger = LedgerDouble()
    door = MetricsDoor(
        pipeline=line(ledger, CloudDouble([])),
        authenticator=_Bearer(),
        clock=FixedClock(),
        peers=[ipaddress.ip_network("10.0.7.0/24"), ipaddress.ip_network("fd00::/8")],
        scrape=_scrape,
    )
    transport = httpx.ASGITransport(door, client=(peer, 1))
    headers = {"accept": "text/plain", **({} if roles is None else {"authorization": roles})}
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        found = await client.get("/metrics", headers=headers)
    assert found.status_code == status
    assert (found.text == "figures for text/plain") is (status == 200)
    assert len(ledger.refusals) == (status != 200), "a stranger is recorded"
