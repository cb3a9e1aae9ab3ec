"""What is asked of HCP Terraform, and what of its answers is taken."""

from collections.abc import AsyncIterator

import pytest

from gateway.core.errors import NotAllowed
from gateway.doors.api.hcp_host import HcpHost, HostUnusable
from tests.kit.hcp import TOKEN, HcpStub

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
async def hcp() -> AsyncIterator[HcpStub]:
    stub = HcpStub(plan=b'{"plan": 1}')
    runner = await stub.start()
    yield stub
    await runner.cleanup()


@pytest.fixture
def host(hcp: HcpStub) -> HcpHost:
    def listed(url: str) -> None:
        if not url.startswith(f"http://{hcp.host}/"):
            raise NotAllowed("Not listed.")

    return HcpHost(listed, largest_plan=1000)


async def test_the_plan_is_fetched_through_the_redirect(host: HcpHost, hcp: HcpStub) -> None:
    assert await host.plan(f"http://{hcp.host}/plan", TOKEN) == b'{"plan": 1}'
    assert [path for _, path, _ in hcp.asked] == ["/plan", "/archive"]


@pytest.mark.parametrize(("behaviour", "sentence"), [("missing", "answered 404"), ("loop", "redirected too often")])
async def test_an_answer_without_a_plan_is_a_sentence(
    host: HcpHost, hcp: HcpStub, behaviour: str, sentence: str
) -> None:
    hcp.behaviour = behaviour
    with pytest.raises(HostUnusable, match=sentence):
        await host.plan(f"http://{hcp.host}/plan", TOKEN)


async def test_a_redirect_leads_nowhere_that_is_not_listed(host: HcpHost, hcp: HcpStub) -> None:
    hcp.behaviour = "away"
    with pytest.raises(NotAllowed):
        await host.plan(f"http://{hcp.host}/plan", TOKEN)
    with pytest.raises(NotAllowed):
        await host.report("http://127.0.0.1:1/", TOKEN, {})


async def test_a_plan_is_read_only_up_to_its_limit(host: HcpHost, hcp: HcpStub) -> None:
    hcp.plan = b"x" * 1001
    with pytest.raises(HostUnusable, match="more than 1000 bytes"):
        await host.plan(f"http://{hcp.host}/plan", TOKEN)


async def test_a_result_that_is_not_taken_is_an_error(host: HcpHost, hcp: HcpStub) -> None:
    await host.report(f"http://{hcp.host}/callback", TOKEN, {"data": 1})
    assert hcp.results == [{"data": 1}]
    hcp.behaviour = "refuses"
    with pytest.raises(HostUnusable, match="answered 422"):
        await host.report(f"http://{hcp.host}/callback", TOKEN, {})


async def test_nobody_at_the_address_is_a_sentence() -> None:
    host = HcpHost(lambda _: None, largest_plan=10)
    with pytest.raises(HostUnusable, match="could not be asked"):
        await host.plan("http://127.0.0.1:9/plan", TOKEN)
    with pytest.raises(HostUnusable, match="did not arrive"):
        await host.report("http://127.0.0.1:9/callback", TOKEN, {})
