"""What GitHub answers becomes a reply or a sentence; the token goes nowhere else and into no text."""

from pathlib import Path

import pytest
from aiohttp import web

from reconciler.errors import GitHubBusy, GitHubFailed
from reconciler.publish.github_api import GitHubApi, Token
from tests.kit.github import REPOSITORY, TOKEN, GitHubDouble

pytestmark = pytest.mark.enable_socket
PULLS = f"/repos/{REPOSITORY}/pulls?head=acme:b&state=all"


@pytest.fixture
def token(tmp_path: Path) -> Token:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return Token(file=file)


async def test_lists_are_read_to_their_last_page(token: Token) -> None:
    async with GitHubDouble().serving() as hub, GitHubApi(url=f"{hub.url}/", token=token) as api:
        for _ in range(5):
            hub.add("b")
        assert [row["number"] for row in await api.all(PULLS)] == [5, 4, 3, 2, 1]
        assert len(hub.asked) == 3


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("broken", "502"),
        ("lost", "could not be reached"),
        ("moved", "renamed or moved"),
        ("slow", "did not answer"),
    ],
)
async def test_failures_are_sentences_without_the_token(token: Token, fault: str, says: str) -> None:
    async with GitHubDouble(faults={0: fault}).serving() as hub:
        async with GitHubApi(url=hub.url, token=token, seconds=0.5) as api:
            with pytest.raises(GitHubFailed, match=says) as caught:
                await api.request("POST", "/user")
        assert TOKEN not in str(caught.value) + repr(caught.value.__cause__) + repr(api)
        assert len(hub.asked) == 1, "nothing is sent twice"


@pytest.mark.parametrize(("fault", "seconds"), [("busy", 7), ("exhausted", 60)])
async def test_a_rate_limit_says_how_long_to_wait(token: Token, fault: str, seconds: float) -> None:
    async with (
        GitHubDouble(faults={0: fault}).serving() as hub,
        GitHubApi(url=hub.url, token=token, now=lambda: 100.0) as api,
    ):
        with pytest.raises(GitHubBusy) as caught:
            await api.request("GET", "/user")
        assert caught.value.wait_seconds == seconds


async def test_a_token_is_read_at_each_use(token: Token) -> None:
    async with GitHubDouble(tokens={"another-token"}).serving() as hub, GitHubApi(url=hub.url, token=token) as api:
        with pytest.raises(GitHubFailed, match="refused the token"):
            await api.request("GET", "/user")
        assert token.file
        token.file.write_text("another-token")
        assert (await api.request("GET", "/user")).document == {"login": "sentinel-bot"}


@pytest.mark.parametrize("content", [None, "", "two words", "kurz", "a\nb"])
async def test_without_a_token_nothing_is_sent(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "none"
    if content is not None:
        file.write_text(content)
    async with GitHubDouble().serving() as hub, GitHubApi(url=hub.url, token=Token(file=file)) as api:
        with pytest.raises(GitHubFailed, match=r"token.*nothing was sent|Nothing was sent"):
            await api.request("GET", "/user")
        assert hub.asked == []


def test_a_token_may_stand_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_TOKEN", TOKEN)
    assert Token(variable="ACME_TOKEN").read() == TOKEN
    with pytest.raises(GitHubFailed, match="the variable OTHER"):
        Token(variable="OTHER").read()


async def test_a_next_page_at_another_server_is_not_asked(token: Token) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response([], headers={"Link": '<http://127.0.0.1:9/x>; rel="next"'})

    application = web.Application()
    application.router.add_get("/list", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with GitHubApi(url=f"http://127.0.0.1:{runner.addresses[0][1]}", token=token) as api:
            with pytest.raises(GitHubFailed, match="another server"):
                await api.all("/list")
    finally:
        await runner.cleanup()


async def test_a_closed_connection_sends_nothing(token: Token) -> None:
    with pytest.raises(GitHubFailed, match="was not sent"):
        await GitHubApi(url="http://127.0.0.1:9", token=token).request("GET", "/user")
