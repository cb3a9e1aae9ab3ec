"""Most values are told without terraform; one plan serves for all that only a plan can tell."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.model.record import Record, Stage
from reconciler.drift.applied import AppliedMutation
from reconciler.model import Wanted
from reconciler.proof.propose import ProofContext
from reconciler.proof.undeclared import DeclaredCache, undeclared
from reconciler.terraform.cli import Terraform

CODE = 'resource "aws_x" "a" {\n  size = 4\n  arn  = aws_y.b.arn\n}\n'
EARLIER = datetime.now(UTC) - timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fake(Terraform):
    """A terraform whose plan would change `arn`, and that counts its plans."""

    plans: list[Path] = field(default_factory=list)

    async def plan(self, root: Path, *, state: Path | None = None, targets: Any = ()) -> Path | None:
        self.plans.append(root)
        return root

    async def show(self, root: Path, plan: Path) -> dict[str, Any]:
        change = {"actions": ["update"], "before": {"arn": "1"}, "after": {"arn": "2"}}
        return {"resource_changes": [{"address": "aws_x.a", "mode": "managed", "change": change}]}


def _applied(kind: str = "agent") -> AppliedMutation:
    record = Record(stage=Stage.DECIDED, at=EARLIER)
    return AppliedMutation(
        id="mut_1",
        seq=1,
        stack="shop",
        actor="a",
        kind=kind,
        at=EARLIER,
        operation="x:Y",
        effects=(),
        settled_at=EARLIER,
        record=record,
    )


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    (tmp_path / "main.tf").write_text(CODE)
    return Fake(environment={}, workdir=tmp_path)


def _wanted(attribute: str, value: str | int) -> Wanted:
    return Wanted(address="aws_x.a", attribute=attribute, value=value)


async def _missing(
    fake: Fake, glance: DeclaredCache, *wanted: Wanted, kind: str = "agent", head: str = "1"
) -> list[str]:
    ground = ProofContext(terraform=fake, root=fake.workdir, state=None)
    return [want.attribute for want in await undeclared(ground, glance, _applied(kind), wanted, head=head)]


@pytest.mark.parametrize(("value", "missing"), [(4, []), (6, ["size"])])
async def test_a_literal_needs_no_plan(fake: Fake, value: int, missing: list[str]) -> None:
    assert await _missing(fake, DeclaredCache(), _wanted("size", value)) == missing
    assert not fake.plans


async def test_what_hangs_on_the_live_system_is_told_by_a_plan(fake: Fake) -> None:
    assert await _missing(fake, DeclaredCache(), _wanted("arn", "1")) == ["arn"]


async def test_what_terraform_sent_by_itself_is_no_reason_to_write(fake: Fake) -> None:
    wanted = _wanted("unset", "default"), _wanted("arn", "1")
    assert await _missing(fake, DeclaredCache(), *wanted, kind="pipeline") == ["arn"]
    assert await _missing(fake, DeclaredCache(), *wanted) == ["unset", "arn"]


async def test_one_plan_serves_for_many_until_the_code_or_the_world_moves(fake: Fake) -> None:
    glance = DeclaredCache()
    for _ in range(3):
        await _missing(fake, glance, _wanted("arn", "1"))
    assert len(fake.plans) == 1
    await _missing(fake, glance, _wanted("arn", "1"), head="2")
    assert len(fake.plans) == 2
    later = replace(_applied(), settled_at=datetime.now(UTC))
    await undeclared(
        ProofContext(terraform=fake, root=fake.workdir, state=None), glance, later, [_wanted("arn", "1")], head="2"
    )
    assert len(fake.plans) == 3
