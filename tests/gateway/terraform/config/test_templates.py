"""Templates are read with their module: only its own files, none behind a link, none that is large."""

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config import templates
from gateway.terraform.config.module import load_module
from gateway.terraform.config.templates import read_template, read_templates, template_names, watched_paths
from gateway.terraform.file_tree import DiskTree, in_workspace
from gateway.terraform.lang.evaluate import EvaluationScope, evaluate
from gateway.terraform.lang.expression import Group, Template
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import Unknown

RENDERED: list[tuple[str, str, Json]] = [
    ("a ${x}\n", "{ x = 5 }", "a 5\n"),
    ("a ${x}", "{ x = true }", "a true"),
    ("${x}", "{ x = [1] }", [1]),
    ("${x}\n", '{ x = "y" }', "y\n"),
    ("", "{}", ""),
    ("plain\n\n", "{}", "plain\n\n"),
    ("$${x} %%{y} $5\n", "{}", "${x} %{y} $5\n"),
    ('{"a": ${jsonencode([for e in x : "${e}-${y}"])}}\n', '{ x = ["p", "q"], y = 1 }', '{"a": ["p-1","q-1"]}\n'),
    ("%{ for e in x ~}\n  - ${e}\n%{ endfor ~}\nend\n", '{ x = ["p", "q"] }', "  - p\n  - q\nend\n"),
    ("%{ if x }yes%{ else }no%{ endif }", "{ x = false }", "no"),
    ("a ${~ x ~}\n\n", '{ x = "y" }', "ay\n"),
    ("TEMPLATE\n${x}\n", "{ x = upper(var.v) }", "TEMPLATE\nV\n"),
]
CODE = "".join(
    f'output "o{n}" {{\n  value = templatefile("${{path.module}}/t/{n}.tftpl", {given})\n}}\n'
    for n, (_, given, _) in enumerate(RENDERED)
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.tf").write_text(CODE + 'variable "v" {\n  default = "v"\n}\n')
    (tmp_path / "t").mkdir()
    for number, (template, _, _) in enumerate(RENDERED):
        (tmp_path / f"t/{number}.tftpl").write_text(template)
    return tmp_path


def test_a_template_is_rendered(root: Path) -> None:
    outputs = load_module(root).own_outputs()
    for number, (template, _, value) in enumerate(RENDERED):
        assert outputs[f"o{number}"] == value, template


@pytest.mark.terraform
def test_terraform_renders_the_same(root: Path) -> None:
    calls = ", ".join(
        f'templatefile("${{path.module}}/t/{n}.tftpl", {given})' for n, (_, given, _) in enumerate(RENDERED)
    )
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    console = subprocess.run(
        ["terraform", "console"],
        input=f"base64encode(jsonencode([{calls}]))\n",
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert console.returncode == 0, console.stderr
    assert json.loads(base64.b64decode(console.stdout.strip().strip('"'))) == [value for _, _, value in RENDERED]


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ('templatefile("${path.module}/a/b.tftpl", {})', {"a/b.tftpl"}),
        ('templatefile(\n  "${path.module}/a/${each.key}.json", {})', {"a/*.json"}),
        ('templatefile("${path.module}/../b.tftpl", {})', set()),
        ('templatefile("${path.module}/${var.x}/b.tftpl", {})', set()),
        ('templatefile("/etc/passwd", {})', set()),
        ('templatefile("${path.root}/b.tftpl", {})', {"b.tftpl"}),
        ('templatefile("${path.cwd}/b.tftpl", {})', set()),
        ('file("~/b.json")', set()),
        ('file("../b.json")', set()),
        ("templatefile(var.x, {})", set()),
        ('file("${path.module}/a/b.json")', {"a/b.json"}),
        ('filebase64sha256("${path.module}/a/b.zip")', {"a/b.zip"}),
        ('file("b.json")', {"b.json"}),
        ('file("./a/b.json")', {"a/b.json"}),
        ('fileset(path.module, "*.json")', set()),
    ],
)
def test_which_files_are_templates(written: str, names: set[str]) -> None:
    assert template_names(".", [f"x = {written}\n".encode()]) == names


