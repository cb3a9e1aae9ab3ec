"""A secret that the code declares otherwise is left to a person: the next apply would set it back."""

from pathlib import Path

import pytest

from gateway.core.model.masking import PER_RUN
from gateway.core.model.mutation import EffectAction
from gateway.core.times import SystemClock
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.line.loop import Line
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.terraform.plan import ResourceChange, TerraformPlan
from tests.kit import nouns
from tests.kit.doubles import NOW

PARAMETER = "aws_ssm_parameter.greeting"
CODE = 'resource "aws_ssm_parameter" "greeting" {{\n  name  = "/greeting"\n  type  = "String"\n  value = {}\n}}\n'


class _Line(Line):
    """A line whose protected code is in `source`, with a plan that a test gives."""

    async def protected_root(self) -> Path:
        return self.source

    async def plan_protected(self) -> TerraformPlan | None:
        return PLANS.pop()

    async def protected_head(self) -> str:
        return "c0ffee"


PLANS: list[TerraformPlan | None] = []
"""The plans to come."""


def _plan(attribute: str) -> TerraformPlan:
    change = ResourceChange(address=PARAMETER, attribute=attribute, sensitive=True)
    return TerraformPlan(changes=(change,), drift=(change,), configured={}, outputs=(), objects={})


@pytest.mark.parametrize(
    ("value", "plan", "left"),
    [
        ('"hello"', [_plan("value")], ["value"]),
        ('"hello"', [_plan("tags")], []),
        ('"hello"', [None], []),
        ("var.greeting", [], []),
    ],
    ids=["the code says otherwise", "something else differs", "nothing differs", "the code does not tell"],
)
async def test_it_is_left_if_the_plan_would_set_it_back(
    tmp_path: Path, value: str, plan: list[TerraformPlan | None], left: list[str]
) -> None:
    (tmp_path / "main.tf").write_text(CODE.format(value) + 'variable "greeting" {}\n')
    PLANS[:] = plan
    secret = PER_RUN.mask("goodbye")
    effect = nouns.effect(
        PARAMETER, "value", secret, action=EffectAction.SET, resource_type="aws_ssm_parameter", sensitive=True
    )
    applied = AppliedMutation(
        id="mut_1", seq=1, stack="s", actor="a", at=NOW, settled_at=NOW, operation="ssm:PutParameter", effects=(effect,)
    )
    line = _Line(
        stack="s",
        source=tmp_path,
        state=None,
        branch="b",
        worktree=tmp_path,
        terraform=None,  # type: ignore[arg-type]  # nothing of these is asked
        queries=None,  # type: ignore[arg-type]
        commands=None,  # type: ignore[arg-type]
        clock=SystemClock(),
        declared_cache=DeclaredCache(),
    )
    backlog = Backlog(stack="s")
    assert line.without_code(applied, backlog) is None

    proposal = await line.prove(applied, backlog)

    assert [each.wanted.attribute for each in proposal.left] == left
    assert [each.wanted.value for each in proposal.left] == [None] * len(left)
    assert len(proposal.left) + len(proposal.kept_out) == 1
    assert not PLANS
