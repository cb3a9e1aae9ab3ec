"""The tree of modules: variables, locals, outputs, keys and instances."""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import (
    Module,
    ResourceInstance,
    attributes,
    declared,
    expand,
    informed,
    lifecycle_arguments,
    load_module,
)
from gateway.terraform.lang.evaluate import EvaluationScope, Unknown, evaluate
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import Opaque
from gateway.terraform.lang.values import Unknown as values_Unknown

QUEUE = """
variable "name" {
  type = string
}

variable "size" {
  default = 5
}

resource "aws_sqs_queue" "this" {
  count = var.size > 3 ? 2 : 1
  name  = "${var.name}-${count.index}"
  size  = var.size
}

output "size" {
  value = var.size
}

output "arn" {
  value = aws_sqs_queue.this[0].arn
}
"""


def _load(root: Path, main: str, **more: str) -> Module:
    files: Mapping[str, str] = {
        "main.tf": main,
        "q/main.tf": QUEUE,
        **{k.replace("__", "."): v for k, v in more.items()},
    }
    return load_module(root, {Path(name): text.encode() for name, text in files.items()})


MAIN = """
locals {
  queues = { "a.b" = { size = 9 }, c = {} }
}

module "one" {
  source = "./q"
  name   = "one"
  size   = 1
}

module "each" {
  source   = "./q"
  for_each = local.queues
  name     = each.key
  size     = lookup(each.value, "size", 3)
}

module "two" {
  source = "./q"
  count  = 2
  name   = "n${count.index}"
}

module "unknown" {
  source   = "./q"
  for_each = aws_vpc.x.ids
  name     = "x"
}

module "remote" {
  source = "terraform-aws-modules/vpc/aws"
}

resource "aws_vpc" "x" {
  for_each = toset(["b", "a"])
  name     = each.value
  one      = module.one.size
  each     = module.each["a.b"].size
  two      = module.two[1].size
  sizes    = [for key, made in module.each : made.size]
  arn      = module.one.arn
  remote   = module.remote.id
}

resource "aws_vpc" "never" {
  count = 0
}

resource "aws_vpc" "hidden" {
  count = aws_vpc.x["a"].number
}
"""


def test_every_instance_whose_key_is_known_is_found(tmp_path: Path) -> None:
    addresses = [instance.address for instance in _load(tmp_path, MAIN).instances()]
    assert addresses == [
        'aws_vpc.x["a"]',
        'aws_vpc.x["b"]',
        "module.one.aws_sqs_queue.this[0]",
        'module.each["a.b"].aws_sqs_queue.this[0]',
        'module.each["a.b"].aws_sqs_queue.this[1]',
        'module.each["c"].aws_sqs_queue.this[0]',
        "module.two[0].aws_sqs_queue.this[0]",
        "module.two[0].aws_sqs_queue.this[1]",
        "module.two[1].aws_sqs_queue.this[0]",
        "module.two[1].aws_sqs_queue.this[1]",
    ]


def test_values_flow_through_arguments_and_outputs(tmp_path: Path) -> None:
    found = {instance.address: attributes(instance) for instance in _load(tmp_path, MAIN).instances()}
    assert found['aws_vpc.x["a"]'] == {"name": "a", "one": 1, "each": 9, "two": 5, "sizes": [9, 3]}
    assert found['module.each["a.b"].aws_sqs_queue.this[1]'] == {"name": "a.b-1", "size": 9}
    assert found["module.two[1].aws_sqs_queue.this[0]"] == {"name": "n1-0", "size": 5}


@pytest.mark.parametrize(
    ("expression", "value"),
    [("var.a", 3), ("var.b", 2), ("var.c", 1), ("local.x", 6), ("var.d", {"k": 1})],
)
def test_the_value_that_wins(expression: str, value: Json, tmp_path: Path) -> None:
    main = "".join(f'variable "{name}" {{\n  default = 1\n}}\n' for name in "abcd") + "locals {\n  x = var.a * 2\n}\n"
    given = {
        "terraform__tfvars": "a = 2\nb = 2\n",
        "z__auto__tfvars": "a = 3\n",
        "y__auto__tfvars__json": '{"d": {"k": 1}}',
    }
    assert evaluate(parse_expression(expression), EvaluationScope(module=_load(tmp_path, main, **given))) == value


