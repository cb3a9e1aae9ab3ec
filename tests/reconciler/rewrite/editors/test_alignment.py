"""Our alignment is that of `terraform fmt`."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import attributes, load_module
from gateway.terraform.lang.hcl import parse
from reconciler.model import Wanted
from reconciler.rewrite.editors.alignment import align
from reconciler.rewrite.value_edits import edit_values

CASES = {
    "one run": ("a = 1\nlonger = 2\n", "a      = 1\nlonger = 2\n"),
    "a comment line ends a run": ("a = 1\n# c\nlonger = 2\n", "a = 1\n# c\nlonger = 2\n"),
    "an empty line ends a run": ("a = 1\n\nlonger = 2\n", "a = 1\n\nlonger = 2\n"),
    "a value over many lines ends a run": (
        "a = 1\nlonger = [\n  1,\n]\nb = 2\n",
        "a = 1\nlonger = [\n  1,\n]\nb = 2\n",
    ),
    "a heredoc takes part": (
        "a = 1\nlonger = <<EOT\nx = 1\nEOT\nb = 2\n",
        "a      = 1\nlonger = <<EOT\nx = 1\nEOT\nb      = 2\n",
    ),
    "comments share a column": ("a = 1 # x\nlonger = 22 # y\n", "a      = 1  # x\nlonger = 22 # y\n"),
    "comments apart do not": ("a = 1 # x\nb = 222\nc = 3 # y\n", "a = 1 # x\nb = 222\nc = 3 # y\n"),
    "colons are left alone": ("x = {\n  a : 1\n  long : 2\n}\n", "x = {\n  a : 1\n  long : 2\n}\n"),
    "elements with commas": ("x = {\n  a = 1, # x\n  long = 2,\n}\n", "x = {\n  a    = 1, # x\n  long = 2,\n}\n"),
    "objects on one line are left alone": ("x = { a = 1,  bb = 2 }\n", "x = { a = 1,  bb = 2 }\n"),
    "letters count, not bytes": ('"é" = 1\n', None),
    "nested runs": (
        "b {\n  a = 1\n  bb = 2\n  c {\n    d = 1\n    eee = 2\n  }\n}\n",
        "b {\n  a  = 1\n  bb = 2\n  c {\n    d   = 1\n    eee = 2\n  }\n}\n",
    ),
}


@pytest.mark.parametrize("name", [name for name, (_, after) in CASES.items() if after is not None])
def test_aligned(name: str) -> None:
    before, after = CASES[name]
    assert after is not None
    assert align(parse(Path("x.tf"), before.encode())).decode() == after
    assert align(parse(Path("x.tf"), after.encode())).decode() == after


def _format(source: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    run = subprocess.run(
        ["terraform", "fmt", "-"], input=source, env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout


@pytest.mark.terraform
def test_terraform_aligns_the_same() -> None:
    for name, (before, after) in CASES.items():
        if after is not None and name != "objects on one line are left alone":
            assert _format(before) == after, name


NAMES = ["a", "bb", "a_long_name", "the_longest_name_of_them_all", "größe", "d3"]


def _block(chance: random.Random, number: int) -> str:
    """A resource of a random shape."""
    rows = []
    for name in chance.sample(NAMES, chance.randint(0, 5)):
        behind = chance.choice(["", "", " # note", " // said"])
        value = chance.choice(
            [
                "1",
                '"text"',
                "true",
                '["a", "b"]',
                '{ k = 1, "l m" = 2 }',
                "{\n    k  = 1\n    kk = 2 # two\n  }",
                '[\n    "a",\n    "b", # b\n  ]',
                "var.v",
            ]
        )
        rows.append(
            f"  {name} = {value}{behind if chr(10) not in value else ''}\n"
            + chance.choice(["", "", "\n", "  # above\n"])
        )
    inner = chance.choice(["", "\n  nested {\n    x = 1\n    yyy = 2\n  }\n"])
    return f'resource "r" "n{number}" {{\n{"".join(rows)}{inner}}}\n'


def _wish(chance: random.Random, root: Path, code: bytes) -> Wanted:
    """A random edit of one of the attributes, or a new one."""
    instance = chance.choice(load_module(root, {Path("main.tf"): code}).instances())
    known = attributes(instance)
    values: list[Json] = [7, 123456789, "much longer than the one before", False]
    value = chance.choice(values)
    paths = (
        ["brand_new", "another_new_one_that_is_long", "nested.yyy", "nested.zz"] if "nested" in known else ["brand_new"]
    )
    for name, old in known.items():
        if isinstance(old, dict):
            paths += [f"{name}.k", f"{name}.a_new_key"]
        elif isinstance(old, list) and name != "nested":
            paths += [f"{name}.0"]
        elif name != "nested":
            paths += [name]
    path = chance.choice(paths)
    if isinstance(known.get(path.partition(".")[0]), list) and path.endswith(".0"):
        return Wanted(address=instance.address, attribute=path[:-2], value=["b", "cc", "a"])
    return Wanted(address=instance.address, attribute=path, value=value)


@pytest.mark.slow
@pytest.mark.terraform
def test_random_edits_of_formatted_code_stay_formatted(tmp_path: Path) -> None:
    chance = random.Random(20)  # noqa: S311  reproducible, no secret
    blocks = 'variable "v" {\n  default = 1\n}\n' + "".join("\n" + _block(chance, number) for number in range(25))
    code = _format(blocks).encode()
    folder = tmp_path / "after"
    folder.mkdir()
    made = 0
    for number in range(200):
        wanted = _wish(chance, tmp_path, code)
        result = edit_values(tmp_path, [wanted], {Path("main.tf"): code})
        if result.files:
            made += 1
            (folder / f"{number}.tf").write_bytes(result.files[Path("main.tf")])
    assert made > 120
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    run = subprocess.run(
        ["terraform", "fmt", "-check", "-diff", str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[:3000]
