"""Which files make a stack, and which of their values win."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.module import load_module
from gateway.terraform.config.source import (
    Source,
    load_sources,
    parsed,
    parsed_once,
    read_downloaded,
    sources_after_edit,
)
from gateway.terraform.file_tree import DiskTree
from gateway.terraform.lang.hcl import parse
from gateway.terraform.stack_code import load_code


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
    assert load_sources(DiskTree(tmp_path), {}, {})["."].templates == loaded["."].templates

    def changed(path: str, text: str) -> Mapping[str, Source] | None:
        return sources_after_edit(loaded, {Path(path): parse(Path(path), text.encode())})

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
    found = {name: (document.path.name, document.text(node)) for name, (document, node) in given.items()}
    assert found == {
        "a": ("terraform.tfvars", "a = 1"),
        "b": ("terraform.tfvars.json", "b = 2"),
        "c": ("x.auto.tfvars", "c = 3"),
        "d": ("y.auto.tfvars.json", "d = 4"),
    }


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
        ({"a.tf.json": "[]"}, r"a\.tf\.json:1: Code in JSON syntax must be one JSON object"),
        ({"a.tf.json": '{"action": {}}'}, r"a\.tf\.json:1: .*'action' is no kind of block"),
        ({"a.tf": "", "terraform.tfvars": "x {}\n"}, r"terraform\.tfvars: .* cannot have blocks"),
        ({"a.tf": "", "terraform.tfvars.json": "[]"}, r"terraform\.tfvars\.json:1: .* one JSON object"),
        ({"a.tf": "", "terraform.tfvars.json": "{"}, r"terraform\.tfvars\.json:1: .* not valid JSON"),
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


PATH = Path("main.tf")


def test_the_same_bytes_under_the_same_name_are_one_document() -> None:
    with parsed_once():
        first = parsed(PATH, b"a = 1\n")
        assert parsed(PATH, b"a = 1\n") is first
        assert parsed(PATH, b"a = 2\n") is not first
        assert parsed(Path("other.tf"), b"a = 1\n").path == Path("other.tf")
        with parsed_once():
            assert parsed(PATH, b"a = 1\n") is first
        assert parsed(PATH, b"a = 1\n") is first
    assert parsed(PATH, b"a = 1\n") is not first


def test_what_changed_on_disk_is_read_again(tmp_path: Path) -> None:
    with parsed_once():
        for value in (1, 2):
            (tmp_path / "main.tf").write_text(f"locals {{\n  a = {value}\n}}\n")
            assert load_module(tmp_path).local("a") == value


def test_code_that_does_not_parse_is_refused_each_time() -> None:
    with parsed_once():
        for _ in range(2):
            with pytest.raises(CodeInvalid):
                parsed(PATH, b"a = (")


async def test_threads_and_tasks_of_the_block_share_it() -> None:
    with parsed_once():
        first = parsed(PATH, b"a = 1\n")
        assert await asyncio.to_thread(parsed, PATH, b"a = 1\n") is first

    async def other() -> bool:
        with parsed_once():
            mine = parsed(PATH, b"a = 1\n")
            await asyncio.sleep(0)
            return mine is first

    assert list(await asyncio.gather(other(), other())) == [False, False]


ROOT = 'module "jobs" {\n  source  = "acme/queue/aws"\n  version = "1.2.0"\n  delay   = 7\n}\n'
MODULE = """variable "delay" {}

module "inner" {
  source = "git::https://example.com/inner.git?ref=v1"
}

module "local" {
  source = "./modules/part"
}

resource "aws_sqs_queue" "this" {
  delay_seconds = var.delay
}
"""


def _downloaded_write(top: Path, name: str, text: str) -> None:
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_text(text)


def _init(root: Path, data: str = ".terraform") -> None:
    rows = [
        {"Key": "", "Source": "", "Dir": "."},
        {"Key": "jobs", "Source": "registry.terraform.io/acme/queue/aws", "Dir": f"{data}/modules/jobs"},
        {
            "Key": "jobs.inner",
            "Source": "git::https://example.com/inner.git?ref=v1",
            "Dir": f"{data}/modules/jobs.inner",
        },
        {"Key": "jobs.local", "Source": "./modules/part", "Dir": f"{data}/modules/jobs/modules/part"},
        {"Key": "gone", "Source": "acme/gone/aws", "Dir": f"{data}/modules/gone"},
    ]
    _downloaded_write(root, "main.tf", ROOT)
    _downloaded_write(root, ".terraform/modules/modules.json", json.dumps({"Modules": rows}))
    _downloaded_write(root, ".terraform/modules/jobs/main.tf", MODULE)
    _downloaded_write(root, ".terraform/modules/jobs.inner/main.tf", 'resource "aws_x" "y" {}\n')
    _downloaded_write(root, ".terraform/modules/jobs/modules/part/main.tf", 'resource "aws_x" "z" {}\n')


@pytest.mark.parametrize("data", [".terraform", "/var/lib/sentinel/data"])
def test_they_are_part_of_the_code(tmp_path: Path, data: str) -> None:
    _init(tmp_path, data)
    found = {instance.address for instance in load_module(tmp_path).instances()}
    assert found == {
        "module.jobs.aws_sqs_queue.this",
        "module.jobs.module.inner.aws_x.y",
        "module.jobs.module.local.aws_x.z",
    }
    assert read_downloaded(DiskTree(tmp_path)) == {
        ".": {"jobs": ".terraform/modules/jobs"},
        ".terraform/modules/jobs": {"inner": ".terraform/modules/jobs.inner"},
    }


def test_before_init_there_are_none(tmp_path: Path) -> None:
    _downloaded_write(tmp_path, "main.tf", ROOT)
    assert load_module(tmp_path).instances() == ()


def test_a_contract_in_a_downloaded_module_does_not_count(tmp_path: Path) -> None:
    _init(tmp_path)
    _downloaded_write(
        tmp_path,
        ".terraform/modules/jobs/x.sentinel.hcl",
        'contract "x" {\n  resource "*" "*" {\n    managed_by_agent = true\n  }\n}\n',
    )
    assert not any(rules for rules in load_code(tmp_path).rules.values())


@pytest.mark.parametrize("text", ["{", "[]", '{"Modules": [{}]}', '{"Modules": 5}'])
def test_a_broken_list_is_refused(tmp_path: Path, text: str) -> None:
    _init(tmp_path)
    _downloaded_write(tmp_path, ".terraform/modules/modules.json", text)
    with pytest.raises(CodeInvalid, match="terraform init"):
        load_module(tmp_path)
