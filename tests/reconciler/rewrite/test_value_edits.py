"""Case folders: code before, what is wanted, code after. And what holds for every edit."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.config.module import declared, load_module
from gateway.terraform.lang.hcl import parse
from reconciler.model import Edited, Wanted
from reconciler.rewrite.value_edits import edit_values
from tests.bench.real_code import write_flat
from tests.bench.rewrite import SHAPES
from tests.kit.growth import assert_linear, work

CASES = sorted((Path(__file__).parents[2] / "cases" / "edits").iterdir())


def _wanted(case: Path) -> list[tuple[Wanted, str]]:
    """What is wanted, each with a part of the reason why it is left (empty where it is written)."""
    rows = json.loads((case / "wanted.json").read_text())
    return [
        (Wanted(address=row["address"], attribute=row["attribute"], value=row["value"]), row.get("left", ""))
        for row in rows
    ]


def _live(case: Path) -> dict[str, dict[str, Json]]:
    """What the code refers to, by address, if the case says so."""
    found: dict[str, dict[str, Json]] = json.loads(file.read_text()) if (file := case / "live.json").exists() else {}
    return found


def _files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_case_comes_out_as_written(case: Path) -> None:
    rows = _wanted(case)
    result = edit_values(case / "before", [wanted for wanted, _ in rows], live=_live(case))
    assert {**_files(case / "before"), **result.files} == _files(case / "after")
    assert all(_files(case / "before")[path] != source for path, source in result.files.items())
    left = {(each.wanted.address, each.wanted.attribute): each.reason for each in result.left}
    expected = {(wanted.address, wanted.attribute): reason for wanted, reason in rows if reason}
    assert left.keys() == expected.keys(), left
    assert all(reason in left[key] for key, reason in expected.items()), left


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_order_of_what_is_wanted_does_not_matter(case: Path) -> None:
    wanted = [each for each, _ in _wanted(case)]
    assert edit_values(case / "before", wanted[::-1], live=_live(case)) == edit_values(
        case / "before", wanted, live=_live(case)
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_second_run_changes_nothing(case: Path) -> None:
    wanted = [each for each, reason in _wanted(case) if not reason]
    again = edit_values(case / "after", wanted, live=_live(case))
    assert again.files == {}
    assert again.edits == ()
    assert again.left == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_edits_applied_in_turn_make_the_files(case: Path) -> None:
    result = edit_values(case / "before", [wanted for wanted, _ in _wanted(case)], live=_live(case))
    files = _files(case / "before")
    for each in result.edits:
        assert files[each.path][each.start : each.end] == each.old
        files[each.path] = files[each.path][: each.start] + each.new + files[each.path][each.end :]
        assert each.chain
    assert files == _files(case / "after")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_is_written_to_disk(case: Path, tmp_path: Path) -> None:
    shutil.copytree(case / "before", tmp_path / "work")
    edit_values(tmp_path / "work", [wanted for wanted, _ in _wanted(case)])
    assert _files(tmp_path / "work") == _files(case / "before")


@pytest.mark.terraform
def test_terraform_fmt_finds_nothing_in_what_was_formatted_before(tmp_path: Path) -> None:
    shutil.copytree(CASES[0].parent, tmp_path / "cases")
    unclean_before = _badly_formatted(tmp_path / "cases", "before")
    unclean_after = _badly_formatted(tmp_path / "cases", "after")
    assert unclean_after <= unclean_before
    assert len(unclean_before) < len(CASES) / 2


def _badly_formatted(root: Path, side: str) -> set[str]:
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    run = subprocess.run(
        ["terraform", "fmt", "-check", "-recursive", "-list=true", str(root)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    listed = [Path(line).resolve().relative_to(root.resolve()) for line in run.stdout.split()]
    return {str(path).replace(f"/{side}/", "/") for path in listed if f"/{side}/" in str(path)}


BLOCK = """# before
resource "aws_sqs_queue" "a" {
  name = "old" # behind
  tags = {
    owner = "x"
  }
}
# after
"""
HOSTILE = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            [
                "$",
                "%",
                "{",
                "}",
                '"',
                "\\",
                "\n",
                "\r",
                "\t",
                "${",
                "%{",
                "$${",
                "EOT",
                "~",
                "#",
                "a",
                "\u2028",
                "\x00",
                "é",
            ]
        ),
        max_size=12,
    ).map("".join),
)


@pytest.mark.slow
@given(value=HOSTILE)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_hostile_text_never_becomes_code(value: str, tmp_path: Path) -> None:
    sources = {Path("main.tf"): BLOCK.encode()}
    wanted = Wanted(address="aws_sqs_queue.a", attribute="name", value=value)
    result = edit_values(tmp_path, [wanted], sources)
    if result.left:
        assert "normal form C" in result.left[0].reason
        return
    after = result.files.get(Path("main.tf"), BLOCK.encode())
    instance = load_module(tmp_path, {Path("main.tf"): after}).instances()[0]
    assert declared(instance, "name") == value
    head, tail = BLOCK.split('"old"')
    assert after.startswith(head.encode())
    assert after.endswith(tail.encode())


@given(key=HOSTILE)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_hostile_key_never_becomes_code(key: str, tmp_path: Path) -> None:
    sources = {Path("main.tf"): BLOCK.encode()}
    result = edit_values(
        tmp_path, [Wanted(address="aws_sqs_queue.a", attribute="tags", value={"owner": "x", key: "v"})], sources
    )
    if result.left or key == "owner":
        return
    document = parse(Path("main.tf"), result.files[Path("main.tf")])
    assert len(document.blocks(document.root)) == 1
    instance = load_module(tmp_path, result.files).instances()[0]
    assert declared(instance, "tags") == {"owner": "x", key: "v"}


@pytest.mark.terraform
def test_terraform_reads_hostile_texts_as_they_were_meant(tmp_path: Path) -> None:
    texts = [
        "${a}",
        "$${a}",
        "$$${a}",
        "%{a}",
        "%%{a}",
        "$%{a}",
        "%${a}",
        '"',
        "\\",
        "\\n",
        "a\nb\tc\rd",
        "\x00\x1f\x7f",
        "é\u2028",
        "$",
        "{",
        "${",
        "EOT",
    ]
    blocks = "".join(f'resource "aws_sqs_queue" "q{n}" {{\n  name = "old"\n}}\n' for n in range(len(texts)))
    wanted = [Wanted(address=f"aws_sqs_queue.q{n}", attribute="name", value=text) for n, text in enumerate(texts)]
    result = edit_values(tmp_path, wanted, {Path("main.tf"): blocks.encode()})
    assert not result.left
    lines = [line for line in result.files[Path("main.tf")].decode().split("\n") if line.startswith("  name = ")]
    items = "".join(f"    {line.removeprefix('  name = ')},\n" for line in lines)
    (tmp_path / "main.tf").write_text(f"locals {{\n  x = [\n{items}  ]\n}}\n")
    console = subprocess.run(
        ["terraform", "console"],
        input="base64encode(jsonencode(local.x))\n",
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(base64.b64decode(console.stdout.strip().strip('"'))) == texts


def test_two_instances_of_one_literal_change_together_or_by_a_conditional(tmp_path: Path) -> None:
    code = b'resource "aws_sqs_queue" "w" {\n  count         = 2\n  delay_seconds = 5\n}\n'
    sources: Mapping[Path, bytes] = {Path("main.tf"): code}
    both = [Wanted(address=f"aws_sqs_queue.w[{n}]", attribute="delay_seconds", value=9) for n in (0, 1)]
    assert edit_values(tmp_path, both, sources).files == {Path("main.tf"): code.replace(b"5", b"9")}
    apart = [Wanted(address=f"aws_sqs_queue.w[{n}]", attribute="delay_seconds", value=8 + n) for n in (0, 1)]
    result = edit_values(tmp_path, apart, sources)
    assert result.files == {Path("main.tf"): code.replace(b"5", b"count.index == 0 ? 8 : 9")}
    assert not result.left


def test_what_one_part_cannot_reach_leaves_no_half_edit(tmp_path: Path) -> None:
    code = b'resource "aws_sqs_queue" "a" {\n  tags = {\n    a = "1"\n    b = md5("x")\n  }\n}\n'
    wanted = Wanted(address="aws_sqs_queue.a", attribute="tags", value={"a": "2", "b": "3"})
    result = edit_values(tmp_path, [wanted], {Path("main.tf"): code})
    assert result.files == {}
    assert result.edits == ()
    assert result.left[0].wanted == wanted


def test_code_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CodeInvalid, match=r"main\.tf:2"):
        edit_values(tmp_path, [], {Path("main.tf"): b'resource "a" "b" {\n  x = = 1\n}\n'})
    with pytest.raises(CodeInvalid, match=r"main\.tf\.json:1: .* the block resource must be an object"):
        edit_values(tmp_path, [], {Path("main.tf.json"): b'{"resource": 1}'})


def test_line_endings_are_kept(tmp_path: Path) -> None:
    code = b'resource "aws_sqs_queue" "a" {\r\n  name = "a"\r\n}\r\n'
    wanted = [Wanted(address="aws_sqs_queue.a", attribute="delay_seconds", value=5)]
    after = edit_values(tmp_path, wanted, {Path("main.tf"): code}).files[Path("main.tf")]
    assert after.count(b"\r\n") == after.count(b"\n") == 4


@pytest.mark.slow
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_the_work_grows_as_the_code_does(shape: str, tmp_path: Path) -> None:
    """Two values in code of the styles that `python -m tests.bench rewrite` measures."""
    write, attribute, value = SHAPES[shape]

    def written(resources: int) -> Callable[[], object]:
        root = tmp_path / str(resources)
        address = write(root, resources)
        wanted = [
            Wanted(address=address, attribute=attribute, value=value),
            Wanted(address=address, attribute="tags.Owner", value="team-other"),
        ]
        return lambda: edit_values(root, wanted)

    assert_linear(written, 50)


@pytest.mark.slow
def test_a_candidate_costs_no_more_in_a_root_of_many_files(tmp_path: Path) -> None:
    """What each further candidate costs: the code is read once, whatever is tried in it afterwards."""

    def candidates(resources: int) -> int:
        root = tmp_path / str(resources)
        address = write_flat(root, resources)
        one = Wanted(address=address, attribute="visibility_timeout_seconds", value=77)
        two = Wanted(address=address, attribute="tags.Owner", value="team-other")
        edit_values(root, [one, two])
        return work(lambda: edit_values(root, [one, two])) - work(lambda: edit_values(root, [one]))

    small, large = candidates(100), candidates(400)
    assert large < 2 * small


SHARED = """
locals {
  defaults = { delay = 1, level = 1 }
  tags     = { team = "a" }
}

