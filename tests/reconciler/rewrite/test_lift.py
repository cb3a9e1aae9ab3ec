"""A value that one caller of a module wants becomes a variable of it; see also tests/cases/edits/module_*."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import load_module
from reconciler.model import Wanted
from reconciler.rewrite.lift import lifts
from reconciler.rewrite.trace import traces

FILES = {
    Path("main.tf"): b'module "s" {\n  source = "./s"\n}\n\nresource "aws_x" "own" {\n  size = 1\n}\n',
    Path("s/main.tf"): b'module "q" {\n  source = "../q"\n}\n',
    Path("q/main.tf"): b'resource "aws_x" "y" {\n  size = 1\n}\n',
}


def _lifts(address: str) -> list[list[str]]:
    module = load_module(Path("/nowhere"), FILES)
    wanted = Wanted(address=address, attribute="size", value=5)
    found = lifts(module, wanted, traces(module, address, wanted.path))
    return [[document.path.as_posix() for document, _ in lift.splices(5)] for lift in found]


def test_the_value_is_set_at_the_nearest_call_first_and_then_passed_on() -> None:
    nearest, passed_on = _lifts("module.s.module.q.aws_x.y")
    assert nearest == ["q/main.tf", "s/main.tf"]
    assert passed_on == ["q/main.tf", "s/main.tf", "main.tf"]


@pytest.mark.parametrize("address", ["aws_x.own", "aws_x.unknown"])
def test_a_resource_of_the_root_needs_none(address: str) -> None:
    assert _lifts(address) == []
