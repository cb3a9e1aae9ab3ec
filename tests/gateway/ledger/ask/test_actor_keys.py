"""The keys of an actor: those that have not ended, each with its open sessions, found by an index."""

from datetime import timedelta
from functools import partial
from pathlib import Path

from gateway.core.model.caller import ActorKind, Assumed
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.ports import Key
from gateway.core.times import SystemClock
from gateway.ledger.ask.actor_keys import MOST_SESSIONS, keys_of
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import open_ledger
from tests.kit.stores import KEYS, MASTER

MOTIVE = Motive(intent=Intent.COST, motivation=Motivation.BUDGET)


async def test_they_are_the_open_ones_with_their_open_sessions(tmp_path: Path) -> None:
    clock = SystemClock()
    async with open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS) as ledger:
        ring = SqlKeyRing(ledger, master=MASTER, clock=clock)
        issue = partial(ring.issue, kind=ActorKind.AGENT, lasts=timedelta(hours=1))
        gone, first, second = [await issue(actor="bot") for _ in range(3)]
        await issue(actor="other")
        await ring.revoke(gone.id)
        sessions = [(await issue(actor="bot", motive=MOTIVE, session_of=first.id)).id for _ in range(MOST_SESSIONS + 2)]
        await ring.revoke(sessions[0])
        found = await ledger.keys_of("bot", ["deployer"], clock.now())
        assert {key.id: key.open_sessions for key in found} == {first.id: MOST_SESSIONS + 1, second.id: 0}
        [own] = [key for key in found if key.id == first.id]
        assert len(own.sessions) == MOST_SESSIONS
        assert {each.id for each in own.sessions} <= set(sessions[1:])
        assert (own.kind, own.sessions[0].intent, own.sessions[0].motivation) == ("agent", "cost", "budget")
        assert await ledger.keys_of("nobody", [], clock.now()) == []
        assert await ledger.keys_of("bot", [], clock.now() + timedelta(days=1)) == []


async def test_sessions_in_a_role_are_listed_without_a_key(tmp_path: Path) -> None:
    clock = SystemClock()
    async with open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS) as ledger:
        ring = SqlKeyRing(ledger, master=MASTER, clock=clock)
        assumed = Assumed(role="deployer", name="ci", subject="https://id.example web")
        wanted = Key(id="", secret="", actor="web", kind=ActorKind.SERVICE, motive=MOTIVE, assumed=assumed)
        await ring.assume(wanted, lasts=timedelta(hours=1))
        found = await ledger.query(partial(keys_of, actor="web", roles=["deployer", "reader"], now=clock.now()))
        assert [(key.id, key.open_sessions, key.created_at) for key in found] == [("role:deployer", 1, None)]
