"""1,000 random edits of real files: the projects of the drift benchmark and the example stack. No byte outside an edit changes."""

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.config.module import ResourceInstance, attributes, load_module
from reconciler.model import Edited, Wanted
from reconciler.rewrite.value_edits import edit_values

REPOSITORY = Path(__file__).parents[3]
ROOTS = sorted(
    {
        file.parent
        for folder in ("tests/bench/drift/projects", "deploy/example")
        for file in (REPOSITORY / folder).rglob("terraform.tf")
    }
    | {file.parent for file in (REPOSITORY / "deploy/example").rglob("main.tf")}
)
SEED = 9


def _changed(value: Json, chance: random.Random) -> Json:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + chance.randrange(1, 9)
        case str():
            return value + "".join(chance.choices('abc-_$"{', k=chance.randrange(1, 5)))
        case list() if value and all(isinstance(item, str) for item in value):
            return [*value[chance.randrange(2) :], "added"]
        case list() if value and all(isinstance(item, dict) for item in value):
            return value[1:] if len(value) > 1 else [*value, *value]
        case dict() if value:
            kept = dict(value)
            kept.pop(chance.choice(sorted(kept)))
            return {**kept, "added": "x"} if chance.randrange(2) else kept
    return "changed"


def _wanted(instances: list[ResourceInstance], chance: random.Random) -> Iterator[Wanted]:
    while instances:
        instance = chance.choice(instances)
        values = {**attributes(instance), "absent": None}
        name = chance.choice(sorted(values))
        yield Wanted(address=instance.address, attribute=name, value=_changed(values[name], chance))


def _check_bytes(root: Path, result: Edited) -> None:
    """The edits, applied in turn to the files as they were, make exactly the files that were returned."""
    files = {path: (root / path).read_bytes() for path in result.files}
    for each in result.edits:
        before = files[each.path]
        assert before[each.start : each.end] == each.old
        files[each.path] = before[: each.start] + each.new + before[each.end :]
    assert files == dict(result.files)


@pytest.mark.slow
@pytest.mark.parametrize("edits", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_no_byte_outside_an_edit_changes(edits: int) -> None:
    made = {root: _edits_of(root, edits // len(ROOTS) + 1) for root in ROOTS}
    assert sum(tried for tried, _ in made.values()) >= edits
    assert sum(written for _, written in made.values()) >= edits // 4


def _edits_of(root: Path, count: int) -> tuple[int, int]:
    """How many edits were tried, and how many were written."""
    chance = random.Random(f"{SEED} {root.relative_to(REPOSITORY)}")  # noqa: S311  a repeatable choice of edits
    wanted = _wanted(list(load_module(root).instances()), chance)
    results = [edit_values(root, [each]) for each, _ in zip(wanted, range(count), strict=False)]
    for result in results:
        _check_bytes(root, result)
    return len(results), sum(bool(result.files) for result in results)


@pytest.mark.terraform
@pytest.mark.parametrize("edits", [5, pytest.param(20, marks=pytest.mark.long)])
def test_what_was_formatted_stays_formatted(edits: int, tmp_path: Path) -> None:
    """All edits of a root beside each other in one folder, so that terraform is started once."""
    for number, root in enumerate(ROOTS):
        chance = random.Random(f"{SEED} fmt {number}")  # noqa: S311  as above
        for index, each in zip(range(edits), _wanted(list(load_module(root).instances()), chance), strict=False):
            try:
                files = edit_values(root, [each]).files
            except CodeInvalid:
                continue
            for path, content in files.items():
                target = tmp_path / f"{number}-{index}" / path.name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(content)
    argv = ["terraform", "fmt", "-check", "-diff", "-recursive", str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout == ""
