"""A few lines of Terraform code make millions of modules or resources, or nest until a parser gives up.

The gateway reads the code of its stacks again when it changes. What must hold: the cost is limited, and the answer is a sentence, so that what
was loaded before stays in force.
"""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.config import module
from tests.kit.stacks import Source, load


def _refused(root: Path, match: str) -> None:
    with pytest.raises(CodeInvalid, match=match):
        load(Source(path=root))


def test_modules_that_call_each_other_twice_are_not_followed_to_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trillion of them; the limit is lower here than it is, so that the test is quick."""
    monkeypatch.setattr(module, "MOST_MODULES", 200)
    levels = 40
    for level in range(levels):
        place = tmp_path / f"m{level}" if level else tmp_path
        place.mkdir(exist_ok=True)
        source = f"../m{level + 1}" if level else "./m1"
        calls = "".join(f'module "{name}" {{\n  source = "{source}"\n}}\n' for name in "ab")
        (place / "main.tf").write_text(calls if level < levels - 1 else "locals {}\n")
    _refused(tmp_path, "call each other so often")


def test_modules_by_count_in_modules_by_count_are_not_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RESOURCES", 2_000)
    (tmp_path / "main.tf").write_text('module "m" {\n  source = "./m"\n  count  = 100\n}\n')
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('resource "aws_sqs_queue" "q" {\n  count = 100\n  name  = "x"\n}\n')
    _refused(tmp_path, "more than 2,000 resources")


@pytest.mark.parametrize("depth", [101, 900, 50_000])
def test_blocks_in_blocks_end_in_a_sentence(tmp_path: Path, depth: int) -> None:
    (tmp_path / "main.tf").write_text('resource "a" "b" {\n' + "x {\n" * depth + "}\n" * depth + "}\n")
    _refused(tmp_path, "nested more than 100 levels deep")


@pytest.mark.parametrize("last_first", [False, True])
def test_a_long_row_of_modules_ends_in_a_sentence(tmp_path: Path, last_first: bool) -> None:
    """Also where the first file calls all of them, the last of the row first, so that each is looked at before what calls it."""
    levels = 400
    first = "".join(f'module "m{level}" {{\n  source = "./m{level}"\n}}\n' for level in reversed(range(1, levels)))
    for level in range(levels):
        place = tmp_path / f"m{level}" if level else tmp_path
        place.mkdir(exist_ok=True)
        source = f"../m{level + 1}" if level else "./m1"
        if last_first and not level:
            (place / "main.tf").write_text(first)
            continue
        (place / "main.tf").write_text(f'module "a" {{\n  source = "{source}"\n}}\n' if level < levels - 1 else "")
    _refused(tmp_path, "more than 100 levels deep")
