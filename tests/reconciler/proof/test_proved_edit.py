"""Edits are proved with the called value, then with the provider's form; any other value is left, and files are restored."""

import json
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.json import Json
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.errors import TerraformFailed
from reconciler.model import Left, Wanted
from reconciler.proof import proved_edit as proved_edit_module
from reconciler.proof.proofs import Verified
from reconciler.proof.proved_edit import (
    DeclaredCache,
    ProofContext,
    attempt,
    prove_edits,
    undeclared_values,
    without_replaced,
)
from reconciler.rewrite.value_edits import Live
from reconciler.terraform.cli import Terraform

CODE = 'resource "aws_x" "a" {\n  size = 4\n  text = "old"\n}\n\nresource "aws_x" "b" {\n  size = 1\n}\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Fake(Terraform):
    """A terraform whose live values are given; its plan is what the code in `root` does not say."""

    live: dict[str, Json] = field(default_factory=dict)
    refuses: str = ""
    broken: bool = False

    async def format(self, source: bytes) -> bytes | None:
        return source

    async def plan(self, root: Path, *, state: Path | None = None, targets: Any = ()) -> Path | None:
        code = (root / "main.tf").read_text()
        if self.broken or (self.refuses and self.refuses in code):
            raise TerraformFailed.saying("plan", "invalid value")
        return root if self._differing(code) else None

    async def show(self, root: Path, plan: Path) -> dict[str, Any]:
        code = (root / "main.tf").read_text()
        before = dict(self.live)
        after = {**before, **self._differing(code)}
        change = {"actions": ["update"], "before": before, "after": after}
        return {"resource_changes": [{"address": "aws_x.a", "mode": "managed", "change": change}]}

    def _differing(self, code: str) -> dict[str, Json]:
        return {name: "code" for name, value in self.live.items() if f"{name} = {_hcl(value)}\n" not in code}


def _hcl(value: Json) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _context(tmp_path: Path, **changes: Any) -> ProofContext:
    (tmp_path / "main.tf").write_text(CODE)
    return ProofContext(terraform=Fake(environment={}, workdir=tmp_path, **changes), root=tmp_path, state=None)


def _wanted(value: Json, attribute: str = "size", address: str = "aws_x.a") -> Wanted:
    return Wanted(address=address, attribute=attribute, value=value)


async def test_what_holds_is_proved_and_nothing_stays_written(tmp_path: Path) -> None:
    context = _context(tmp_path, live={"size": 6})
    proved = await prove_edits(context, [_wanted(6)], explain=lambda _: "")
    assert proved.edited.files[Path("main.tf")] == CODE.replace("= 4", "= 6").encode()
    assert all(proof.held for proof in proved.proofs)
    assert len(proved.proofs) == 7
    assert not proved.left
    assert (tmp_path / "main.tf").read_text() == CODE


async def test_what_live_has_no_longer_is_left(tmp_path: Path) -> None:
    proved = await prove_edits(_context(tmp_path, live={"size": 9}), [_wanted(6)], explain=lambda _: "")
    assert not proved.edited.edits
    assert "Live is 9 and not 6 any more" in proved.left[0].reason


async def test_the_other_values_of_the_same_mutation_are_still_written(tmp_path: Path) -> None:
    context = _context(tmp_path, live={"size": 9, "text": "new"})
    proved = await prove_edits(context, [_wanted(6), _wanted("new", "text")], explain=lambda _: "")
    assert [edit.wanted.attribute for edit in proved.edited.edits] == ["text"]
    assert [left.wanted.attribute for left in proved.left] == ["size"]


async def test_what_terraform_refuses_is_left_with_what_it_said(tmp_path: Path) -> None:
    proved = await prove_edits(
        _context(tmp_path, live={"size": 4}, refuses="size = 6"), [_wanted(6)], explain=lambda _: ""
    )
    assert not proved.edited.edits
    assert "invalid value" in proved.left[0].reason
    assert proved.left[0].chain


async def test_code_that_cannot_be_planned_anyway_is_not_the_edits_fault(tmp_path: Path) -> None:
    with pytest.raises(TerraformFailed):
        await prove_edits(_context(tmp_path, broken=True), [_wanted(6)], explain=lambda _: "")
    assert (tmp_path / "main.tf").read_text() == CODE


async def test_an_unknown_place_is_left_without_a_plan(tmp_path: Path) -> None:
    proved = await prove_edits(
        _context(tmp_path, broken=True), [_wanted(6, address="aws_x.gone")], explain=lambda _: ""
    )
    assert len(proved.left) == 1


async def test_what_is_left_explains_itself(tmp_path: Path) -> None:
    context = _context(tmp_path, live={"size": 9, "text": "new"})
    left = Left(wanted=_wanted(9), reason="No.")
    _, verified = await attempt(context, [_wanted("new", "text")], explain=lambda _: "", own_left=[left])
    assert verified is not None
    assert verified.holds


POLICY = Path(__file__).parents[2] / "cases" / "edits" / "policy_document"