module "one" {
  source   = "./q"
  defaults = local.defaults
  tags     = { name = "one" }
}

module "two" {
  source   = "./q"
  defaults = local.defaults
}
"""
QUEUE = """
variable "defaults" {}

variable "delay" {
  default = null
}

variable "tags" {
  default = {}
}

resource "q" "this" {
  delay = try(coalesce(var.delay, lookup(var.defaults, "delay", null)), 0)
  tags  = merge({ made = "here" }, var.tags)
}
"""


def _shared(root: Path, *wanted: Wanted) -> Edited:
    for path, text in (("main.tf", SHARED), ("q/main.tf", QUEUE)):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return edit_values(root, wanted)


def test_values_that_one_edit_gives_are_one_edit(tmp_path: Path) -> None:
    wanted = [Wanted(address=f"module.{name}.q.this", attribute="delay", value=5) for name in ("one", "two")]
    result = _shared(tmp_path, *wanted)
    assert result.left == ()
    assert result.files == {Path("main.tf"): SHARED.replace("delay = 1", "delay = 5").encode()}


def test_one_of_those_that_share_a_value_gets_its_own(tmp_path: Path) -> None:
    result = _shared(tmp_path, Wanted(address="module.two.q.this", attribute="delay", value=5))
    assert result.files == {
        Path("main.tf"): SHARED.replace(
            "  defaults = local.defaults\n}\n", "  defaults = local.defaults\n  delay    = 5\n}\n"
        ).encode()
    }


def test_values_that_one_edit_would_give_with_another_are_apart(tmp_path: Path) -> None:
    wanted = [
        Wanted(address=f"module.{name}.q.this", attribute="delay", value=value)
        for name, value in (("one", 5), ("two", 6))
    ]
    result = _shared(tmp_path, *wanted)
    assert result.left == ()
    (tmp_path / "main.tf").write_bytes(result.files[Path("main.tf")])
    module = load_module(tmp_path)
    instances = [module.instance(each.address) for each in wanted]
    assert [declared(each, "delay") for each in instances if each is not None] == [5, 6]


def test_the_text_that_several_share_is_one_edit(tmp_path: Path) -> None:
    code = 'resource "r" "a" {\n  count = 2\n  note  = "worker ${count.index}"\n}\n'
    (tmp_path / "main.tf").write_text(code)
    wanted = [Wanted(address=f"r.a[{n}]", attribute="note", value=f"night {n}") for n in (0, 1)]
    assert edit_values(tmp_path, wanted).files == {Path("main.tf"): code.replace("worker", "night").encode()}


def test_one_value_of_a_block_that_a_map_makes_is_edited_in_the_map(tmp_path: Path) -> None:
    code = """locals {
  rules = {
    http  = { port = 80, cidrs = ["10.0.0.0/8"] }
    https = { port = 443, cidrs = ["10.0.0.0/8"] }
  }
}

