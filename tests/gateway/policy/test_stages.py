"""Changes of the stages of rules: recorded once, with their author."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.ports import RecordQuery
from gateway.core.records.policies import PolicyStagedBody
from gateway.core.records.record import Record
from gateway.line.checks.policy import GuardrailsCheck
from gateway.policy.bundle import SHIPPED, read_bundle, with_data_of
from gateway.policy.embedded import Embedded
from gateway.policy.sources import read_sources
from gateway.policy.stages import FILE, StageBook, author_of, stage_entries
from tests.kit.nouns import caller, effect, facts, mutation, subject

WARN = {"rule": "SEN-M001", "stage": "warn"}


class Events:
    """A ledger of events."""

    def __init__(self) -> None:
        self.kept: list[Record] = []

    async def record_event(self, record: Record, **_: Any) -> bool:
        """Keep it."""
        self.kept.append(record)
        return True

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The newest."""
        return self.kept[-1:]


def stage(policies: Path, *entries: dict[str, str]) -> Any:
    """The bundle of the policies with these stages."""
    (policies / FILE).write_text(json.dumps({"stages": {"entries": entries}}))
    return with_data_of(read_sources(policies), read_bundle(policies / SHIPPED))


def book(policies: Path, engine: Any, ledger: Any) -> StageBook:
    """A gateway's."""
    clock: Any = SimpleNamespace(now=lambda: facts().now)
    return StageBook(engine=engine, events=ledger, queries=ledger, clock=clock, policies=policies)


async def test_a_change_is_recorded_once_with_what_was_before(policies: Path) -> None:
    ledger, engine = Events(), SimpleNamespace(bundle=stage(policies))
    looking = book(policies, engine, ledger)
    await looking.look()
    assert not ledger.kept  # every rule is enforced, as ever
    engine.bundle = stage(policies, WARN)
    await looking.look()
    await looking.look()
    await book(policies, engine, ledger).look()  # another gateway, or the next start
    [record] = ledger.kept
    body: Any = record.body
    assert isinstance(body, PolicyStagedBody)
    assert (body.entries, body.before, body.revision) == ((WARN,), (), engine.bundle.revision)
    engine.bundle = stage(policies)
    await looking.look()
    assert [len(each.body.members["entries"]) for each in ledger.kept] == [1, 0]


def test_the_author_is_that_of_the_commit_or_owns_the_file(policies: Path) -> None:
    stage(policies, WARN)
    owner = author_of(policies)
    assert "<" not in owner
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "x")):
        subprocess.run(["git", "-C", str(policies), *arguments], check=True)
    assert author_of(policies) == "Ada <ada@example.org>"
    stage(policies)
    assert author_of(policies) == owner
    assert author_of(policies / "nowhere") == "unknown"


async def test_a_rule_that_warns_passes_and_is_noted(policies: Path) -> None:
    change = effect("aws_autoscaling_group.g", "desired_capacity", 5)
    asked = mutation(change, caller=caller("agent", ActorKind.AGENT)), facts(subject(change, 4, 4))
    for entries, denied, noted in (
        ((), ["SEN-M001"], []),
        ((WARN,), [], ["SEN-M001"]),
        ((WARN | {"stage": "off"},), [], []),
    ):
        engine = Embedded(stage(policies, *entries), deadline_ms=1000, memory_mb=64)
        opinion = await GuardrailsCheck(engine, engine.packages).examine(*asked)
        assert [each.rule for each in opinion.findings if each.rule == "SEN-M001"] == denied
        assert [each.rule for each in opinion.warned] == noted
        await engine.close()


@pytest.mark.parametrize(
    "entry",
    [{"rule": "never.x", "stage": "off"}, {"rule": "x", "stage": "observe"}, {"stack": "a*b", "stage": "off"}, {}],
)
def test_invalid_stages_are_refused_with_their_file(policies: Path, entry: dict[str, str]) -> None:
    with pytest.raises(PolicyInvalid, match=r"data/stages\.json"):
        stage(policies, entry)


def test_policies_without_stages_have_no_entries(policies: Path) -> None:
    (policies / FILE).unlink()
    data: Any = read_bundle(policies / SHIPPED)
    assert stage_entries(data) == ()
