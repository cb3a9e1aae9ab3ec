"""`sentinel policy numbers`: what is in force for a stack, and from which layer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ports.test_priorities import LAYERS, layered

Run = Callable[..., Any]


@pytest.fixture
def policies(tmp_path: Path) -> str:
    """Policies with layers, which are built when they are first asked."""
    return str(layered(tmp_path / "policies", LAYERS))


def test_each_number_is_shown_with_its_layer(policies: str, sentinel: Run, elsewhere: Path) -> None:
    (elsewhere / "sentinel.toml").write_text('[[stacks]]\nname = "dev-shop"\npath = "."\n')
    done = sentinel("policy", "numbers", "--stack", "dev-shop", "--path", policies)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Priorities of stack dev-shop: base, dev (revision dev@")
    assert "The layer 'strict' of the priorities is for the stacks payments" in lines[1]
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:] if len(line.split()) >= 3}
    assert rows["intents.cost"] == ["700", "dev"]
    assert rows["intents.security"] == ["600", "base"]


def test_without_a_stack_it_is_the_base_of_the_settings(sentinel: Run, document: Run) -> None:
    assert sentinel("policy", "numbers").stdout.startswith("Priorities of a stack without layers: base (revision base@")
    code, shown = document("policy", "numbers")
    assert (code, shown["layers"], shown["numbers"]["close_call"], shown["origins"]["close_call"]) == (
        0,
        [],
        100,
        "base",
    )


def test_policies_that_are_none_are_a_sentence(sentinel: Run, tmp_path: Path) -> None:
    done = sentinel("policy", "numbers", "--path", str(tmp_path))
    assert (done.exit_code, "There are no policies" in done.stderr) == (1, True)
