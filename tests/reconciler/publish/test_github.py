"""Pull requests at GitHub; what GitHub answers becomes a reply or a sentence, and the token goes nowhere else and into no text."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from reconciler.errors import GitHubBusy, GitHubFailed
from reconciler.publish.codeowners import Owners
from reconciler.publish.github import Forge, GitHubApi, Token
from tests.kit.github import REPOSITORY, TOKEN, GitHubDouble

pytestmark = pytest.mark.enable_socket
BRANCH = "sentinel/shop"


@pytest.fixture
async def hub() -> AsyncIterator[GitHubDouble]:
    async with GitHubDouble().serving() as double:
        yield double


@pytest.fixture
def forge(hub: GitHubDouble, tmp_path: Path) -> Forge:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    return Forge(api=GitHubApi(url=hub.url, token=Token(file=file)), repository=REPOSITORY)


async def test_one_that_is_open_already_is_found_instead_of_opened(hub: GitHubDouble, forge: Forge) -> None:
    first = await forge.open(branch=BRANCH, base="main", title="t", body="b")
    again = await forge.open(branch=BRANCH, base="main", title="t", body="b")
    assert first == again is not None
    assert len(hub.pulls) == 1


async def test_a_branch_with_nothing_new_has_none(hub: GitHubDouble, forge: Forge) -> None:
    hub.has_commits = lambda _base, _head: False
    assert await forge.open(branch=BRANCH, base="main", title="t", body="b") is None


async def test_a_refusal_is_passed_on(hub: GitHubDouble, forge: Forge) -> None:
    hub.head_of = lambda _: ""
    with pytest.raises(GitHubFailed, match="invalid"):
        await forge.open(branch=BRANCH, base="main", title="t", body="b")
    with pytest.raises(GitHubFailed, match="may lack rights"):
        await Forge(api=forge.api, repository="acme/other").open(branch=BRANCH, base="main", title="t", body="b")


async def test_a_branch_of_the_same_name_in_a_fork_is_another(hub: GitHubDouble, forge: Forge) -> None:
    hub.add(BRANCH, head={"ref": BRANCH, "sha": "1", "repo": {"full_name": "acme/fork"}})
    hub.add(BRANCH, head={"ref": BRANCH, "sha": "1", "repo": None})
    ours = hub.add(BRANCH)
    assert [each.number for each in await forge.of_branch(BRANCH)] == [ours["number"]]


async def test_only_our_own_comments_count(hub: GitHubDouble, forge: Forge) -> None:
    hub.add(BRANCH)
    hub.comments[1] = [
        {"body": "theirs", "user": {"login": "ada", "type": "User"}},
        {"body": "bot", "user": {"login": "x[bot]", "type": "Bot"}},
    ]
    await forge.comment(1, "ours")
    assert await forge.comments(1, "sentinel-bot") == ("ours",)
    assert await forge.comments(1, "") == ("bot",), "the token of an app has no user"


async def test_a_token_of_an_app_has_no_login(hub: GitHubDouble, forge: Forge) -> None:
    assert await forge.login() == "sentinel-bot"
    hub.login = ""
    assert await forge.login() == ""


async def test_those_who_may_not_review_do_not_keep_others_from_being_asked(hub: GitHubDouble, forge: Forge) -> None:
    hub.add(BRANCH)
    owners = Owners(users=("ada", "stranger", "bob"), teams=("acme/platform", "acme/ghosts", "other/team"))
    hub.pulls[0]["user"] = {"login": "sentinel-bot"}
    assert await forge.ask(1, owners) == ("other/team", "stranger", "ghosts")
    assert hub.reviewers[1] == {"ada", "bob", "platform"}
    assert await forge.ask(1, Owners(users=("stranger",))) == ("stranger",)
    assert await forge.ask(1, Owners()) == ()


async def test_what_is_not_as_documented_is_said(hub: GitHubDouble, forge: Forge) -> None:
    hub.add(BRANCH, head={"ref": BRANCH, "repo": {"full_name": REPOSITORY}}, state="closed")
    with pytest.raises(GitHubFailed, match="otherwise than documented"):
        await forge.of_branch(BRANCH)


PULLS = f"/repos/{REPOSITORY}/pulls?head=acme:b&state=all"


@pytest.fixture
def token(tmp_path: Path) -> Token:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return Token(file=file)


async def test_lists_are_read_to_their_last_page(token: Token) -> None:
    async with GitHubDouble().serving() as hub:
        api = GitHubApi(url=f"{hub.url}/", token=token)
        for _ in range(5):
            hub.add("b")
        assert [row["number"] for row in await api.all(PULLS)] == [5, 4, 3, 2, 1]
        assert len(hub.asked) == 3


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("broken", "502"),
        ("lost", "could not be reached"),
        ("moved", "renamed or moved"),
        ("slow", "did not answer"),
    ],
)
async def test_failures_are_sentences_without_the_token(token: Token, method: str, fault: str, says: str) -> None:
    async with GitHubDouble(faults={0: fault}).serving() as hub:
        api = GitHubApi(url=hub.url, token=token, seconds=0.5 if fault == "slow" else 300)
        with pytest.raises(GitHubFailed, match=says) as caught:
            await api.request(method, "/user")
        assert TOKEN not in str(caught.value) + repr(caught.value.__cause__) + repr(api)
        assert len(hub.asked) == 1, "nothing is sent twice"


@pytest.mark.parametrize(("fault", "seconds"), [("busy", 7), ("exhausted", 60)])
async def test_a_rate_limit_says_how_long_to_wait(token: Token, fault: str, seconds: float) -> None:
    async with GitHubDouble(faults={0: fault}).serving() as hub:
        api = GitHubApi(url=hub.url, token=token, now=lambda: 100.0)
        with pytest.raises(GitHubBusy) as caught:
            await api.request("GET", "/user")
        assert caught.value.wait_seconds == seconds


async def test_a_token_is_read_at_each_use(token: Token) -> None:
    async with GitHubDouble(tokens={"another-token"}).serving() as hub:
        api = GitHubApi(url=hub.url, token=token)
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
    async with GitHubDouble().serving() as hub:
        api = GitHubApi(url=hub.url, token=Token(file=file))
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
        api = GitHubApi(url=f"http://127.0.0.1:{runner.addresses[0][1]}", token=token)
        with pytest.raises(GitHubFailed, match="another server"):
            await api.all("/list")
    finally:
        await runner.cleanup()
