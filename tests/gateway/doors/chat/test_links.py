"""Who is who in the chat."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import Settings
from gateway.core.times import SystemClock
from gateway.doors.chat.links import CODE_LASTS, ChatLinks
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger


@pytest.fixture
async def links(tmp_path: Path) -> AsyncIterator[ChatLinks]:
    settings = Settings(data=tmp_path)
    async with open_sealed_ledger(settings) as ledger:
        ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
        yield ChatLinks(team="T1", ledger=ledger, keys=ring, clock=SystemClock())


async def _caller(links: ChatLinks, actor: str, kind: ActorKind = ActorKind.HUMAN, *roles: str) -> Caller:
    key = await links.keys.issue(actor=actor, kind=kind, roles=roles, lasts=timedelta(days=1))
    return key.caller


async def _link(links: ChatLinks, person: Caller, user: str) -> dict[str, Any]:
    """Ask with the key, and confirm in the chat."""
    return await links.confirm(user, (await links.ask(person, user))["code"])


async def test_a_person_links_themself_and_is_known_by_it(links: ChatLinks) -> None:
    alice = await _caller(links, "alice", ActorKind.HUMAN, "approver")
    made = await _link(links, alice, "U1")
    assert (made["actor"], made["key"], made["team"], made["linked"], made["by"]) == (
        "alice",
        alice.key_id,
        "T1",
        True,
        "alice",
    )
    assert await links.person("U1") == alice
    assert [(each["user"], each["actor"]) for each in await links.all()] == [("U1", "alice")]
    [record] = await links.ledger.records(RecordQuery(stage=Stage.CHAT_LINKED))
    assert (record.actor, record.body.members["user"]) == ("alice", "U1")


@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.SERVICE, ActorKind.PIPELINE])
async def test_only_people_are_linked(links: ChatLinks, kind: ActorKind) -> None:
    with pytest.raises(NotAllowed, match="Only a person"):
        await links.ask(await _caller(links, "robot", kind), "U1")


async def test_a_session_is_not_linked(links: ChatLinks) -> None:
    alice = await _caller(links, "alice")
    session = await links.keys.issue(
        actor="alice", kind=ActorKind.HUMAN, lasts=timedelta(hours=1), session_of=alice.key_id
    )
    with pytest.raises(NotAllowed, match="standing key"):
        await links.ask(session.caller, "U1")


async def test_a_user_of_another_person_stays_theirs(links: ChatLinks) -> None:
    alice, bob = await _caller(links, "alice"), await _caller(links, "bob")
    await _link(links, alice, "U1")
    with pytest.raises(NotAllowed, match="another person"):
        await links.ask(bob, "U1")
    with pytest.raises(NotAllowed, match="role `operator`"):
        await links.unlink(bob, "U1")
    assert (await links.person("U1")).actor == "alice"
    ended = await links.unlink(await _caller(links, "chief", ActorKind.HUMAN, "operator"), "U1")
    assert (ended["actor"], ended["by"], ended["linked"]) == ("alice", "chief", False)
    await _link(links, bob, "U1")
    assert (await links.person("U1")).actor == "bob"


async def test_a_link_that_was_ended_says_what_to_do(links: ChatLinks) -> None:
    alice = await _caller(links, "alice")
    await _link(links, alice, "U1")
    await links.unlink(alice, "U1")
    with pytest.raises(NotAllowed, match="sentinel chat link U1"):
        await links.person("U1")
    with pytest.raises(NotFound, match="not linked"):
        await links.unlink(alice, "U1")
    assert await links.all() == []


async def test_a_new_key_of_the_same_person_replaces_the_link(links: ChatLinks) -> None:
    old, new = await _caller(links, "alice"), await _caller(links, "alice")
    await _link(links, old, "U1")
    await _link(links, new, "U1")
    assert (await links.person("U1")).key_id == new.key_id
    assert len(await links.all()) == 1


async def test_without_the_users_word_nothing_is_linked(links: ChatLinks) -> None:
    alice = await _caller(links, "alice")
    asked = await links.ask(alice, "U1")
    assert (asked["actor"], asked["user"], asked["key"]) == ("alice", "U1", alice.key_id)
    with pytest.raises(NotAllowed, match="type here what it says"):
        await links.person("U1")
    assert await links.all() == []
    [record] = await links.ledger.records(RecordQuery(stage=Stage.CHAT_LINK_ASKED))
    assert asked["code"] not in str(record)


async def test_a_code_is_worth_nothing_to_others_a_second_time_or_later(links: ChatLinks) -> None:
    alice, bob = await _caller(links, "alice"), await _caller(links, "bob")
    code, other = (await links.ask(alice, "U1"))["code"], (await links.ask(bob, "U1"))["code"]
    for user, tried in (("U2", code), ("U1", "lnk_" + "0" * 26), ("U1", "")):
        with pytest.raises(NotAllowed, match="Nothing was done"):
            await links.confirm(user, tried)
    made = await links.confirm("U1", code)
    assert (made["actor"], made["linked"]) == ("alice", True)
    for used in (code, other):
        with pytest.raises(NotAllowed, match="was used"):
            await links.confirm("U1", used)
    await links.unlink(alice, "U1")
    with pytest.raises(NotAllowed, match="was used"):
        await links.confirm("U1", code)
    assert await links.all() == []


async def test_a_code_has_an_end_and_so_has_the_key_behind_it(links: ChatLinks) -> None:
    alice = await _caller(links, "alice")
    code = (await links.ask(alice, "U1"))["code"]
    late = replace(links, clock=LateClock())
    with pytest.raises(NotAllowed, match="older than ten minutes"):
        await late.confirm("U1", code)
    await links.keys.revoke(alice.key_id)
    with pytest.raises(NotAllowed, match="has ended"):
        await links.confirm("U1", code)
    assert await links.all() == []


class LateClock(SystemClock):
    """Ten minutes later."""

    def now(self) -> datetime:
        """When a code that was made now has just ended."""
        return super().now() + CODE_LASTS
