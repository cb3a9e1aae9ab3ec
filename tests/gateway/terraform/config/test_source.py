"""Which files make a stack, and which of their values win."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.errors import CodeInvalid
from gateway.terraform.config.source import Source, changed_sources, load_sources
from gateway.terraform.files import DiskTree
from gateway.terraform.lang.hcl import parse


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_local_modules_are_followed_and_others_are_not(tmp_path: Path) -> None:
    calls = "".join(
        f'module "{name}" {{\n  source = "{source}"\n}}\n'
        for name, source in {"a": "./a", "remote": "hashicorp/x/aws", "git": "git::ssh://x"}.items()
    )
    _write(tmp_path, {"main.tf": calls, "a/main.tf": 'module "b" {\n  source = "../b"\n}\n', "b/main.tf": ""})
    loaded = load_sources(tmp_path, {}, {})
    assert set(loaded) == {".", "a", "b"}
    assert [loaded["."].called_directory(name) for name in ("a", "remote", "git")] == ["a", None, None]
    assert list(loaded["b"].documents) == [Path("b/main.tf")]


def test_the_overlay_wins_over_the_disk_and_may_add_files(tmp_path: Path) -> None:
    _write(tmp_path, {"main.tf": "locals {\n  a = 1\n}\n"})
    overlay = {Path("main.tf"): b"locals {\n  b = 2\n}\n", Path("more.tf"): b"locals {\n  c = 3\n}\n"}
    assert set(load_sources(tmp_path, overlay, {})["."].locals) == {"b", "c"}


def test_a_known_document_is_taken_only_where_its_bytes_are_the_same(tmp_path: Path) -> None:
    _write(tmp_path, {"main.tf": "locals {\n  a = 1\n}\n", "b.tf": ""})
    first = load_sources(tmp_path, {}, {})["."].documents
    second = load_sources(tmp_path, {Path("b.tf"): b"locals {}\n"}, first)["."].documents
    assert second[Path("main.tf")] is first[Path("main.tf")]
    assert second[Path("b.tf")] is not first[Path("b.tf")]


def test_templates_are_read_with_the_code_that_names_them(tmp_path: Path) -> None:
    call = 'locals {\n  x = templatefile("${path.module}/t.tftpl", {})\n}\n'
    _write(tmp_path, {"main.tf": call, "t.tftpl": "a", "other.tftpl": "b"})
    loaded = load_sources(tmp_path, {}, {})
    assert loaded["."].templates == {Path("t.tftpl"): b"a"}
    assert load_sources(tmp_path, {Path("t.tftpl"): b"c"}, {})["."].templates == {Path("t.tftpl"): b"c"}
    assert load_sources(DiskTree(tmp_path), {}, {})["."].templates == {}

    def changed(path: str, text: str) -> Mapping[str, Source] | None:
        return changed_sources(loaded, {Path(path): parse(Path(path), text.encode())})

    same = changed("more.tf", "")
    assert same is not None
    assert same["."].templates == loaded["."].templates
    assert changed("t.tftpl", "c = 1") is None
    assert changed("main.tf", call.replace("/t", "/other")) is None
    assert changed("more.tf", call.replace("x =", "y =")) is not None
    assert changed("more.tf", call.replace("x =", "y =").replace("/t", "/other")) is None


def test_files_that_terraform_ignores_are_ignored(tmp_path: Path) -> None:
    _write(
        tmp_path, {"main.tf": "", ".hidden.tf": "}", "old.tf~": "}", "#x.tf#": "}", "x.sentinel.hcl": "}", "y.txt": "}"}
    )
    assert list(load_sources(tmp_path, {}, {})["."].documents) == [Path("main.tf")]


def test_the_last_file_of_values_wins(tmp_path: Path) -> None:
    files = {
        "terraform.tfvars": "a = 1\nb = 1\nc = 1\nd = 1\n",
        "terraform.tfvars.json": '{"b": 2}',
        "x.auto.tfvars": "c = 3\nd = 3\n",
        "y.auto.tfvars.json": '{"d": 4}',
        "other.tfvars": "a = 9\n",
    }
    _write(tmp_path, {"main.tf": "", **files})
    given = load_sources(tmp_path, {}, {})["."].given
    found = {name: value if document is None else document.path.name for name, (document, _, value) in given.items()}
    assert found == {"a": "terraform.tfvars", "b": 2, "c": "x.auto.tfvars", "d": 4}


def test_what_override_files_set_is_overridden(tmp_path: Path) -> None:
    override = 'resource "a" "b" {\n  x = 1\n  y {}\n  dynamic "z" {}\n}\nlocals {\n  l = 1\n}\n'
    _write(tmp_path, {"main.tf": "", "override.tf": override, "more_override.tf": 'resource "a" "b" {\n  w = 1\n}\n'})
    source = load_sources(tmp_path, {}, {})["."]
    assert source.overridden_in(("resource", "a", "b")) >= {"w", "x", "y", "z"}
    assert source.overridden_in(("locals",)) == {"l"}
    assert source.overridden_in(("resource", "a", "c")) == frozenset()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"a.tf": 'variable "x" {}\n', "b.tf": '\nvariable "x" {}\n'},
            r"b\.tf:2: The variable x is already declared at a\.tf:1",
        ),
        ({"a.tf": "locals {\n  x = 1\n}\nlocals {\n  x = 2\n}\n"}, r"a\.tf:5: The local x is already declared"),
        ({"a.tf": 'resource "x" {}\n'}, r"a\.tf:1: A resource block has 2 label"),
        ({"a.tf": "variable {}\n"}, r"a\.tf:1: A variable block has 1 label"),
        ({"a.tf.json": "{}"}, r"a\.tf\.json: Terraform code in JSON"),
        ({"a.tf": "", "terraform.tfvars": "x {}\n"}, r"terraform\.tfvars: .* cannot have blocks"),
        ({"a.tf": "", "terraform.tfvars.json": "[]"}, r"terraform\.tfvars\.json: .* one JSON object"),
        ({"a.tf": "", "terraform.tfvars.json": "{"}, r"terraform\.tfvars\.json: .* not valid JSON"),
        ({"a.tf": 'module "m" {\n  source = "./gone"\n}\n'}, r"a\.tf:1: The module m should be in gone"),
        (
            {"a.tf": 'module "m" {\n  source = "./m"\n}\n', "m/a.tf": 'module "n" {\n  source = "../m"\n}\n'},
            r"m/a\.tf:1: .* calls itself",
        ),
    ],
)
def test_what_terraform_would_refuse_is_an_error_with_its_place(
    files: dict[str, str], message: str, tmp_path: Path
) -> None:
    _write(tmp_path, files)
    with pytest.raises(CodeInvalid, match=message):
        load_sources(tmp_path, {}, {})
