"""Two copies of a project are compared file by file, and each file belongs to one module."""

import json
from pathlib import Path

import pytest

from tests.bench.drift.tree import changed_files, diff_lines, folder_of, hides, module_folders, module_keys


def _write(top: Path, **files: str) -> Path:
    for name, text in files.items():
        path = top / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


def test_only_code_is_compared(tmp_path: Path) -> None:
    before = _write(tmp_path / "a", **{"main.tf": "x\n", "same.tf": "s\n", "gone.tf": "g\n", "terraform.tfstate": "1"})
    after = _write(
        tmp_path / "b",
        **{"main.tf": "y\n", "same.tf": "s\n", "new.tf": "n\n", "terraform.tfstate": "2", ".terraform__x": "data"},
    )
    changed = changed_files(before, after)
    assert changed == {"gone.tf": (b"g\n", b""), "main.tf": (b"x\n", b"y\n"), "new.tf": (b"", b"n\n")}
    assert diff_lines(changed.values()) == 4


def test_words_that_hide_drift_are_counted(tmp_path: Path) -> None:
    before = _write(tmp_path / "a", **{"main.tf": "ignore_changes = [a]\n"})
    same = _write(tmp_path / "b", **{"other.tf": "ignore_changes = [a]\n"})
    more = _write(
        tmp_path / "c", **{"main.tf": "ignore_changes = [a]\n", "x.tf": "ignore_changes = all\nremoved {\n}\n"}
    )
    assert hides(before, same) == set()
    assert hides(before, more) == {"ignore_changes", "removed {"}


@pytest.mark.parametrize(
    ("address", "keys"),
    [
        ("aws_x.n", [""]),
        ('module.a["x.y"].aws_x.n', ["", "a"]),
        ('module.a["x"].module.b[0].aws_x.n["k"]', ["", "a", "a.b"]),
    ],
)
def test_the_modules_on_the_way_to_a_resource(address: str, keys: list[str]) -> None:
    assert module_keys(address) == keys


def test_a_file_belongs_to_the_innermost_module(tmp_path: Path) -> None:
    index = {
        "Modules": [
            {"Key": "", "Dir": "."},
            {"Key": "a", "Dir": "../modules/a"},
            {"Key": "a.b", "Dir": "../modules/a/b"},
        ]
    }
    _write(tmp_path, **{"env__.terraform__modules__modules.json": json.dumps(index)})
    folders = module_folders("env", tmp_path)
    assert folders == {"": "env", "a": "modules/a", "a.b": "modules/a/b"}
    assert folder_of("modules/a/b/templates/x.tpl", folders.values()) == "modules/a/b"
    assert folder_of("modules/a/x.tf", folders.values()) == "modules/a"
    assert folder_of("README.md", folders.values()) == "."
    assert module_folders(".", tmp_path) == {"": "."}
