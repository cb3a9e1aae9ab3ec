"""Where one instance or one call must differ from the others, a conditional or an argument of the call is the last site."""

import json
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.evaluate import EvaluationScope
from reconciler.model import Wanted
from reconciler.rewrite.surroundings import surroundings
from reconciler.rewrite.trace.attribute import trace_attribute
from reconciler.rewrite.trace.overrides import condition_of, condition_on
from reconciler.rewrite.trace.sites import ArgumentSite, NoSite, OverrideSite, TracedSite
from reconciler.rewrite.value_edits import edit_values


@pytest.mark.parametrize(
    ("body", "path", "value", "after"),
    [
        ("size = 1", "size", 2, 'size = each.key == "a" ? 2 : 1'),
        (
            "text = jsonencode({ a = { b = 1 } })",
            "text.a.b",
            2,
            'text = jsonencode({ a = { b = each.key == "a" ? 2 : 1 } })',
        ),
        ("tags = { x = 1 }", "tags.y", 2, 'tags = merge({ x = 1 }, each.key == "a" ? { y = 2 } : {})'),
        # The provider may have a text where a variable is a number, and the other instances keep the number.
        ("size = var.n", "size", "300", 'size = each.key == "a" ? 300 : var.n'),
        ("tags = merge({ x = 1 })", "tags.x", 2, 'tags = merge({ x = each.key == "a" ? 2 : 1 })'),
    ],
)
def test_one_instance_gets_its_own_value(body: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    code = (
        f'variable "n" {{\n  default = 120\n}}\n\nresource "r" "a" {{\n  for_each = toset(["a", "b"])\n  {body}\n}}\n'
    )
    wanted = Wanted(address='r.a["a"]', attribute=path, value=value)
    result = edit_values(tmp_path, [wanted], {Path("main.tf"): code.encode()})
    assert result.files[Path("main.tf")].decode() == code.replace(body, after)


def test_values_that_one_edit_gives_together_are_not_split(tmp_path: Path) -> None:
    code = """variable "n" {
  default = 2
}

resource "r" "a" {
  x = var.n + var.n
}

resource "r" "b" {
  x = var.n
}
"""
    wanted = [Wanted(address="r.a", attribute="x", value=6), Wanted(address="r.b", attribute="x", value=3)]
    result = edit_values(tmp_path, wanted, {Path("main.tf"): code.encode()})
    assert result.files[Path("main.tf")].decode() == code.replace("2", "3")
    result = edit_values(tmp_path, wanted[1:], {Path("main.tf"): code.encode()})
    assert result.files[Path("main.tf")].decode() == code.replace("x = var.n\n", "x = 3\n")


@pytest.mark.parametrize("body", ["name = each.key", 'name = "x-${each.value}"'])
def test_what_names_the_instance_is_left(body: str, tmp_path: Path) -> None:
    code = f'resource "r" "a" {{\n  for_each = toset(["a", "b"])\n  {body}\n}}\n'
    wanted = Wanted(address='r.a["a"]', attribute="name", value="other")
    assert edit_values(tmp_path, [wanted], {Path("main.tf"): code.encode()}).left


def test_a_round_of_a_for_gets_its_own_value(tmp_path: Path) -> None:
    code = 'resource "r" "a" {\n  for_each = { for n in range(1, 3) : "w${n}" => n * 30 }\n\n  days = each.value\n}\n'
    wanted = Wanted(address='r.a["w2"]', attribute="days", value=90)
    result = edit_values(tmp_path, [wanted], {Path("main.tf"): code.encode()})
    assert "=> n == 2 ? 90 : n * 30 }" in result.files[Path("main.tf")].decode()


def test_all_rounds_of_a_for_get_another_factor(tmp_path: Path) -> None:
    code = 'resource "r" "a" {\n  for_each = { for n in range(1, 3) : "w${n}" => n * 30 }\n\n  days = each.value\n}\n'
    wanted = [Wanted(address=f'r.a["w{n}"]', attribute="days", value=n * 60) for n in (1, 2)]
    result = edit_values(tmp_path, wanted, {Path("main.tf"): code.encode()})
    assert result.files[Path("main.tf")].decode() == code.replace("30", "60")


def test_conditions_are_written_only_for_keys_that_are_known() -> None:
    assert condition_of(EvaluationScope(count=3)) == "count.index == 3"
    assert condition_of(EvaluationScope(each=("a$", 1))) == 'each.key == "a$"'
    assert condition_of(EvaluationScope()) == ""
    assert [condition_on("n", value) for value in (1, "x", True, None)] == ["n == 1", 'n == "x"', "", ""]


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


def _sites(address: str, attribute: str) -> tuple[TracedSite, ...]:
    files = {Path("main.tf"): ROOT.encode(), Path("m/main.tf"): MODULE.encode()}
    return trace_attribute(load_module(Path("/nowhere"), files), address, AttributePath(attribute))


def test_an_argument_that_is_not_given_is_a_place_for_all_and_for_one() -> None:
    (new,) = _sites("module.one.aws_x.y", "on")
    assert isinstance(new, ArgumentSite)
    assert (new.name, new.default, new.only) == ("on", "false", None)
    whole, one = _sites('module.many["a"].aws_x.y', "on")
    assert isinstance(whole, ArgumentSite)
    assert isinstance(one, ArgumentSite)
    assert one.only is not None
    assert (whole.only, one.only.condition, one.only.otherwise) == (None, 'each.key == "a"', "false")


def test_a_part_of_a_default_gives_the_whole_argument() -> None:
    (site,) = _sites("module.one.aws_x.y", "size")
    assert isinstance(site, ArgumentSite)
    assert site.convert(7) == {"size": 7, "inner": {"x": 1}}
    (deep,) = _sites("module.one.aws_x.y", "x")
    assert isinstance(deep, ArgumentSite)
    assert deep.convert(7) == {"size": 1, "inner": {"x": 7}}


def test_an_argument_from_a_name_that_others_share_can_be_set_beside_it() -> None:
    *_, last = _sites("module.one.aws_x.y", "days")
    assert isinstance(last, OverrideSite)
    assert (last.only, last.key) == (None, "")
    *_, last = _sites('module.many["b"].aws_x.y', "days")
    assert isinstance(last, OverrideSite)
    assert last.only is not None
    assert last.only.condition == 'each.key == "b"'


def test_a_default_that_is_not_known_is_refused() -> None:
    files = {
        Path("main.tf"): b'module "m" {\n  source = "./m"\n}\n',
        Path("m/main.tf"): b'variable "a" {\n  default = timestamp()\n}\nresource "aws_x" "y" {\n  a = var.a.b\n}\n',
    }
    (site,) = trace_attribute(load_module(Path("/nowhere"), files), "module.m.aws_x.y", AttributePath("a"))
    assert isinstance(site, NoSite)


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
    result = edit_values(tmp_path, [wanted], sources)
    assert [each.new.decode() for each in result.edits] == [", settings = { delay = 5 }"]


def test_a_member_in_another_unit_is_set_beside_what_two_calls_share(tmp_path: Path) -> None:
    (tmp_path / "watch").mkdir()
    module = """variable "settings" {
  type = object({ days = number, about = optional(string) })
}

resource "r" "a" {
  seconds = var.settings.days * 86400
}
"""
    (tmp_path / "watch/main.tf").write_text(module)
    code = """locals {
  watched = { days = 7 }
}

module "one" {
  source   = "./watch"
  settings = local.watched
}

module "two" {
  source   = "./watch"
  settings = local.watched
}
"""
    (tmp_path / "main.tf").write_text(code)
    result = edit_values(tmp_path, [Wanted(address="module.one.r.a", attribute="seconds", value=1209600)])
    assert not result.left
    written = code.replace("settings = local.watched", "settings = merge(local.watched, { days = 14 })", 1)
    assert {path: content.decode() for path, content in result.files.items()} == {Path("main.tf"): written}


_CALLED = """variable "context" {
  type = object({ id = string, tags = map(string) })
}

variable "alarms" {
  type    = map(object({ threshold = number, periods = optional(number) }))
  default = {}
}

variable "actions" {
  type    = list(string)
  default = null
}

locals {
  periods = 2
}

resource "aws_sqs_queue" "this" {
  name = var.context.id
  tags = var.context.tags
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = var.alarms

  alarm_name         = "${var.context.id}-${each.key}"
  threshold          = each.value.threshold
  evaluation_periods = each.value.periods != null ? each.value.periods : local.periods
  alarm_actions      = var.actions
  tags               = var.context.tags
}
"""
_CALLS = """locals {
  context = { id = "shop", tags = { owner = "core" } }
  topic   = "arn:aws:sns:eu-west-1:123456789012:ops"
}

module "mail" {
  source = "./queue"

  context = local.context
  alarms  = { depth = { threshold = 1 }, age = { threshold = 2 } }
  actions = [local.topic]
}

module "bulk" {
  source   = "./queue"
  for_each = toset(["eu", "us"])

  context = merge(local.context, { id = each.key })
}
"""


def _called(tmp_path: Path, *wanted: tuple[str, str, Json]) -> str:
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue/main.tf").write_text(_CALLED)
    (tmp_path / "main.tf").write_text(_CALLS)
    edited = edit_values(tmp_path, [Wanted(address=a, attribute=name, value=value) for a, name, value in wanted])
    assert (edited.left, list(edited.files)) == ((), [Path("main.tf")])
    return edited.files[Path("main.tf")].decode()


def test_what_all_of_one_call_want_is_merged_into_the_object_that_it_shares(tmp_path: Path) -> None:
    addresses = ["aws_sqs_queue.this", *(f'aws_cloudwatch_metric_alarm.this["{key}"]' for key in ("depth", "age"))]
    after = _called(tmp_path, *((f"module.mail.{each}", "tags.cost", "9") for each in addresses))
    merged = 'merge(local.context, { tags = merge(local.context.tags, { cost = "9" }) })'
    assert after == _CALLS.replace("  context = local.context\n", f"  context = {merged}\n")


def test_and_for_one_of_several_calls_with_a_condition(tmp_path: Path) -> None:
    after = _called(tmp_path, ('module.bulk["eu"].aws_sqs_queue.this', "tags.cost", "9"))
    entry = 'each.key == "eu" ? { tags = merge(local.context.tags, { cost = "9" }) } : {}'
    assert after == _CALLS.replace("{ id = each.key })", f"{{ id = each.key }}, {entry})")


def test_what_is_asked_for_null_gets_a_value_before_its_default_does(tmp_path: Path) -> None:
    after = _called(tmp_path, ('module.mail.aws_cloudwatch_metric_alarm.this["age"]', "evaluation_periods", 5))
    assert after == _CALLS.replace("{ threshold = 2 }", "{ threshold = 2, periods = 5 }")


def test_a_list_of_references_may_lose_all_of_them(tmp_path: Path) -> None:
    alarms = [f'module.mail.aws_cloudwatch_metric_alarm.this["{key}"]' for key in ("depth", "age")]
    after = _called(tmp_path, *((each, "alarm_actions", []) for each in alarms))
    assert after == _CALLS.replace("[local.topic]", "[]")


_SHARED = """variable "statements" {
  type = list(object({ actions = list(string) }))
}

data "aws_iam_policy_document" "this" {
  dynamic "statement" {
    for_each = var.statements

    content {
      actions   = statement.value.actions
      resources = ["*"]
    }
  }
}

resource "aws_iam_policy" "this" {
  policy = data.aws_iam_policy_document.this.json
}
"""
_SHARING = """module "reader" {
  source   = "./policy"
  for_each = toset(["eu", "us"])

  statements = [
    { actions = ["s3:GetObject"] },
  ]
}
"""


@pytest.mark.parametrize(
    ("statements", "before", "after"),
    [
        (
            [["s3:GetObject", "s3:ListBucket"]],
            '["s3:GetObject"]',
            'each.key == "eu" ? ["s3:GetObject", "s3:ListBucket"] : ["s3:GetObject"]',
        ),
        (
            [["s3:GetObject"], ["s3:PutObject"]],
            '[\n    { actions = ["s3:GetObject"] },\n  ]',
            'concat([\n    { actions = ["s3:GetObject"] },\n  ], each.key == "eu" ? [{ actions = ["s3:PutObject"] }] : [])',
        ),
    ],
)
def test_one_call_gets_its_own_part_of_what_the_argument_writes(
    statements: list[Json], before: str, after: str, tmp_path: Path
) -> None:
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy/main.tf").write_text(_SHARED)
    (tmp_path / "main.tf").write_text(_SHARING)
    rows: Json = [{"Effect": "Allow", "Action": actions, "Resource": "*"} for actions in statements]
    value = json.dumps({"Version": "2012-10-17", "Statement": rows})
    wanted = Wanted(address='module.reader["eu"].aws_iam_policy.this', attribute="policy", value=value)
    edited = edit_values(tmp_path, [wanted])
    assert edited.left == ()
    assert edited.files[Path("main.tf")].decode() == _SHARING.replace(before, after)


_ONE_OF_TWO = """resource "r" "a" {
  for_each = toset(["a", "b"])

  description = <<-EOT
    The ${each.key}.
  EOT

  dynamic "door" {
    for_each = each.key == "" ? [] : [each.key]

    content {
      name = door.value
    }
  }
}
"""


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        ("description", "Mine.", "description = ", 'description = each.key == "a" ? "Mine." : '),
        ("door", [], 'for_each = each.key == ""', 'for_each = each.key == "a" ? [] : each.key == ""'),
    ],
)
def test_what_holds_the_key_is_said_otherwise_of_one(
    path: str, value: Json, before: str, after: str, tmp_path: Path
) -> None:
    wanted = Wanted(address='r.a["a"]', attribute=path, value=value)
    result = edit_values(tmp_path, [wanted], {Path("main.tf"): _ONE_OF_TWO.encode()})
    assert result.left == ()
    assert result.files[Path("main.tf")].decode() == _ONE_OF_TWO.replace(before, after)


