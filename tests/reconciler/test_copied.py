"""A copy of the code has all that it needs, and its files can be replaced for a while."""

from pathlib import Path

import pytest

from reconciler.copied import copy_code, temporarily_written


def test_the_copy_holds_the_modules_beside_the_stack_and_no_state(tmp_path: Path) -> None:
    stack = tmp_path / "infra" / "shop"
    stack.mkdir(parents=True)
    (stack / "main.tf").write_text('module "a" {\n  source = "../modules/a"\n}\n')
    (stack / "terraform.tfstate").write_text("{}")
    (stack / ".terraform").mkdir()
    (tmp_path / "infra/modules/a").mkdir(parents=True)
    (tmp_path / "infra/modules/a/main.tf").write_text('module "b" {\n  source = "../b"\n}\n')
    (tmp_path / "infra/modules/b").mkdir()
    (tmp_path / "infra/modules/b/main.tf").touch()
    (tmp_path / "other").mkdir()

    root = copy_code(stack, tmp_path / "out")

    assert root == tmp_path / "out" / "shop"
    assert sorted(
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()
    ) == [
        "modules/a/main.tf",
        "modules/b/main.tf",
        "shop/main.tf",
    ]


def test_files_are_put_back_whatever_happens(tmp_path: Path) -> None:
    (tmp_path / "a.tf").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), temporarily_written(tmp_path, {Path("a.tf"): b"new"}):
        1 // len((tmp_path / "a.tf").read_bytes().removeprefix(b"new"))
    assert (tmp_path / "a.tf").read_bytes() == b"old"
