"""The identity of the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.client import UP_DIRECTORY, CliIdentity, identity
from gateway.cli.demo.credentials import FILE_NAME, NoIdentity, credentials_text
from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key

URL, TOKEN = "http://127.0.0.1:8484", "SNTLAAAAAAAAAAAAAAAA.a-secret"


@pytest.fixture
def saved_credentials(elsewhere: Path) -> None:
    """The credentials file of a `sentinel up` in this directory."""
    key = Key(id="SNTLBBBBBBBBBBBBBBBB", secret="kept", actor="agent-scaler", kind=ActorKind.AGENT)
    (elsewhere / UP_DIRECTORY).mkdir(parents=True)
    (elsewhere / UP_DIRECTORY / FILE_NAME).write_text(
        credentials_text("http://127.0.0.1:9999", "us-east-1", {"agent": key})
    )


def test_the_environment_comes_first(saved_credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_URL", URL + "/")
    monkeypatch.setenv("SENTINEL_TOKEN", TOKEN)
    assert identity() == CliIdentity(url=URL, token=TOKEN)


SAVED = CliIdentity(url="http://127.0.0.1:9999", token="SNTLBBBBBBBBBBBBBBBB.kept", region="us-east-1")


def test_then_the_sentinel_up_of_this_directory(saved_credentials: None) -> None:
    assert identity(default="agent") == SAVED


def test_an_actor_that_is_named_comes_before_the_environment(
    saved_credentials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_TOKEN", TOKEN)
    assert identity("agent") == SAVED
    monkeypatch.setenv("SENTINEL_URL", SAVED.url + "/")
    assert identity("agent") == SAVED


def test_a_saved_secret_is_sent_to_no_other_gateway(saved_credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_URL", URL)
    with pytest.raises(NoIdentity, match=r"`sentinel up` at http://127.0.0.1:9999, but SENTINEL_URL is"):
        identity("agent")


def test_an_actor_that_is_named_needs_a_sentinel_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_URL", URL)
    monkeypatch.setenv("SENTINEL_TOKEN", TOKEN)
    with pytest.raises(NoIdentity, match=r"--as agent needs the credentials .* or leave out --as"):
        identity("agent")


def test_each_part_may_come_from_elsewhere(saved_credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_URL", URL)
    assert identity(default="agent").url == URL
    assert identity(default="agent").token == "SNTLBBBBBBBBBBBBBBBB.kept"


def test_without_either_it_says_what_to_do() -> None:
    with pytest.raises(NoIdentity, match=r"Set SENTINEL_URL .* or run this in the directory where `sentinel up` runs"):
        identity()


def test_an_identity_does_not_print_its_token() -> None:
    assert "a-secret" not in repr(CliIdentity(url=URL, token=TOKEN))


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8484", "ftp://x", "http://", "http://x:port", "http://x:99999", "[red]x[/red]"]
)
def test_an_invalid_address_is_an_error(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_URL", url)
    monkeypatch.setenv("SENTINEL_TOKEN", TOKEN)
    with pytest.raises(NoIdentity, match="must be the gateway's address"):
        identity()


@pytest.mark.parametrize("token", ["only-a-word", "a.", ".b", "a.b\nX-Injected: 1", "a.b c", "ä.b"])
def test_an_invalid_token_is_an_error_that_does_not_show_it(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_URL", URL)
    monkeypatch.setenv("SENTINEL_TOKEN", token)
    with pytest.raises(NoIdentity) as refused:
        identity()
    assert token not in str(refused.value).replace("`<key id>.<secret>`", "")


COMMANDS = {
    "records": ("records",),
    "claims": ("claims",),
    "blame": ("blame", "aws_instance.web.ami"),
    "propose": ("propose", "sqs", "CreateQueue", "{}"),
    "approve": ("approve", "mut_" + "0" * 26, "--yes"),
    "reject": ("reject", "mut_" + "0" * 26, "--reason", "no"),
    "release": ("release", "mut_" + "0" * 26),
    "session": ("session", "--intent", "cost", "--motivation", "budget"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_command_without_an_identity_says_so(command: tuple[str, ...], document: Callable[..., Any]) -> None:
    code, reply = document(*command)
    assert (code, reply["code"]) == (1, "no_identity")
