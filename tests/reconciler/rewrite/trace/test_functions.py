"""Which argument of a function holds the value, and where it stands in the file of `templatefile`."""

import json
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import load_module
from reconciler.model import Edited, Wanted
from reconciler.rewrite.surroundings import surroundings
from reconciler.rewrite.trace.attribute import trace_attribute
from reconciler.rewrite.trace.sites import EntrySite, ListSite, LiteralSite, NoSite, TracedSite
from reconciler.rewrite.value_edits import edit_values

CODE = """
variable "m" {{
  default = {{ k = 1 }}
}}
resource "r" "a" {{
  x = {expression}
}}
"""


@pytest.mark.parametrize(
    ("expression", "path", "kinds"),
    [
        ("tolist([1])", "x", [ListSite]),
        ("tostring(5)", "x", [LiteralSite]),
        ("merge({ a = 1 }, { a = 2 })", "x.a", [LiteralSite]),
        ("merge({ a = 1 }, { b = 2 })", "x.a", [LiteralSite, EntrySite]),
        ("merge({ a = 1 }, { b = 2 })", "x.c", [EntrySite, EntrySite]),
        ("merge(var.m, local.none, { b = 2 })", "x.k", [NoSite, EntrySite]),
        ("merge(var.m)", "x.new", [EntrySite]),
        ('lookup(var.m, "k", 5)', "x", [LiteralSite]),
        ('lookup(var.m, "z", 5)', "x", [EntrySite, LiteralSite]),
        ("try(var.m.z, 5)", "x", [EntrySite, LiteralSite]),
        ("coalesce(null, 5, 6)", "x", [LiteralSite]),
        ("try(aws_vpc.x.id, 5)", "x", [NoSite]),
        ("upper(var.m.k)", "x", [LiteralSite]),
        ("merge([{ a = 1 }]...)", "x.a", [LiteralSite]),
        ("var.m.k * 2", "x", [LiteralSite, LiteralSite]),
        ("2 * var.m.k", "x", [LiteralSite, LiteralSite]),
        ("var.m.k * var.m.k", "x", [LiteralSite, LiteralSite, LiteralSite]),
        ("var.m.k * aws_vpc.x.n", "x", [NoSite, NoSite]),
        ("2 * 3", "x", [LiteralSite]),
        ("var.m.k % 2", "x", [NoSite]),
        ("var.m.k > 2", "x", [LiteralSite]),
        ("var.m.k > aws_vpc.x.n", "x", [NoSite]),
    ],
)
def test_the_places_in_their_order(expression: str, path: str, kinds: list[type[TracedSite]], tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE.format(expression=expression).encode()})
    assert [type(site) for site in trace_attribute(module, "r.a", AttributePath(path))] == kinds


CODE_OF_TRACE_TEMPLATES = """variable "readers" {
  default = ["ann", "bob"]
}

resource "r" "a" {
  policy = templatefile("${path.module}/templates/reports.json.tftpl", { account = "123", readers = var.readers })
}
"""
TEMPLATE = """{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "Reports",
      "Effect": "Allow",
      "Action": ["s3:GetObject"],
      "Resource": ${jsonencode([for reader in readers : "arn:aws:s3:::r-${account}/${reader}/*"])}
    }
  ]
}
"""
FILE = Path("templates/reports.json.tftpl")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    _write(tmp_path, "main.tf", CODE_OF_TRACE_TEMPLATES)
    _write(tmp_path, FILE.as_posix(), TEMPLATE)
    return tmp_path


def _write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def _policy(actions: list[str], readers: list[str]) -> str:
    resources: Json = [f"arn:aws:s3:::r-123/{reader}/*" for reader in readers]
    statement: Json = {"Sid": "Reports", "Effect": "Allow", "Action": [*actions], "Resource": resources}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _edited(root: Path, value: str, top: Path | None = None, address: str = "r.a") -> Edited:
    around = surroundings(root, top or root)
    return edit_values(root, [Wanted(address=address, attribute="policy", value=value)], around=around)


@pytest.mark.parametrize("ending", ["", "\n"])
def test_what_stands_in_the_template_is_edited_there(ending: str, root: Path) -> None:
    (root / FILE).write_text(TEMPLATE.rstrip("\n") + ending)
    result = _edited(root, _policy(["s3:GetObject", "s3:GetObjectVersion"], ["ann", "bob"]))
    after = TEMPLATE.rstrip("\n").replace('["s3:GetObject"]', '["s3:GetObject", "s3:GetObjectVersion"]') + ending
    assert result.files == {FILE: after.encode()}
    (made,) = result.edits
    assert made.new == b', "s3:GetObjectVersion"'
    assert made.chain[-1] == f"{FILE}:1 Statement.0.Action of the JSON document"


def test_what_a_variable_gives_is_edited_where_it_is_given(root: Path) -> None:
    more = _edited(root, _policy(["s3:GetObject"], ["ann", "bob", "cy"]))
    assert more.files == {Path("main.tf"): CODE_OF_TRACE_TEMPLATES.replace('"bob"]', '"bob", "cy"]').encode()}
    less = _edited(root, _policy(["s3:GetObject"], ["ann"]))
    assert less.files == {Path("main.tf"): CODE_OF_TRACE_TEMPLATES.replace(', "bob"', "").encode()}