resource "aws_security_group" "g" {
  dynamic "ingress" {
    for_each = local.rules
    content {
      from_port   = ingress.value.port
      cidr_blocks = ingress.value.cidrs
    }
  }
}
"""
    (tmp_path / "main.tf").write_text(code)
    before: list[Json] = [{"from_port": port, "cidr_blocks": ["10.0.0.0/8"]} for port in (80, 443)]
    value: list[Json] = [before[0], {"from_port": 443, "cidr_blocks": ["10.0.0.0/8", "10.9.0.0/16"]}]
    wanted = Wanted(address="aws_security_group.g", attribute="ingress", value=value, before=before)
    edited = edit_values(tmp_path, [wanted])
    assert edited.left == ()
    after = code.replace('443, cidrs = ["10.0.0.0/8"]', '443, cidrs = ["10.0.0.0/8", "10.9.0.0/16"]')
    assert edited.files == {Path("main.tf"): after.encode()}


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ("", "\n  guard = { on = true }"),
        ("  guard = {}\n", "  guard = { on = true }\n"),
        ("  guard = { on = null }\n", "  guard = { on = true }\n"),
        ("  guard = { on = false }\n", "  guard = { on = true }\n"),
    ],
)
def test_an_entry_that_a_filtering_for_leaves_out_is_given(given: str, after: str, tmp_path: Path) -> None:
    module = """variable "guard" {
  type = object({
    on  = optional(bool)
    off = optional(bool)
  })
  default = {}
}

