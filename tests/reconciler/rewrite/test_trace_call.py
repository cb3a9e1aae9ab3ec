"""Places at a module's call: arguments it does not give, for all its instances and for one, and arguments that others share."""

from pathlib import Path

import pytest

from gateway.model.path import AttributePath
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.evaluate import EvaluationScope
from reconciler.model import Wanted
from reconciler.rewrite.edit import edit
from reconciler.rewrite.place import ArgumentPlace, NoPlace, OverridePlace, Place
from reconciler.rewrite.trace import traces
from reconciler.rewrite.trace_call import condition_of

ROOT = """
module "one" {
  source = "./m"
  days   = local.days
}

module "many" {
  source   = "./m"
  for_each = toset(["a", "b"])
  days     = 5
}

locals {
  days = 3
}
"""
MODULE = """
variable "days" {}

variable "table" {
  default = { size = 1, inner = { x = 1 } }
}

variable "on" {
  default = false
}

resource "aws_x" "y" {
  days = var.days
  on   = var.on
  size = var.table.size
  x    = var.table.inner.x
  lost = var.table.lost.deep
}
"""


def _places(address: str, attribute: str) -> tuple[Place, ...]:
    files = {Path("main.tf"): ROOT.encode(), Path("m/main.tf"): MODULE.encode()}
    return traces(load_module(Path("/nowhere"), files), address, AttributePath(attribute))


def test_an_argument_that_is_not_given_is_a_place_for_all_and_for_one() -> None:
    (new,) = _places("module.one.aws_x.y", "on")
    assert isinstance(new, ArgumentPlace)
    assert (new.name, new.default, new.only) == ("on", "false", None)
    whole, one = _places('module.many["a"].aws_x.y', "on")
    assert isinstance(whole, ArgumentPlace)
    assert isinstance(one, ArgumentPlace)
    assert one.only is not None
    assert (whole.only, one.only.condition, one.only.otherwise) == (None, 'each.key == "a"', "false")


def test_a_part_of_a_default_gives_the_whole_argument() -> None:
    (place,) = _places("module.one.aws_x.y", "size")
    assert isinstance(place, ArgumentPlace)
    assert place.convert(7) == {"size": 7, "inner": {"x": 1}}
    (deep,) = _places("module.one.aws_x.y", "x")
    assert isinstance(deep, ArgumentPlace)
    assert deep.convert(7) == {"size": 1, "inner": {"x": 7}}


def test_an_argument_from_a_name_that_others_share_can_be_set_beside_it() -> None:
    *_, last = _places("module.one.aws_x.y", "days")
    assert isinstance(last, OverridePlace)
    assert (last.only, last.key) == (None, "")
    *_, last = _places('module.many["b"].aws_x.y', "days")
    assert isinstance(last, OverridePlace)
    assert last.only is not None
    assert last.only.condition == 'each.key == "b"'


def test_a_default_that_is_not_known_is_refused() -> None:
    files = {
        Path("main.tf"): b'module "m" {\n  source = "./m"\n}\n',
        Path("m/main.tf"): b'variable "a" {\n  default = timestamp()\n}\nresource "aws_x" "y" {\n  a = var.a.b\n}\n',
    }
    (place,) = traces(load_module(Path("/nowhere"), files), "module.m.aws_x.y", AttributePath("a"))
    assert isinstance(place, NoPlace)


@pytest.mark.parametrize(
    ("scope", "condition"),
    [
        (EvaluationScope(), ""),
        (EvaluationScope(count=2), "count.index == 2"),
        (EvaluationScope(each=("a b", None)), 'each.key == "a b"'),
    ],
)
def test_the_condition_of_an_instance(scope: EvaluationScope, condition: str) -> None:
    assert condition_of(scope) == condition


def test_an_argument_gets_two_new_levels_in_the_map_it_comes_from(tmp_path: Path) -> None:
    module = """
variable "settings" {
  type    = map(number)
  default = {}
}

resource "aws_x" "y" {
  delay = try(var.settings.delay, 0)
  wait  = lookup(var.settings, "wait", 0)
}
"""
    code = """
locals {
  queues = {
    one = { size = 1 }
    two = { size = 1, settings = { delay = 2 } }
  }
}

module "queue" {
  source   = "./vendor/m"
  for_each = local.queues
  settings = try(each.value.settings, {})
}
"""
    sources = {Path("main.tf"): code.encode(), Path("vendor/m/main.tf"): module.encode()}
    wanted = Wanted(address='module.queue["one"].aws_x.y', attribute="delay", value=5)
    result = edit(tmp_path, [wanted], sources)
    assert [each.new.decode() for each in result.edits] == [", settings = { delay = 5 }"]