def test_a_template_of_two_resources_stays_and_so_does_one_that_other_modules_name(root: Path) -> None:
    wanted = _policy(["s3:PutObject"], ["ann", "bob"])
    _write(
        root,
        "more.tf",
        CODE_OF_TRACE_TEMPLATES[CODE_OF_TRACE_TEMPLATES.index("resource") :]
        .replace('"a"', '"b"')
        .replace('"123"', "aws_x.y.id"),
    )
    (left,) = _edited(root, wanted).left
    assert "would also change r.b.policy" in left.reason
    _write(root, "more.tf", f'locals {{\n  hash = filemd5("{FILE}")\n}}\n\nresource "r" "c" {{\n  x = local.hash\n}}\n')
    (left,) = _edited(root, wanted).left
    assert "would also change r.c.x" in left.reason
    (root / "more.tf").unlink()
    _write(root, "other/main.tf", 'locals {\n  x = file("../templates/reports.json.tftpl")\n}\n')
    (left,) = _edited(root, wanted).left
    assert "is named in main.tf of another module too" in left.reason


def test_a_template_of_a_module_is_edited_only_if_other_roots_keep_their_values(tmp_path: Path) -> None:
    _write(tmp_path, "modules/m/main.tf", CODE_OF_TRACE_TEMPLATES)
    _write(tmp_path, f"modules/m/{FILE}", TEMPLATE)
    _write(tmp_path, "env/test/main.tf", 'module "m" {\n  source = "../../modules/m"\n}\n')
    wanted = _policy(["s3:PutObject"], ["ann", "bob"])
    test = tmp_path / "env/test"
    alone = _edited(test, wanted, tmp_path, "module.m.r.a")
    assert list(alone.files) == [Path("../../modules/m") / FILE]
    _write(tmp_path, "env/live/main.tf", 'module "m" {\n  source = "../../modules/m"\n}\n')
    (left,) = _edited(test, wanted, tmp_path, "module.m.r.a").left
    assert "would also change env/live: module.m.r.a, another root" in left.reason


def test_a_template_that_is_not_read_is_left(root: Path) -> None:
    wanted = _policy(["s3:PutObject"], ["ann", "bob"])
    (root / "elsewhere.json").write_text(TEMPLATE)
    (root / FILE).unlink()
    (root / FILE).symlink_to(root / "elsewhere.json")
    (left,) = _edited(root, wanted).left
    assert "no template in the module's own directory" in left.reason


_SETTINGS = """locals {
  queues = yamldecode(templatefile("${path.module}/queues.yaml.tftpl", { wait = var.wait }))
}
variable "wait" {
  default = 5

  validation {
    condition     = var.wait <= 10
    error_message = "Nobody waits for longer."
  }
}
resource "r" "a" {
  for_each = local.queues

  wait  = try(each.value.wait, 0)
  delay = try(each.value.delay, 0)
}
"""
_QUEUES = "orders:\n  wait: ${wait}\n  delay: 1\nmail: {}\n"


@pytest.mark.parametrize(
    ("wanted", "file", "old", "new"),
    [
        (("orders", "wait", 9), "main.tf", "default = 5", "default = 9"),
        (("orders", "delay", 3), "queues.yaml.tftpl", "delay: 1", "delay: 3"),
        (("mail", "delay", 3), "queues.yaml.tftpl", "mail: {}", "mail: {delay: 3}"),
    ],
)
def test_a_value_in_a_template_of_yaml(
    wanted: tuple[str, str, Json], file: str, old: str, new: str, tmp_path: Path
) -> None:
    key, attribute, value = wanted
    texts = {"main.tf": _SETTINGS, "queues.yaml.tftpl": _QUEUES}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    edited = edit_values(tmp_path, [Wanted(address=f'r.a["{key}"]', attribute=attribute, value=value)])
    assert {str(path): text.decode() for path, text in edited.files.items()} == {file: texts[file].replace(old, new)}


def test_a_value_that_the_variable_of_a_template_refuses_is_not_written_into_the_template(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_SETTINGS)
    (tmp_path / "queues.yaml.tftpl").write_text(_QUEUES)
    edited = edit_values(tmp_path, [Wanted(address='r.a["orders"]', attribute="wait", value=20)])
    assert edited.files == {}
    assert "Nobody waits for longer." in edited.left[0].reason
    assert "The nearest value that passes is 10." in edited.left[0].reason


_SUBNETS = """locals {
  networks = { edge = { public = true }, inner = {} }
  subnets = merge([for network, given in local.networks : { for zone in ["a", "b"] : "${network}-${zone}" => {
    public = lookup(given, "public", false)
  } }]...)
}
resource "r" "a" {
  for_each = local.subnets

  public = each.value.public
}
"""


def _subnets(tmp_path: Path, *keys: str) -> str:
    (tmp_path / "main.tf").write_text(_SUBNETS)
    wanted = [Wanted(address=f'r.a["{key}"]', attribute="public", value=False) for key in keys]
    edited = edit_values(tmp_path, wanted)
    assert edited.left == ()
    return edited.files[Path("main.tf")].decode()


def test_a_map_of_an_expanded_list_gives_all_their_value_together_or_one_of_them_its_own(tmp_path: Path) -> None:
    assert _subnets(tmp_path, "edge-a", "edge-b") == _SUBNETS.replace("public = true", "public = false")
    assert 'zone == "b" ? false : lookup' in _subnets(tmp_path, "edge-b")


def test_a_second_instance_gets_its_own_value_beside_that_of_a_first(tmp_path: Path) -> None:
    code = 'variable "p" {\n  default = true\n}\nresource "r" "a" {\n  for_each = toset(["x", "y", "z"])\n\n  public = var.p\n}\n'
    (tmp_path / "main.tf").write_text(code)
    wanted = [Wanted(address=f'r.a["{key}"]', attribute="public", value=False) for key in ("x", "y")]
    edited = edit_values(tmp_path, wanted)
    assert edited.left == ()
    assert 'each.key == "y" ? false : each.key == "x" ? false : var.p' in edited.files[Path("main.tf")].decode()
