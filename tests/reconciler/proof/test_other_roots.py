"""Another root that uses an edited module is planned with the edit, and if that is not clean without it too."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reconciler.errors import TerraformFailed
from reconciler.model import Wanted
from reconciler.proof.other_roots import other_roots, roots_using
from reconciler.proof.proved_edit import ProofContext, attempt
from reconciler.rewrite.surroundings import surroundings
from reconciler.terraform.cli import Terraform

MODULE = 'variable "n" {}\n\nresource "aws_x" "y" {\n  size = 1\n}\n'
CALL = 'module "m" {\n  source = "../modules/m"\n  n      = 1\n}\n'
WANTED = [Wanted(address="module.m.aws_x.y", attribute="size", value=5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fake(Terraform):
    """A terraform whose plan of the root `live` shows what `shows` says, with the edit and without it."""

    shows: dict[bool, str] = field(default_factory=dict)
    """By whether the module is edited: the size that live would get, `fails`, or nothing for an empty plan."""
    planned: list[str] = field(default_factory=list)

    async def format(self, source: bytes) -> bytes | None:
        return source

    async def plan(self, root: Path, *, state: Path | None = None, targets: Any = ()) -> Path | None:
        self.planned.append(root.name)
        edited = "var.size" in (root / "../modules/m/main.tf").read_text()
        said = self.shows.get(edited, "") if root.name == "live" else ""
        if said == "fails":
            raise TerraformFailed.saying("plan", "no credentials")
        return root / said if said else None

    async def show(self, root: Path, plan: Path) -> dict[str, Any]:
        change = {"actions": ["update"], "before": {"size": 1}, "after": {"size": int(plan.name)}}
        return {"resource_changes": [{"address": "module.m.aws_x.y", "mode": "managed", "change": change}]}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name, text in (("modules/m/main.tf", MODULE), ("test/main.tf", CALL), ("live/main.tf", CALL)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "live/terraform.tfstate").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("shows", "planned", "held", "detail"),
    [
        ({}, ["test", "live"], True, "nor anything in live"),
        ({True: "7"}, ["test", "live", "live"], False, "In live, the plan would update module.m.aws_x.y.size"),
        ({True: "7", False: "7"}, ["test", "live", "live"], True, "nor anything in live"),
        ({True: "fails"}, ["test", "live", "live"], False, "With the edit, live cannot be planned"),
        ({True: "fails", False: "fails"}, ["test", "live", "live"], True, "nor anything in live"),
        ({True: "7", False: "fails"}, ["test", "live", "live"], False, "Without the edit, live cannot be planned"),
    ],
)
async def test_what_the_edit_changes_there_breaks_the_proof(
    top: Path, shows: dict[bool, str], planned: list[str], held: bool, detail: str
) -> None:
    terraform = Fake(environment={}, workdir=top / "work", shows=shows)
    around = surroundings(top / "test", top)
    context = ProofContext(
        terraform=terraform,
        root=top / "test",
        state=None,
        around=around,
        others=other_roots(around, top, terraform),
    )
    edited, verified = await attempt(context, WANTED, explain=lambda _: "")
    assert edited.edits
    assert verified is not None
    assert terraform.planned == planned
    (proof,) = (proof for proof in verified.proofs if proof.name == "nothing_else")
    assert proof.held == held
    assert detail in proof.detail
    assert (top / "modules/m/main.tf").read_text() == MODULE


def test_only_roots_with_a_state_that_use_the_file_are_planned(top: Path) -> None:
    terraform = Fake(environment={}, workdir=top / "work")
    around = surroundings(top / "test", top)
    (other,) = other_roots(around, top, terraform)
    assert (other.name, other.state) == ("live", top / "live/terraform.tfstate")
    assert roots_using([other], top / "test", [Path("main.tf")]) == ()
    assert roots_using([other], top / "test", [Path("../modules/m/main.tf")]) == (other,)
    assert roots_using([other], top / "test", [Path("../modules/m/t/policy.tftpl")]) == (other,)
    (top / "live/terraform.tfstate").unlink()
    assert other_roots(around, top, terraform) == ()
    (named,) = other_roots(around, top, terraform, {top / "live": top / "modules/m/main.tf"})
    assert named.state == top / "modules/m/main.tf"
    (top / "live/.terraform").mkdir()
    (top / "live/.terraform/terraform.tfstate").write_text("{}")
    (remote,) = other_roots(around, top, terraform)
    assert (remote.state, remote.terraform.shared_data) == (None, top / "live/.terraform")
