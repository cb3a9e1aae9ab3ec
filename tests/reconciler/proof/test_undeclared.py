"""Most values are read without terraform; one plan is reused for all values that need a plan."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

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
    )


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    (tmp_path / "main.tf").write_text(CODE)
    return Fake(environment={}, workdir=tmp_path)


def _wanted(attribute: str, value: str | int) -> Wanted:
    return Wanted(address="aws_x.a", attribute=attribute, value=value)


async def _missing(
    fake: Fake, cache: DeclaredCache, *wanted: Wanted, kind: str = "agent", head: str = "1"
) -> list[str]:
    context = ProofContext(terraform=fake, root=fake.workdir, state=None)
    return [want.attribute for want in await undeclared(context, cache, _applied(kind), wanted, head=head)]


@pytest.mark.parametrize(("value", "missing"), [(4, []), (6, ["size"])])
async def test_a_literal_needs_no_plan(fake: Fake, value: int, missing: list[str]) -> None:
    assert await _missing(fake, DeclaredCache(), _wanted("size", value)) == missing
    assert not fake.plans


async def test_a_value_that_depends_on_the_live_system_needs_a_plan(fake: Fake) -> None:
    assert await _missing(fake, DeclaredCache(), _wanted("arn", "1")) == ["arn"]


async def test_what_terraform_sent_by_itself_is_no_reason_to_write(fake: Fake) -> None:
    wanted = _wanted("unset", "default"), _wanted("arn", "1")
    assert await _missing(fake, DeclaredCache(), *wanted, kind="pipeline") == ["arn"]
    assert await _missing(fake, DeclaredCache(), *wanted) == ["unset", "arn"]


async def test_one_plan_is_reused_until_code_or_live_values_change(fake: Fake) -> None:
    cache = DeclaredCache()
    for _ in range(3):
        await _missing(fake, cache, _wanted("arn", "1"))
    assert len(fake.plans) == 1
    await _missing(fake, cache, _wanted("arn", "1"), head="2")
    assert len(fake.plans) == 2
    later = replace(_applied(), settled_at=datetime.now(UTC))
    await undeclared(
        ProofContext(terraform=fake, root=fake.workdir, state=None), cache, later, [_wanted("arn", "1")], head="2"
    )
    assert len(fake.plans) == 3
