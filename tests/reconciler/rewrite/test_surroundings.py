"""Code beside the root is edited only where every other root of the repository stays as it is."""

from pathlib import Path

import pytest

from reconciler.model import Edited, Wanted
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.surroundings import Surroundings, reached_directories, repository_of, surroundings
from reconciler.rewrite.value_edits import edit_values

MODULE = """variable "name" {
  type = string
}

resource "aws_sqs_queue" "this" {
  name          = var.name
  delay_seconds = 0
}
"""
CALL = 'module "q" {\n  source = "../../modules/queue"\n  name   = "NAME"\n}\n'
DELAY = [Wanted(address="module.q.aws_sqs_queue.this", attribute="delay_seconds", value=5)]
SHARED = Path("../../modules/queue/main.tf")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    _write(tmp_path, "modules/queue/main.tf", MODULE)
    _write(tmp_path, "env/test/main.tf", CALL.replace("NAME", "test"))
    (tmp_path / ".git").mkdir()
    return tmp_path


def _write(top: Path, name: str, text: str) -> None:
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_text(text)


def _edit(top: Path, *frozen: str) -> Edited:
    root = top / "env/test"
    return edit_values(root, DELAY, around=surroundings(root, repository_of(root), frozen))


def test_a_module_that_no_other_root_uses_is_edited(top: Path) -> None:
    result = _edit(top)
    assert result.files == {SHARED: MODULE.replace("delay_seconds = 0", "delay_seconds = 5").encode()}


def test_another_root_keeps_its_value_and_the_call_gets_its_own(top: Path) -> None:
    _write(top, "env/live/main.tf", CALL.replace("NAME", "live"))
    result = _edit(top)
    assert not result.left
    assert b"delay_seconds = var.delay_seconds" in result.files[SHARED]
    assert (
        b'variable "delay_seconds" {\n  description = "The delay_seconds of aws_sqs_queue.this."\n  type        = number\n  default     = 0\n}'
        in result.files[SHARED]
    )
    assert b"  delay_seconds = 5\n" in result.files[Path("main.tf")]


def test_another_root_is_found_behind_a_module_between(top: Path) -> None:
    _write(top, "modules/service/main.tf", 'module "q" {\n  source = "../queue"\n  name   = "s"\n}\n')
    _write(top, "env/live/main.tf", 'module "s" {\n  source = "../../modules/service"\n}\n')
    found = surroundings(top / "env/test", top)
    assert found.roots == (top / "env/live",)
    assert SHARED in _edit(top).files
    assert b"var.delay_seconds" in _edit(top).files[SHARED]


def test_a_root_that_others_call_too_counts_if_it_has_a_state(top: Path) -> None:
    _write(top, "modules/service/main.tf", 'module "q" {\n  source = "../queue"\n  name   = "s"\n}\n')
    _write(top, "env/live/main.tf", 'module "s" {\n  source = "../../modules/service"\n}\n')
    _write(top, "modules/service/terraform.tfstate", "{}")
    assert surroundings(top / "env/test", top).roots == (top / "env/live", top / "modules/service")


def test_a_root_that_cannot_be_read_stops_the_edit(top: Path) -> None:
    _write(top, "env/live/main.tf", CALL + "oops {\n")
    (left,) = _edit(top).left
    assert "env/live uses the module too, and its code cannot be read" in left.reason


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("main.tf", 'module "q" { source = "../../modules/queue" }\n'),
        ("main.tf.json", '{"module": {"q": {"source": "../../modules/queue", "name": "live"}}}'),
        ("main.tofu", CALL),
        ("main.tofu.json", '{"module": {"q": {"source": "../../modules/queue", "name": "live"}}}'),
    ],
)
def test_every_way_to_write_a_call_counts(top: Path, name: str, code: str) -> None:
    _write(top, f"env/live/{name}", code)
    assert surroundings(top / "env/test", top).roots == (top / "env/live",)
    result = _edit(top)
    assert b"delay_seconds = 5" not in result.files.get(SHARED, b"")
    read = name in ("main.tf", "main.tf.json")
    assert read or "env/live uses the module too, and its code cannot be read" in result.left[0].reason


def test_a_root_with_code_that_is_not_read_stops_the_edit(top: Path) -> None:
    _write(top, "env/live/main.tf", CALL)
    _write(top, "env/live/more.tofu", 'output "x" {\n  value = 1\n}\n')
    assert "its code cannot be read" in _edit(top).left[0].reason


def test_a_root_that_uses_the_module_through_a_link_stops_the_edit(top: Path) -> None:
    (top / "linked").symlink_to(top / "modules")
    _write(top, "env/live/main.tf", CALL.replace("../../modules", "../../linked"))
    assert surroundings(top / "env/test", top).roots == (top / "env/live",)
    assert "env/live uses the module through a symbolic link" in _edit(top).left[0].reason


def test_a_file_behind_a_link_is_not_edited(top: Path) -> None:
    (top / "env/test/own").symlink_to(top / "modules/queue")
    _write(top, "env/test/main.tf", CALL.replace("../../modules/queue", "./own"))
    assert "reached through a symbolic link" in _edit(top).left[0].reason


def test_a_module_that_is_used_by_calls_of_unknown_number_is_not_edited(top: Path) -> None:
    _write(
        top, "env/test/main.tf", CALL + CALL.replace('"q"', '"r"').replace("  name ", "  count  = aws_x.y.n\n  name ")
    )
    (left,) = _edit(top).left
    assert "is used by module.r, whose instances are not known" in left.reason


@pytest.mark.parametrize("pattern", ["modules", "modules/queue", "mod*/*"])
def test_what_is_frozen_is_not_edited(top: Path, pattern: str) -> None:
    (left,) = _edit(top, pattern).left
    assert "somebody else's code" in left.reason


def test_without_a_repository_nothing_outside_is_edited(top: Path) -> None:
    (left,) = edit_values(top / "env/test", DELAY).left
    assert "outside of the repository" in left.reason


def test_a_link_out_of_the_repository_is_not_followed(top: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    _write(outside, "main.tf", MODULE)
    (top / "modules/queue/main.tf").unlink()
    (top / "modules/queue").rmdir()
    (top / "modules/queue").symlink_to(outside)
    (left,) = _edit(top).left
    assert "outside of the repository" in left.reason


def test_a_copy_knows_the_directories_of_the_repository(top: Path, tmp_path: Path) -> None:
    _write(top, "env/live/main.tf", CALL.replace("NAME", "live"))
    own = Surroundings(top=top, roots=(top / "env/live",), frozen=("env/live",))
    copied = own.copied(top / "env", tmp_path / "copy")
    assert (copied.top, copied.roots, copied.prefix) == (tmp_path / "copy", (tmp_path / "copy/live",), "env")
    with pytest.raises(CannotEdit, match="somebody else's"):
        copied.refuse(tmp_path / "copy/test", Path("../live/main.tf"))


def test_without_git_the_repository_is_what_the_root_uses(tmp_path: Path) -> None:
    _write(tmp_path, "a/env/test/main.tf", CALL)
    _write(tmp_path, "a/modules/queue/main.tf", MODULE)
    assert repository_of(tmp_path / "a/env/test") == tmp_path / "a"
    assert reached_directories(tmp_path / "a/env/test") == {tmp_path / "a/modules/queue"}