def test_a_name_without_the_module_is_one_of_the_root() -> None:
    texts = [b'x = [file("a.t"), file("${path.root}/b.t"), file("${path.module}/c.t")]\n']
    assert template_names("m", texts) == {"a.t", "b.t", "m/c.t"}


def test_what_is_not_a_small_file_of_the_module_is_not_read(tmp_path: Path) -> None:
    names = ("plain", "large", "linked", "missing", "folder")
    code = "".join(f'x{name} = templatefile("${{path.module}}/{name}.t", {{}})\n' for name in names).encode()
    (tmp_path / "plain.t").write_text("a")
    (tmp_path / "large.t").write_text("a" * 262_145)
    (tmp_path / "linked.t").symlink_to(tmp_path / "plain.t")
    (tmp_path / "folder.t").mkdir()
    texts = [code]
    assert read_templates(DiskTree(tmp_path), {}, ".", texts) == {Path("plain.t"): b"a"}
    assert read_templates(DiskTree(tmp_path), {Path("./plain.t"): b"b"}, ".", texts) == {Path("plain.t"): b"b"}


def test_a_name_with_an_interpolation_stands_for_the_files_that_it_can_mean(tmp_path: Path) -> None:
    (tmp_path / "m/p").mkdir(parents=True)
    for name in ("a.json", "b.json", "c.txt"):
        (tmp_path / "m/p" / name).write_text(name)
    texts = [b'x = templatefile("${path.module}/p/${each.key}.json", {})\n']
    assert set(read_templates(DiskTree(tmp_path), {}, "m", texts)) == {Path("m/p/a.json"), Path("m/p/b.json")}
    texts = [b'x = templatefile("${path.module}/gone/${each.key}.json", {})\n']
    assert read_templates(DiskTree(tmp_path), {}, "m", texts) == {}


@pytest.mark.parametrize("content", [b"a\r\n", b"\xef\xbb\xbfa\n", b"\xff\n", b"${\n", b"%${x}\n", b"%{ if x }\n"])
def test_a_template_that_is_not_certain_is_unknown(content: bytes) -> None:
    with pytest.raises(Unknown):
        read_template(Path("t"), content)


def test_a_template_is_a_text_or_one_value() -> None:
    assert isinstance(read_template(Path("t"), b"${x}\n")[1], Template)
    assert isinstance(read_template(Path("t"), b"${x}")[1], Group)


def test_signs_before_an_escaped_sequence_stay_as_terraform_reads_them() -> None:
    """Terraform 1.11: `templatefile` of a file with `$$${x}` gives `$${x}`."""
    found = read_template(Path("t"), b"$$${x}\n")[1]
    assert isinstance(found, Template)
    assert found.parts == ("$${x}\n",)


def test_every_kind_of_tree_has_templates(root: Path) -> None:
    written = parse_expression('templatefile("${path.module}/t/0.tftpl", { x = 5 })')
    for tree in (root, DiskTree(root), in_workspace(DiskTree(root), "live")):
        assert evaluate(written, EvaluationScope(module=load_module(tree))) == "a 5\n"


def test_all_templates_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "_LARGEST_ALL", 5)
    for name, text in (("a", "12"), ("b", "3456"), ("c", "345")):
        (tmp_path / f"{name}.t").write_text(text)
    texts = [b'x = templatefile("${path.module}/${var.x}.t", {})\n']
    assert read_templates(DiskTree(tmp_path), {}, ".", texts) == {Path("a.t"): b"12", Path("c.t"): b"345"}


def test_what_may_change_a_template_is_watched() -> None:
    texts = [b'x = [templatefile("${path.module}/t/${each.key}.t", {}), templatefile("${path.module}/new.t", {})]\n']
    assert set(watched_paths("m", texts, [Path("m/t/a.t")])) == {"m/t/a.t", "m/t", "m/new.t"}


