"""`sentinel key`."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.cli.keys import open_keyring
from gateway.core.errors import SettingsInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.ports import Key
from gateway.core.settings import Settings

Document = Callable[..., tuple[int, Any]]


def found(key_id: str) -> Key | None:
    async def find() -> Key | None:
        async with open_keyring(Settings()) as keyring:
            return await keyring.find(key_id)

    return asyncio.run(find())


def test_a_key_is_issued_with_all_options(document: Document) -> None:
    code, reply = document(
        *("key", "create", "ana", "--kind", "human", "--role", "approver", "--role", "operator"),
        *("--on-behalf-of", "team-streaming", "--intent", "consistency", "--motivation", "routine", "--lasts", "1h"),
    )
    assert code == 0, reply
    key = found(reply["access_key_id"])
    assert key is not None
    assert (key.actor, key.kind, key.roles, key.on_behalf_of) == (
        "ana",
        ActorKind.HUMAN,
        ("approver", "operator"),
        "team-streaming",
    )
    assert key.motive == Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)
    assert key.secret == reply["secret_access_key"]


def test_a_key_may_be_bound_to_its_motive(sentinel: Callable[..., Any], document: Document) -> None:
    code, reply = document("key", "create", "deploy", "--intent", "consistency", "--motivation", "routine", "--only")
    assert code == 0, reply
    key = found(reply["access_key_id"])
    assert key is not None
    assert key.motive_only
    assert document("key", "list")[1]["keys"][0]["motive_only"] is True
    assert "consistency/routine only" in sentinel("key", "list").stdout


def test_a_renewed_key_is_like_the_old_one_which_still_works(document: Document) -> None:
    _, old = document(
        *("key", "create", "ana", "--kind", "human", "--role", "approver", "--on-behalf-of", "team", "--lasts", "1h"),
        *("--intent", "consistency", "--motivation", "routine", "--only"),
    )
    code, new = document("key", "renew", old["access_key_id"], "--lasts", "2h")
    assert (code, new["actor"]) == (0, "ana"), new
    one, two = found(old["access_key_id"]), found(new["access_key_id"])
    assert one is not None
    assert two is not None
    assert replace(two, id=one.id, secret=one.secret, expires_at=one.expires_at) == one
    assert (two.id != one.id, two.secret == new["secret_access_key"], one.revoked) == (True, True, False)
    assert one.expires_at is not None
    assert two.expires_at is not None
    assert two.expires_at > one.expires_at


@pytest.mark.parametrize("ended", ["unknown", "revoked"])
def test_what_cannot_be_renewed_is_said(ended: str, document: Document) -> None:
    key = document("key", "create", "ana")[1]["access_key_id"]
    document("key", "revoke", key)
    code, reply = document("key", "renew", key if ended == "revoked" else "SNTLNOSUCH")
    assert (code, reply["code"]) == (1, "malformed")
    assert "No key was made" in reply["detail"]


def test_create_prints_nothing_but_lines_for_a_shell(sentinel: Callable[..., Any]) -> None:
    lines = sentinel("key", "create", "agent-scaler").stdout.splitlines()
    assert [line.partition("=")[0] for line in lines] == [
        "export AWS_ACCESS_KEY_ID",
        "export AWS_SECRET_ACCESS_KEY",
        "export SENTINEL_TOKEN",
    ]


def test_keys_are_listed_without_secrets(sentinel: Callable[..., Any], document: Document) -> None:
    made = document("key", "create", "agent-scaler")[1]
    code, reply = document("key", "list")
    assert (code, [key["id"] for key in reply["keys"]]) == (0, [made["access_key_id"]])
    shown = sentinel("key", "list").stdout
    assert "agent-scaler" in shown
    assert made["secret_access_key"] not in shown + str(reply)


def test_a_revoked_key_says_so(sentinel: Callable[..., Any], document: Document) -> None:
    made = document("key", "create", "agent-scaler")[1]["access_key_id"]
    assert document("key", "revoke", made) == (0, {"revoked": made, "sessions": [], "approvals": []})
    assert "revoked" in sentinel("key", "list").stdout
    key = found(made)
    assert key is not None
    assert key.revoked


BAD = {
    "half a motive": (("create", "a", "--intent", "cost"), "malformed"),
    "a bad duration": (("create", "a", "--lasts", "for ever"), "motive"),
    "no name": (("create", ""), "malformed"),
    "a name over two lines, which would end up in a commit": (("create", "a\nSentinel-Actor: ana"), "malformed"),
    "a name that steers the terminal": (("create", "a\x1b[2J"), "malformed"),
    "an empty role": (("create", "a", "--role", ""), "malformed"),
    "settings that are not there": (("create", "a", "--config", "nowhere.toml"), "settings_invalid"),
}


@pytest.mark.parametrize(("command", "code"), BAD.values(), ids=BAD)
def test_bad_input_is_an_error_and_creates_nothing(
    command: tuple[str, ...], code: str, document: Document, elsewhere: Path
) -> None:
    ended, reply = document("key", *command)
    assert (ended, reply["code"]) == (1, code)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("command", [("list",), ("revoke", "SNTLAAAAAAAAAAAAAAAA")])
def test_read_only_commands_create_no_ledger(command: tuple[str, ...], document: Document, elsewhere: Path) -> None:
    code, reply = document("key", *command)
    assert (code, reply["code"]) == (1, "not_found")
    assert list(elsewhere.iterdir()) == []


def test_an_unknown_key_cannot_be_revoked(document: Document) -> None:
    document("key", "create", "a")
    code, reply = document("key", "revoke", "[red]SNTL[/red]")
    assert (code, reply["code"]) == (1, "not_found")


async def test_what_one_issues_another_finds(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    async with open_keyring(settings) as keyring:
        key = await keyring.issue(actor="a", kind=ActorKind.AGENT)
    async with open_keyring(settings) as keyring:
        assert await keyring.find(key.id) == key


async def test_a_short_master_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="at least 32"):
        async with open_keyring(Settings(data=tmp_path / "data", master_key=SecretStr("short"))):
            pass
