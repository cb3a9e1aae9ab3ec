"""Each proof fails where it must."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reconciler.errors import TerraformFailed
from reconciler.model import Edit, Edited, Wanted
from reconciler.proof.proofs import capture_proof, describe, plan_proofs, text_proofs, verify
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plan import ResourceChange, TerraformPlan

MAIN = Path("main.tf")
OLD = b'resource "aws_x" "a" {\n  size = 4\n}\n'
NEW = OLD.replace(b"4", b"6")
WANTED = Wanted(address="aws_x.a", attribute="size", value=6)


def _edit(old: bytes = b"4", new: bytes = b"6", start: int = OLD.index(b"4")) -> Edit:
    return Edit(path=MAIN, start=start, end=start + len(old), old=old, new=new, wanted=WANTED)


def _edited(new: bytes = NEW, *edits: Edit) -> Edited:
    return Edited(files={MAIN: new}, edits=edits or (_edit(),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fake(Terraform):
    """A terraform whose plan is given; to it, every file is well formatted unless it ends in two newlines."""

    document: dict[str, Any] | None = None
    error: str = ""
    planned: list[Path] = field(default_factory=list)

    async def format(self, source: bytes) -> bytes | None:
        return None if source.count(b"{") != source.count(b"}") else source.rstrip() + b"\n"

    async def plan(self, root: Path, *, state: Path | None = None, targets: Any = ()) -> Path | None:
        self.planned.append(root)
        if self.error:
            raise TerraformFailed.saying("plan", self.error)
        return root if self.document else None

    async def show(self, root: Path, plan: Path) -> dict[str, Any]:
        assert self.document is not None
        return self.document


def _fake(tmp_path: Path, **changes: Any) -> Fake:
    return Fake(environment={}, workdir=tmp_path, **changes)


@pytest.mark.parametrize(
    ("new", "edits", "broken"),
    [
        (NEW, (_edit(),), set()),
        (NEW + b"}", (_edit(), _edit(b"", b"}", len(NEW))), {"parses"}),
        (NEW + b"\n", (_edit(), _edit(b"", b"\n", len(NEW))), {"formatted"}),
        (NEW.replace(b"aws_x", b"aws_y"), (_edit(),), {"untouched"}),
        (NEW, (_edit(old=b"5"),), {"untouched"}),
        (NEW, (), {"untouched"}),
        (b"# ignore_changes\n" + NEW, (_edit(), _edit(b"", b"# ignore_changes\n", 0)), {"nothing_hidden"}),
    ],
)
async def test_text_proofs(tmp_path: Path, new: bytes, edits: tuple[Edit, ...], broken: set[str]) -> None:
    edited = Edited(files={MAIN: new}, edits=edits)
    proofs = await text_proofs(_fake(tmp_path), edited, {MAIN: OLD})
    assert {proof.name for proof in proofs if not proof.held} == broken
    assert all(proof.detail for proof in proofs)


async def test_a_file_that_was_not_formatted_need_not_become_so(tmp_path: Path) -> None:
    edit = _edit()
    proofs = await text_proofs(_fake(tmp_path), Edited(files={MAIN: NEW + b"\n"}, edits=(edit,)), {MAIN: OLD + b"\n"})
    assert all(proof.held for proof in proofs)


async def test_a_template_is_read_and_has_no_format(tmp_path: Path) -> None:
    path = Path("t/policy.json.tftpl")
    for new, broken in ((b"${a} 6\n\n", set()), (b"${ 6\n", {"parses"})):
        edit = Edit(path=path, start=0, end=4, old=b"${a}", new=new, wanted=WANTED)
        edited = Edited(files={path: new}, edits=(edit,))
        proofs = await text_proofs(_fake(tmp_path), edited, {path: b"${a}"})
        assert {proof.name for proof in proofs if not proof.held} == broken


def test_captured_reads_the_code_itself(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_bytes(OLD)
    assert not capture_proof(tmp_path, [WANTED]).held
    (tmp_path / "main.tf").write_bytes(NEW)
    assert capture_proof(tmp_path, [WANTED]).held
    assert not capture_proof(tmp_path, [Wanted(address="aws_x.b", attribute="size", value=6)]).held
    (tmp_path / "main.tf").write_bytes(OLD.replace(b"4", b"data.aws_y.b.size"))
    assert "by the plan alone" in capture_proof(tmp_path, [WANTED]).detail


SIZE = ResourceChange(address="aws_x.a", attribute="size", live=6, other=4)
OTHER = ResourceChange(address="aws_x.b", attribute="size", live=6, other=4)


@pytest.mark.parametrize(
    ("changes", "explained", "broken"),
    [
        ((), (), set()),
        ((SIZE,), (), {"plan_clean"}),
        ((OTHER,), (), {"plan_clean", "nothing_else"}),
        ((OTHER,), (OTHER,), set()),
        ((OTHER, SIZE), (OTHER,), {"plan_clean"}),
    ],
)
def test_plan_proofs(
    changes: tuple[ResourceChange, ...], explained: tuple[ResourceChange, ...], broken: set[str]
) -> None:
    plan = TerraformPlan(changes=changes, drift=(), configured={}, outputs=("x",), objects={})
    unexplained = [change for change in changes if change not in explained]
    proofs = plan_proofs(plan, unexplained, _edited(), lambda _: "belongs to mut_2")
    assert {proof.name for proof in proofs if not proof.held} == broken


async def test_all_proofs_together(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_bytes(NEW)
    given: dict[str, Any] = {"edited": _edited(), "before": {MAIN: OLD}, "state": None, "explain": lambda _: ""}
    assert (await verify(_fake(tmp_path), tmp_path, **given)).holds

    failed = await verify(_fake(tmp_path, error="Invalid value"), tmp_path, **given)
    assert failed.failed
    assert "Invalid value" in failed.broken

    entry = {"address": "aws_x.b", "change": {"actions": ["delete"], "before": {}, "after": None}}
    other = await verify(_fake(tmp_path, document={"resource_changes": [entry]}), tmp_path, **given)
    assert not other.holds
    assert [change.address for change in other.unexplained] == ["aws_x.b"]


async def test_no_plan_is_made_where_a_cheap_proof_fails(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_bytes(OLD)
    fake = _fake(tmp_path)
    verified = await verify(fake, tmp_path, edited=_edited(), before={MAIN: OLD}, state=None, explain=lambda _: "")
    assert not verified.holds
    assert not fake.planned


def test_a_secret_is_not_described() -> None:
    secret = ResourceChange(address="a.b", attribute="p", live="s3cret", other="old", sensitive=True)
    assert "s3cret" not in describe([secret])
    assert describe([SIZE] * 7).endswith("and 2 more")


@pytest.mark.terraform
async def test_terraforms_own_formatter_agrees(tmp_path: Path) -> None:
    assert shutil.which("terraform"), "terraform is needed for this test"
    terraform = Terraform(environment={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}, workdir=tmp_path)
    assert await terraform.format(NEW) == NEW
    assert await terraform.format(b"a = {\n") is None