def test_a_template_knows_its_variables_only(root: Path) -> None:
    (root / "t/0.tftpl").write_text("${var.v}\n")
    with pytest.raises(Unknown):
        evaluate(
            parse_expression('templatefile("${path.module}/t/0.tftpl", {})'), EvaluationScope(module=load_module(root))
        )


DATA: list[tuple[str, str, Json]] = [
    ("a.json", "jsondecode", {"a": [1, "${x}"], "b": None}),
    ("b.yaml", "yamldecode", {"a": ["x", 2], "b": "c d"}),
    ("c.txt", "tostring", "plain %{ if x } ${y}\n"),
]
DATA_TEXTS = ('{"a": [1, "${x}"], "b": null}', "a: [x, 2]\nb: 'c d'\n", "plain %{ if x } ${y}\n")
DATA_CODE = "".join(
    f'output "o{n}" {{\n  value = {decode}(file("${{path.module}}/{name}"))\n}}\n'
    for n, (name, decode, _) in enumerate(DATA)
)


def _with_data(root: Path) -> Path:
    (root / "main.tf").write_text(DATA_CODE)
    for (name, _, _), text in zip(DATA, DATA_TEXTS, strict=True):
        (root / name).write_text(text)
    return root


def test_a_data_file_is_read_as_it_is(tmp_path: Path) -> None:
    outputs = load_module(_with_data(tmp_path)).own_outputs()
    assert [outputs[f"o{n}"] for n, _ in enumerate(DATA)] == [value for _, _, value in DATA]


def test_a_data_file_that_is_replaced_is_read_so(tmp_path: Path) -> None:
    module = load_module(_with_data(tmp_path), {Path("a.json"): b"[]"})
    assert module.own_outputs()["o0"] == []


@pytest.mark.terraform
def test_terraform_reads_the_same_data(tmp_path: Path) -> None:
    calls = ", ".join(f'{decode}(file("${{path.module}}/{name}"))' for name, decode, _ in DATA)
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    console = subprocess.run(
        ["terraform", "console"],
        input=f"base64encode(jsonencode([{calls}]))\n",
        cwd=_with_data(tmp_path),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert console.returncode == 0, console.stderr
    assert json.loads(base64.b64decode(console.stdout.strip().strip('"'))) == [value for _, _, value in DATA]


OF_FILE = [
    'file("a.txt")',
    'file("${path.root}/a.txt")',
    'file("./sub/b.bin.txt")',
    'filebase64("a.txt")',
    'filebase64("c.bin")',
    'filemd5("c.bin")',
    'filesha1("a.txt")',
    'filesha256("c.bin")',
    'filesha512("a.txt")',
    'filebase64sha256("c.bin")',
    'filebase64sha512("c.bin")',
    'fileexists("a.txt")',
    'templatefile("t.tftpl", { x = 1 })',
]


def _files(root: Path) -> None:
    (root / "sub").mkdir()
    for name, content in (
        ("a.txt", b"text\n"),
        ("sub/b.bin.txt", b"below"),
        ("c.bin", b"\xff\x00"),
        ("t.tftpl", b"${x}!"),
    ):
        (root / name).write_bytes(content)
    (root / "main.tf").write_text(
        "".join(f'output "o{n}" {{\n  value = {each}\n}}\n' for n, each in enumerate(OF_FILE))
    )


def test_what_is_no_text_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "c.bin").write_bytes(b"\xff")
    (tmp_path / "main.tf").write_text('locals {\n  x = file("c.bin")\n}\n')
    with pytest.raises(Unknown, match="UTF-8"):
        load_module(tmp_path).local("x")


@pytest.mark.terraform
def test_terraform_reads_the_same_files(tmp_path: Path) -> None:
    _files(tmp_path)
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    console = subprocess.run(
        ["terraform", "console"], input=f"base64encode(jsonencode([{', '.join(OF_FILE)}]))\n", cwd=tmp_path,
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    outputs = load_module(tmp_path).own_outputs()
    ours = [outputs[f"o{n}"] for n, _ in enumerate(OF_FILE)]
    assert json.loads(base64.b64decode(console.stdout.strip().strip('"'))) == ours
