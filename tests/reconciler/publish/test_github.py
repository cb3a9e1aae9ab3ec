"""Pull requests are found, opened once, changed, commented on and reviewed by those who may."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reconciler.errors import GitHubFailed
from reconciler.publish.codeowners import Owners
from reconciler.publish.github import Forge
from reconciler.publish.github_api import GitHubApi, Token
from tests.kit.github import REPOSITORY, TOKEN, GitHubDouble

pytestmark = pytest.mark.enable_socket
BRANCH = "sentinel/shop"


@pytest.fixture
async def hub() -> AsyncIterator[GitHubDouble]:
    async with GitHubDouble().serving() as double:
        yield double


@pytest.fixture
async def forge(hub: GitHubDouble, tmp_path: Path) -> AsyncIterator[Forge]:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    async with GitHubApi(url=hub.url, token=Token(file=file)) as api:
        yield Forge(api=api, repository=REPOSITORY)


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
