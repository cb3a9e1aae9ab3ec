"""What `fileset()` finds is what Terraform finds; what is not certain is not listed."""

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest

from gateway.terraform.config import listings
from gateway.terraform.config.listings import asked_listings, read_listings
from gateway.terraform.config.module import load_module
from gateway.terraform.config.templates import watched_paths
from gateway.terraform.file_tree import DiskTree
from gateway.terraform.lang.values import Unknown
from gateway.terraform.stack_code import load_code

FILES = (
    "a.yaml",
    "b.yml",
    ".hidden.yaml",
    "one/c.yaml",
    "one/two/d.yaml",
    "one/two/e.json",
    "x{y}.txt",
    "three/f.yaml",
)
PATTERNS = ["*.yaml", "*", "*/*.yaml", "**/*.yaml", "**", "one/**", "one/*", "one/**/*.json", "{a,b}.y?ml", "*.{yaml,yml}", "?.yml", "none/*", "a.yaml"]  # fmt: skip


def _stack(root: Path, *asked: str) -> Path:
    for name in FILES:
        (root / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "data" / name).write_text("{}")
    code = "".join(f'output "o{number}" {{\n  value = {each}\n}}\n' for number, each in enumerate(asked))
    (root / "main.tf").write_text(code)
    return root


def _found(root: Path, folder: str, pattern: str) -> list[str]:
    return list(load_module(root).file_names(folder, pattern))


@pytest.mark.terraform
def test_the_files_are_those_that_terraform_finds(tmp_path: Path) -> None:
    root = _stack(tmp_path, *(f'fileset("${{path.module}}/data", "{pattern}")' for pattern in PATTERNS))
    asked = ", ".join(f'sort(fileset("${{path.module}}/data", "{pattern}"))' for pattern in PATTERNS)
    console = subprocess.run(
        ["terraform", "console"], input=f"base64encode(jsonencode([{asked}]))\n", cwd=root,
        env={key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = json.loads(base64.b64decode(console.stdout.strip().strip('"')))
    assert [_found(root, "data", pattern) for pattern in PATTERNS] == said


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ('fileset(path.module, "data/*.yaml")', ("m", "data/*.yaml")),
        ('fileset("${path.module}/data", "*")', ("m/data", "*")),
        ('fileset("${path.root}/data","*")', ("data", "*")),
        ('fileset("data", "*")', ("data", "*")),
        ('fileset("${path.module}/../data", "*")', ("data", "*")),
        ('fileset("../data", "*")', None),
        ('fileset("/etc", "*")', None),
        ('fileset(var.folder, "*")', None),
        ('fileset(path.module, "${var.kind}/*")', None),
        (f'fileset(path.module, "{"*a" * 200}")', None),
    ],
)
def test_folder_and_pattern_must_be_written_out(written: str, asked: tuple[str, str] | None) -> None:
    assert asked_listings("m", [f"x = {written}\n".encode()]) == ({asked} if asked else set())


def test_the_values_of_files_are_known_by_the_names_that_are_found(tmp_path: Path) -> None:
    code = 'jsonencode({ for name in fileset("${path.module}/data", "*/*.yaml") : name => file("${path.module}/data/${name}") })'
    root = _stack(tmp_path, code)
    assert load_module(root).own_outputs() == {"o0": '{"one/c.yaml":"{}","three/f.yaml":"{}"}'}


@pytest.mark.parametrize("pattern", ["[ab].yaml", "a**/*.yaml", "***", "../*", "one//*", ""])
def test_a_pattern_that_is_not_understood_is_not_listed(tmp_path: Path, pattern: str) -> None:
    root = _stack(tmp_path, f'fileset("${{path.module}}/data", "{pattern}")')
    with pytest.raises(Unknown, match=r"fileset\(\) is not evaluated"):
        _found(root, "data", pattern)


def test_a_folder_behind_a_link_or_with_too_much_in_it_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [b'x = fileset("data", "*/*.yaml")\n']
    root = _stack(tmp_path)
    assert read_listings(DiskTree(root), ".", texts)
    (root / "data" / "linked").symlink_to(root / "data" / "one")
    assert not read_listings(DiskTree(root), ".", texts)
    (root / "data" / "linked").unlink()
    monkeypatch.setattr(listings, "_MOST_FILES", 1)
    assert not read_listings(DiskTree(root), ".", texts)
    monkeypatch.setattr(listings, "_MOST_FILES", 1_000)
    monkeypatch.setattr(listings, "_MOST_FOLDERS", 2)
    assert not read_listings(DiskTree(root), ".", texts)


def test_a_new_file_is_other_code_and_its_folder_is_watched(tmp_path: Path) -> None:
    root = _stack(tmp_path, 'fileset("${path.module}/data", "*/*.yaml")')
    source = load_module(root).source
    watched = set(watched_paths(source.directory, source.texts, source.templates, source.listings))
    assert {"data", "data/one", "data/three", "data/one/c.yaml"} <= watched
    before = load_code(root).digest
    (root / "data" / "three" / "g.yaml").write_text("{}")
    assert load_code(root).digest != before


def test_a_pattern_of_many_wildcards_takes_linear_time(tmp_path: Path) -> None:
    """A matcher that tries every way would not end."""
    root = _stack(tmp_path, f'fileset("${{path.module}}/data", "{"*a" * 60}*b")')
    (root / "data" / ("a" * 250)).write_text("{}")
    assert _found(root, "data", f"{'*a' * 60}*b") == []


def test_a_name_that_is_no_text_is_not_listed(tmp_path: Path) -> None:
    root = _stack(tmp_path)
    try:
        (root / "data" / "\udce9.yaml").write_text("{}")
    except OSError:
        return  # this file system has no such names
    assert not read_listings(DiskTree(root), ".", [b'x = fileset("data", "*.yaml")\n'])
