"""A copy of a stack has the state files of other stacks that its code reads, and no other state."""

import stat
from pathlib import Path

import pytest

from reconciler.proof.code_copies import copy_with_surroundings
from reconciler.proof.remote_states import LARGEST, read_states

_DATA = 'data "terraform_remote_state" "network" {\n  backend = "%s"\n%s}\n'
_PATH = '  config = {\n    path = "%s"\n  }\n'


def _layers(tmp_path: Path, code: str) -> Path:
    for name in ("network", "network/terraform.tfstate.d/blue", "data"):
        (tmp_path / "repo" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / name / "terraform.tfstate").write_text("{}")
    (tmp_path / "repo/.git").mkdir()
    (tmp_path / "repo/data/main.tf").write_text('variable "layer" {\n  default = "network"\n}\n\n' + code)
    return tmp_path / "repo/data"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (_DATA % ("local", _PATH % "../network/terraform.tfstate"), ["network/terraform.tfstate"]),
        (_DATA % ("local", _PATH % "${path.module}/../${var.layer}/terraform.tfstate"), ["network/terraform.tfstate"]),
        (
            _DATA
            % (
                "local",
                '  workspace = "blue"\n  config = { workspace_dir = "../network/terraform.tfstate.d" }\n',
            ),
            ["network/terraform.tfstate.d/blue/terraform.tfstate"],
        ),
        (_DATA % ("local", ""), []),
        (_DATA % ("local", _PATH % "terraform.tfstate"), []),
        (_DATA % ("local", _PATH % "../../terraform.tfstate"), []),
        (_DATA % ("local", _PATH % "../nothing/terraform.tfstate"), []),
        (_DATA % ("local", _PATH % "../${local.unknown}/terraform.tfstate"), []),
        (_DATA % ("s3", _PATH % "../network/terraform.tfstate"), []),
        ("", []),
    ],
)
def test_the_states_that_code_reads(tmp_path: Path, code: str, found: list[str]) -> None:
    root = _layers(tmp_path, code)
    assert read_states(root) == {tmp_path / "repo" / each for each in found}


def test_a_file_that_is_too_large_for_a_state_is_not_copied(tmp_path: Path) -> None:
    root = _layers(tmp_path, _DATA % ("local", _PATH % "../network/terraform.tfstate"))
    with (root.parent / "network/terraform.tfstate").open("r+b") as file:
        file.truncate(LARGEST)
        assert read_states(root)
        file.truncate(LARGEST + 1)
    assert not read_states(root)


def test_the_copy_has_them_where_the_code_looks(tmp_path: Path) -> None:
    root = _layers(tmp_path, _DATA % ("local", _PATH % "../network/terraform.tfstate"))
    (root.parent / "large").write_text("of no stack")
    copy, top, _ = copy_with_surroundings(root, tmp_path / "copy", (), None)
    assert top == root
    assert copy.is_relative_to(tmp_path / "copy")
    assert not (copy / "../large").exists()
    state = copy / "../network/terraform.tfstate"
    assert state.read_text() == "{}"
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert not (copy / "terraform.tfstate").exists()
    assert not (copy / "../network/terraform.tfstate.d").exists()