_OUTPUTS = """output "days" {
  value = { api = 30, worker = 60 }
}

output "hidden" {
  value = 30
}
"""
_USING = """module "org" {
  source = "../vendor/org"
}

locals {
  days = module.org.days
}

resource "aws_cloudwatch_log_group" "this" {
  for_each = toset(["api", "worker"])

  retention_in_days = lookup(local.days, each.key, 14)
}

resource "aws_sqs_queue" "one" {
  visibility_timeout_seconds = module.org.hidden
}

resource "aws_sqs_queue" "all" {
  for_each = toset(["a", "b"])

  visibility_timeout_seconds = module.org.hidden
}
"""


@pytest.mark.parametrize(
    ("addresses", "attribute", "before", "after"),
    [
        (
            ['aws_cloudwatch_log_group.this["api"]'],
            "retention_in_days",
            "days = module.org.days",
            "days = merge(module.org.days, { api = 90 })",
        ),
        (
            ["aws_sqs_queue.one"],
            "visibility_timeout_seconds",
            'one" {\n  visibility_timeout_seconds = module.org.hidden',
            "",
        ),
        (
            ['aws_sqs_queue.all["a"]', 'aws_sqs_queue.all["b"]'],
            "visibility_timeout_seconds",
            "])\n\n  visibility_timeout_seconds = module.org.hidden",
            "",
        ),
    ],
)
def test_what_comes_from_somebody_else_is_replaced_where_it_is_used(
    addresses: list[str], attribute: str, before: str, after: str, tmp_path: Path
) -> None:
    for folder in ("vendor/org", "stack"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "vendor/org/main.tf").write_text(_OUTPUTS)
    (tmp_path / "stack/main.tf").write_text(_USING)
    stack = tmp_path / "stack"
    wanted = [Wanted(address=each, attribute=attribute, value=90) for each in addresses]
    edited = edit_values(stack, wanted, around=surroundings(stack, tmp_path))
    assert edited.left == ()
    wished = after or before.replace("module.org.hidden", "90")
    assert edited.files[Path("main.tf")].decode() == _USING.replace(before, wished)
