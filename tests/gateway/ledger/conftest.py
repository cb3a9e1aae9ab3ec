"""An open ledger on SQLite, and a `Scene` that creates mutations and records them. The suites in tests/ports test both databases."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.claim import Claim
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Mutation
from gateway.core.model.outcome import Applied, Reply, Sent
from gateway.core.model.verdict import Decision, Mode, Verdict
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store.database import Store
from tests.kit import nouns
from tests.kit.stores import KEYS, open_copied_store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
APPLIED = Applied(reply=Reply(status=200, headers=(), body=b"ok"), request_id="r-1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Creates mutations of one attribute of `aws_sqs_queue.orders`, at noon."""

    ledger: SqlLedger
    now: datetime = NOW
    applied: Applied = APPLIED

    def mutation(self, value: Json = 6, attribute: str = "delay", *, actor: str = "agent", **members: Any) -> Mutation:
        """A new mutation. `members` are members of its effect, except `key`, its idempotency key."""
        key = str(members.pop("key", ""))
        return nouns.mutation(
            nouns.effect(members.pop("address", nouns.QUEUE), attribute, value, **members),
            caller=nouns.caller(actor),
            call=Call(service="sqs", operation="SetQueueAttributes", parameters={"Value": str(value)}),
            idempotency_key=key,
        )

    def facts(self, change: Mutation, mode: Mode = Mode.ENFORCE) -> Facts:
        """What was true: every attribute was 4."""
        return nouns.facts(*nouns.subjects(change.effects), now=self.now, mode=mode)

    def decision(self, verdict: Verdict = Verdict.ALLOW, **members: Any) -> Decision:
        """A decision of one finding."""
        return nouns.decision(verdict, **members)

    async def execute(self, change: Mutation, outcome: Sent = APPLIED, **members: Any) -> Sequence[Claim]:
        """Decide and settle; the claims taken."""
        claims = await self.ledger.record_decision(change, self.facts(change), nouns.decision(**members))
        await self.ledger.record_outcome(change, outcome, self.now)
        return claims


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """A scene on a new ledger. Whatever a test did with it, all its tables must follow from its records."""
    async with open_ledger(f"sqlite:///{tmp_path / 'scene.db'}", KEYS) as ledger:
        yield Scene(ledger=ledger)
        await ledger.verify()


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    """A new ledger."""
    async with open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store without a ledger above it."""
    opened = open_copied_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    yield opened
    opened.close()