locals {
  guard = merge({ on = false, off = false }, { for name, value in var.guard : name => value if value != null })
}

resource "r" "this" {
  on  = local.guard.on
  off = local.guard.off
}
"""
    code = f'module "m" {{\n  source = "./m"\n{given}}}\n'
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text(module)
    (tmp_path / "main.tf").write_text(code)
    edited = edit_values(tmp_path, [Wanted(address="module.m.r.this", attribute="on", value=True)])
    assert edited.left == ()
    assert after in edited.files[Path("main.tf")].decode()


@pytest.mark.parametrize("changed", [0, 1])
def test_a_set_of_objects_whose_member_stands_in_a_list_is_edited_in_its_item(changed: int, tmp_path: Path) -> None:
    rules = ['{ port = 443, cidr = "10.0.0.0/8" }', '{ port = 80, cidr = "10.0.0.0/8" }']
    head = 'variable "rules" {\n  type    = set(object({ port = number, cidr = string }))\n  default = ['
    rest = ']\n}\n\nresource "aws_x" "x" {\n  dynamic "rule" {\n    for_each = var.rules\n    content {\n      from  = rule.value.port\n      to    = rule.value.port\n      cidrs = [rule.value.cidr]\n    }\n  }\n}\n'
    (tmp_path / "main.tf").write_text(head + ", ".join(rules) + rest)
    live = [{"from": port, "to": port, "cidrs": ["10.0.0.0/8"]} for port in (80, 443)]
    live[1 - changed]["cidrs"] = ["10.9.0.0/16"]
    edited = edit_values(tmp_path, [Wanted(address="aws_x.x", attribute="rule", value=live)])
    rules[changed] = rules[changed].replace("10.0.0.0/8", "10.9.0.0/16")
    assert edited.files[Path("main.tf")].decode() == head + ", ".join(rules) + rest
    live[changed]["cidrs"] = ["10.9.0.0/16", "10.8.0.0/16"]
    edited = edit_values(tmp_path, [Wanted(address="aws_x.x", attribute="rule", value=live)])
    assert (edited.files, len(edited.left)) == ({}, 1)