async def test_the_state_is_read_only_for_values_that_no_edit_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masking the secrets of a large state takes longer than most edits."""

    async def verified(*_: Any, **__: Any) -> Verified:
        return Verified(proofs=())

    reads: list[str] = []

    async def recorded() -> Live:
        reads.append("state")
        return {"aws_s3_bucket.b": {"arn": "arn:aws:s3:::b"}}

    monkeypatch.setattr(proved_edit_module, "verify", verified)
    shutil.copytree(POLICY / "before", tmp_path / "stack")
    policy = Wanted(**json.loads((POLICY / "wanted.json").read_text())[0])
    bucket = Wanted(address="aws_s3_bucket.b", attribute="bucket", value="c")
    terraform = Fake(environment={}, workdir=tmp_path)
    context = ProofContext(terraform=terraform, root=tmp_path / "stack", state=None, recorded=recorded)

    edited, _ = await attempt(context, [bucket], explain=lambda _: "")
    assert (edited.left, reads) == ((), [])
    edited, _ = await attempt(context, [policy], explain=lambda _: "")
    assert (edited.left, reads) == ((), ["state"])
    edited, _ = await attempt(replace(context, recorded=None), [policy], explain=lambda _: "")
    assert [left.wanted for left in edited.left] == [policy]


CODE_OF_UNDECLARED = 'resource "aws_x" "a" {\n  size = 4\n  arn  = aws_y.b.arn\n}\n'
EARLIER = datetime.now(UTC) - timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeUndeclared(Terraform):
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
def fake(tmp_path: Path) -> FakeUndeclared:
    (tmp_path / "main.tf").write_text(CODE_OF_UNDECLARED)
    return FakeUndeclared(environment={}, workdir=tmp_path)


def _undeclared_want(attribute: str, value: str | int) -> Wanted:
    return Wanted(address="aws_x.a", attribute=attribute, value=value)


async def _missing(
    fake: FakeUndeclared, cache: DeclaredCache, *wanted: Wanted, kind: str = "agent", head: str = "1"
) -> list[str]:
    context = ProofContext(terraform=fake, root=fake.workdir, state=None)
    return [want.attribute for want in await undeclared_values(context, cache, _applied(kind), wanted, head=head)]


@pytest.mark.parametrize(("value", "missing"), [(4, []), (6, ["size"])])
async def test_a_literal_needs_no_plan(fake: FakeUndeclared, value: int, missing: list[str]) -> None:
    assert await _missing(fake, DeclaredCache(), _undeclared_want("size", value)) == missing
    assert not fake.plans


async def test_a_value_that_depends_on_the_live_system_needs_a_plan(fake: FakeUndeclared) -> None:
    assert await _missing(fake, DeclaredCache(), _undeclared_want("arn", "1")) == ["arn"]


async def test_what_terraform_sent_by_itself_is_no_reason_to_write(fake: FakeUndeclared) -> None:
    wanted = _undeclared_want("unset", "default"), _undeclared_want("arn", "1")
    assert await _missing(fake, DeclaredCache(), *wanted, kind="pipeline") == ["arn"]
    assert await _missing(fake, DeclaredCache(), *wanted) == ["unset", "arn"]


async def test_one_plan_is_reused_until_code_or_live_values_change(fake: FakeUndeclared) -> None:
    cache = DeclaredCache()
    for _ in range(3):
        await _missing(fake, cache, _undeclared_want("arn", "1"))
    assert len(fake.plans) == 1
    await _missing(fake, cache, _undeclared_want("arn", "1"), head="2")
    assert len(fake.plans) == 2
    later = replace(_applied(), settled_at=datetime.now(UTC))
    await undeclared_values(
        ProofContext(terraform=fake, root=fake.workdir, state=None),
        cache,
        later,
        [_undeclared_want("arn", "1")],
        head="2",
    )
    assert len(fake.plans) == 3


STATE: dict[str, Any] = {
    "version": 4,
    "resources": [
        {"mode": "managed", "type": "aws_sqs_queue", "name": name, "instances": [{"attributes": {"id": name}}]}
        for name in ("a", "b")
    ],
}


async def test_the_state_lacks_the_old_ones_until_the_end(tmp_path: Path) -> None:
    state = tmp_path / "terraform.tfstate"
    state.write_text(json.dumps(STATE))
    context = ProofContext(
        terraform=Terraform(environment={}, workdir=tmp_path / "w"), root=tmp_path, state=state, keep_plan=True
    )
    async with without_replaced(context, ["aws_sqs_queue.a"]) as inside:
        assert inside.state is not None
        assert inside.state != state
        assert [each["name"] for each in json.loads(inside.state.read_text())["resources"]] == ["b"]
        assert not inside.keep_plan, "a plan against it says nothing about the stack's own state"
    assert not inside.state.exists()
    assert json.loads(state.read_text()) == STATE
    async with without_replaced(context, []) as inside:
        assert inside is context