@pytest.mark.parametrize(
    ("main", "expression", "reason"),
    [
        ('variable "a" {}\n', "var.a", "TF_VAR_a"),
        ("locals {\n  a = local.b\n  b = local.a\n}\n", "local.a", "refers to itself"),
        ("locals {\n  a = aws_vpc.x.id\n}\n", "local.a", "aws_vpc"),
        ("", "var.none", "no variable none"),
        ('module "m" {\n  source = "x/y/z"\n}\n', "module.m.id", "not part of this code"),
    ],
)
def test_what_the_code_does_not_say_is_unknown(main: str, expression: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(Unknown, match=reason):
        evaluate(parse_expression(expression), EvaluationScope(module=_load(tmp_path, main)))


OVERRIDDEN = """
resource "a" "b" {
  x = 1
  y = 2

  rule {
    port = 1
  }

  dynamic "rule" {
    for_each = [2, 3]

    content {
      port = rule.value
    }
  }

  lifecycle {
    ignore_changes = [x]
  }
}

variable "v" {
  type    = string
  default = 1
}

locals {
  l = 1
  m = 2
}

output "o" {
  value = 1
}
"""
OVERRIDE = """
resource "a" "b" {
  x = local.l
  z = 4

  rule {
    port = 7
  }

  lifecycle {
    prevent_destroy = true
  }
}

variable "v" {
  default = 9
}

locals {
  l = 9
}

output "o" {
  value = 2
}
"""


def test_an_override_file_has_the_last_word(tmp_path: Path) -> None:
    second = 'resource "a" "b" {\n  z = 5\n}\nvariable "v" {\n  type = number\n}\n'
    module = _load(tmp_path, OVERRIDDEN, override__tf=OVERRIDE, z_override__tf=second)
    (instance,) = module.instances()
    assert attributes(instance) == {"x": 9, "y": 2, "z": 5, "rule": [{"port": 7}]}
    assert declared(instance, "rule.0.port") == 7
    assert instance.names == {"x", "y", "z", "rule", "lifecycle"}
    assert [document.at(node) for document, node in lifecycle_arguments(instance, "ignore_changes")] == ["main.tf:19"]
    scope = EvaluationScope(module=module)
    assert [evaluate(parse_expression(each), scope) for each in ("var.v", "local.l", "local.m")] == [9, 9, 2]
    with pytest.raises(Unknown, match="override"):
        module._output("o", frozenset())


@pytest.mark.terraform
def test_terraform_merges_override_files_so(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'variable "v" {\n  type = string\n  default = 1\n}\nlocals {\n  l = 1\n  m = 2\n}\n'
    )
    (tmp_path / "a_override.tf").write_text('variable "v" {\n  default = 9\n}\nlocals {\n  l = 9\n}\n')
    (tmp_path / "override.tf").write_text('variable "v" {\n  type = number\n}\nlocals {\n  l = var.v + 1\n}\n')
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    console = subprocess.run(
        ["terraform", "console"], input="[var.v, local.l, local.m]\n", cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    scope = EvaluationScope(module=load_module(tmp_path))
    ours = [evaluate(parse_expression(each), scope) for each in ("var.v", "local.l", "local.m")]
    assert json.loads(re.sub(r",\s*\]", "]", console.stdout)) == ours


def test_a_key_with_quotes_is_escaped_in_the_address(tmp_path: Path) -> None:
    module = _load(tmp_path, 'resource "a" "b" {\n  for_each = { "x\\"$${y}" = 1 }\n}\n')
    assert module.instances()[0].address == 'a.b["x\\"$${y}"]'


def test_a_list_as_for_each_makes_no_instances(tmp_path: Path) -> None:
    assert _load(tmp_path, 'resource "a" "b" {\n  for_each = ["x"]\n}\n').instances() == ()


def test_an_instance_is_found_by_its_address(tmp_path: Path) -> None:
    module = _load(tmp_path, MAIN)
    for instance in module.instances():
        assert module.instance(instance.address) is instance
    for absent in ("aws_sqs_queue.absent", 'module.absent["a"].aws_sqs_queue.this', "nonsense", ""):
        assert module.instance(absent) is None


def test_an_output_without_a_value_is_unknown(tmp_path: Path) -> None:
    module = _load(tmp_path, 'output "o" {\n  description = "nothing"\n}\n')
    assert isinstance(module.own_outputs()["o"], Opaque)


KEYS = {
    "for": 'for_each = { for k, v in { a = 1, b = 2 } : "${k}-q" => v if v > 1 }',
    "merge": "for_each = merge({ a = { n = 1 } }, { b = { n = aws_x.y.id } })",
    "toset of for": "for_each = toset([for each in var.objects : each.name if each.on])",
    "zipmap and range": 'for_each = zipmap(formatlist("q-%d", range(2)), range(2))',
    "range": 'for_each = { for i in range(2) : "n${i}" => i }',
    "conditional map": 'for_each = var.on ? { a = { n = 1, s = "x", id = aws_x.y.id } } : {}',
    "conditional set": 'for_each = var.on ? toset(["a"]) : []',
    "maps of maps": 'for_each = merge([for r, names in { eu = ["a", "b"] } : { for n in names : "${r}/${n}" => r }]...)',
    "flattened": 'for_each = { for i in flatten([for n in ["a"] : [{ name = n, vpc = aws_x.y.id }]]) : i.name => i }',
    "setproduct": 'for_each = { for p in setproduct(["a", "b"], ["x"]) : "${p[0]}-${p[1]}" => p }',
    "a module's map": "for_each = module.m.table",
    "keys of a module's map": "for_each = toset(keys(module.m.table))",
    "yamldecode": 'for_each = yamldecode("a: 1\\nb: 2\\n")',
    "another resource": "for_each = r.keyed",
    "keys of another resource": "for_each = toset(keys(r.keyed))",
    "count of another resource": "count = length(r.counted)",
    "try of an index that is not there": "count = try(r.counted[7].id, null) == null ? 1 : 2",
    "splat": "count = length(r.counted[*].id)",
    "optional attributes": "for_each = { for k, v in var.typed : k => v if v.size > 2 }",
    "can": "for_each = { for k, v in { a = { size = 1 }, b = {} } : k => v if can(v.size) }",
}
EXPECTED: dict[str, list[str] | list[int]] = {
    "for": ["b-q"],
    "merge": ["a", "b"],
    "toset of for": ["b"],
    "zipmap and range": ["q-0", "q-1"],
    "range": ["n0", "n1"],
    "maps of maps": ["eu/a", "eu/b"],
    "setproduct": ["a-x", "b-x"],
    "a module's map": ["a", "b"],
    "keys of a module's map": ["a", "b"],
    "yamldecode": ["a", "b"],
    "another resource": ["k"],
    "keys of another resource": ["k"],
    "count of another resource": [0, 1],
    "try of an index that is not there": [0],
    "splat": [0, 1],
}
AROUND = """
variable "on" {
  default = true
}
variable "objects" {
  type    = list(object({ name = string, on = bool }))
  default = [{ name = "b", on = true }, { name = "a", on = false }]
}
variable "typed" {
  type    = map(object({ size = optional(number, 3) }))
  default = { a = {} }
}
resource "r" "keyed" {
  for_each = toset(["k"])
}
resource "r" "counted" {
  count = 2
}
module "m" {
  source = "./m"
  names  = ["a", "b"]
}
"""
MODULE = """
variable "names" {
  type = list(string)
}
output "table" {
  value = { for n in var.names : n => { up = upper(n), id = aws_x.y.id } }
}
"""


@pytest.mark.parametrize("kind", KEYS)
def test_keys_are_known_however_they_are_made(kind: str, tmp_path: Path) -> None:
    code = f'{AROUND}resource "r" "x" {{\n  {KEYS[kind]}\n}}\n'
    module = load_module(tmp_path, {Path("main.tf"): code.encode(), Path("m/main.tf"): MODULE.encode()})
    addresses = [instance.address for instance in module.instances_of("r.x")]
    assert addresses == [f"r.x[{json.dumps(key)}]" for key in EXPECTED.get(kind, ["a"])]


@pytest.mark.parametrize("expression", ["r.x", "r.absent", "data.r.x", "keys(r.unknown)"])
def test_keys_that_only_terraform_knows_stay_unknown(expression: str, tmp_path: Path) -> None:
    unknown = 'resource "r" "unknown" {\n  for_each = data.r.x.ids\n}\n'
    module = _load(tmp_path, f'{unknown}resource "r" "x" {{\n  for_each = {expression}\n}}\n')
    assert module.instances_of("r.x") == ()


def test_paths_are_relative_to_the_root(tmp_path: Path) -> None:
    code = 'locals {\n  m = "${path.module}|${path.root}"\n  c = path.cwd\n}\n'
    module = _load(tmp_path, code)
    assert module.local("m") == ".|."
    with pytest.raises(Unknown, match=r"path\.cwd"):
        module.local("c")


CODE = b"""
locals {
  rules = { b = 2, a = 1 }
}

resource "aws_security_group" "x" {
  count = 1
  name  = "x"
  vpc   = aws_vpc.v.id
  tags  = { owner = "me", "k8s.io/name" = "n", vpc = aws_vpc.v.id }

  ingress {
    from_port = 1
    groups    = [aws_vpc.v.id]
  }

  ingress {
    from_port = 2
  }

  dynamic "egress" {
    for_each = local.rules
    iterator = rule
    content {
      from_port = rule.value
      name      = rule.key
      deeper {
        name = rule.key
      }
    }
  }

  dynamic "unknown" {
    for_each = aws_vpc.v.ids
    content {}
  }

  single {
    status = "on"
  }

  lifecycle {
    ignore_changes = [name]
  }
}
"""


@pytest.fixture
def instance(tmp_path: Path) -> ResourceInstance:
    """The one instance of the code."""
    return load_module(tmp_path, {Path("main.tf"): CODE}).instances()[0]


def test_attributes_are_what_is_known(instance: ResourceInstance) -> None:
    assert attributes(instance) == {
        "name": "x",
        "ingress": [{"from_port": 1}, {"from_port": 2}],
        "egress": [
            {"from_port": 1, "name": "a", "deeper": [{"name": "a"}]},
            {"from_port": 2, "name": "b", "deeper": [{"name": "b"}]},
        ],
        "single": [{"status": "on"}],
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("name", "x"),
        ("tags.owner", "me"),
        ("tags.k8s.io/name", "n"),
        ("ingress.1.from_port", 2),
        ("egress.1.from_port", 2),
        ("egress.0.deeper.name", "a"),
        ("single.status", "on"),
        ("single.0.status", "on"),
        ("single", [{"status": "on"}]),
    ],
)
def test_a_declared_value_is_found_by_its_path(path: str, value: Json, instance: ResourceInstance) -> None:
    assert declared(instance, path) == value


@pytest.mark.parametrize(
    "path",
    [
        "vpc",
        "tags",
        "tags.vpc",
        "tags.none",
        "ingress",
        "ingress.from_port",
        "ingress.2.from_port",
        "absent",
        "unknown",
        "unknown.0.x",
        "name.x",
        "",
        "egress.0.deeper.9",
    ],
)
def test_what_is_not_certain_is_unknown(path: str, instance: ResourceInstance) -> None:
    with pytest.raises(Unknown):
        declared(instance, path)


CODE_OF_DATA_SOURCE = b"""data "aws_caller_identity" "me" {
}

data "aws_iam_policy_document" "each" {
  for_each = toset(["a", "b"])
  statement {
    sid = each.key
  }
}

data "aws_iam_policy_document" "two" {
  count = 2
}

locals {
  account = data.aws_caller_identity.me.account_id
  sid     = jsondecode(data.aws_iam_policy_document.each["b"].json).Statement[0].Sid
  number  = length(data.aws_iam_policy_document.two)
  arn     = aws_sqs_queue.q[0].arn
}

resource "aws_sqs_queue" "q" {
  count = 1
}
"""
LIVE = {"data.aws_caller_identity.me": {"account_id": "1"}, "aws_sqs_queue.q[0]": {"arn": "arn:q"}}


def test_policy_documents_are_known_from_the_code(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE_OF_DATA_SOURCE})
    assert module.local("sid") == "b"
    assert module.local("number") == 2


def test_others_are_known_only_if_they_are_live(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE_OF_DATA_SOURCE})
    with pytest.raises(values_Unknown):
        module.local("account")
    live = informed(module, LIVE)
    assert (live.local("account"), live.local("arn")) == ("1", "arn:q")
    assert informed(module, {}) is module


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ("", [None]),
        ("count = 2", [0, 1]),
        ('for_each = toset(["b", "a"])', ["a", "b"]),
        ("for_each = { x = 1 }", ["x"]),
    ],
)
def test_the_keys_of_a_block(body: str, keys: list[str | int | None], tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): f'resource "r" "a" {{\n  {body}\n}}\n'.encode()})
    assert [key for key, _ in expand(module, *module.source.resources["r.a"])] == keys


@pytest.mark.parametrize("body", ["for_each = [1]", "count = var.none", "count = 100000000", "count = 1e9"])
def test_keys_that_are_not_known(body: str, tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): f'resource "r" "a" {{\n  {body}\n}}\n'.encode()})
    with pytest.raises(values_Unknown):
        expand(module, *module.source.resources["r.a"])
