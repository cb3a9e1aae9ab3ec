"""What decides how many instances there are is found through variables, locals and the calls of modules."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import load_module
from reconciler.changes.event_creations import Created
from reconciler.model import Wanted
from reconciler.rewrite.edited_code import read_code
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.gone_instances import remove_instance
from reconciler.rewrite.instance_sources import instance_sources
from reconciler.rewrite.new_instances import add_instance
from reconciler.rewrite.siblings import NewInstance, siblings_of


def test_it_is_found_where_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "main.tf").write_text(
        'module "m" {\n  source   = "./m"\n  for_each = local.all\n  names    = each.value\n}\n'
    )
    (tmp_path / "locals.tf").write_text('locals {\n  all = { x = ["one"] }\n}\n')
    (tmp_path / "m/main.tf").write_text(
        'variable "names" {}\n\nresource "a_b" "c" {\n  for_each = toset(var.names)\n}\n'
    )
    (child,) = load_module(tmp_path).children("m").values()
    found = instance_sources(child, *child.source.resources["a_b.c"])
    assert {(str(document.path), type(node).__name__) for document, node in found} >= {
        ("locals.tf", "Object"),
        ("locals.tf", "Tuple"),
    }


def test_a_cycle_ends(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'locals {\n  a = local.b\n  b = local.a\n}\n\nresource "a_b" "c" {\n  for_each = local.a\n}\n'
    )
    module = load_module(tmp_path)
    assert instance_sources(module, *module.source.resources["a_b.c"]) == []


_BLOCK = 'resource "a_b" "c" {\n  for_each = %s\n\n  name = each.key\n}\n'


def _with(tmp_path: Path, collection: str, rest: str = "") -> str:
    (tmp_path / "main.tf").write_text(_BLOCK % collection + rest)
    like = NewInstance(sibling='a_b.c["x"]', key="x", old="x", new="z")
    wanted = Wanted(address='a_b.c["z"]', attribute="*", value={})
    return add_instance(read_code(tmp_path, {}), like, wanted).sources[Path("main.tf")].decode()


@pytest.mark.parametrize(
    ("collection", "after"),
    [
        ("{ x = 1, y = 2 }", "{ x = 1, y = 2, z = 1 }"),
        ('{\n    "x" = 1\n    "y" = 2 # two\n  }', '{\n    "x" = 1\n    "y" = 2 # two\n    "z" = 1\n  }'),
        ('toset(["x", "y"])', 'toset(["x", "y", "z"])'),
        ('{ for t in [{ n = "x" }] : t.n => t }', '{ for t in [{ n = "x" }, { n = "z" }] : t.n => t }'),
    ],
)
def test_the_entry_is_added_beside_the_siblings(tmp_path: Path, collection: str, after: str) -> None:
    assert _with(tmp_path, collection) == _BLOCK % after


def test_an_entry_that_others_use_is_refused(tmp_path: Path) -> None:
    rest = '\nlocals {\n  all = { x = 1 }\n}\n\nresource "a_b" "d" {\n  for_each = local.all\n}\n'
    with pytest.raises(CannotEdit, match=r"No single entry like that of a_b\.c"):
        _with(tmp_path, "local.all", rest)


def test_a_second_list_that_is_too_short_is_refused(tmp_path: Path) -> None:
    text = 'locals {\n  names  = ["a", "b"]\n  titles = ["A", "B"]\n}\n\nresource "a_b" "c" {\n  count = length(local.names)\n\n  name  = local.names[count.index]\n  title = local.titles[count.index]\n}\n'
    like = NewInstance(sibling="a_b.c[1]", key=1, old="b", new="c")
    (tmp_path / "main.tf").write_text(text)
    with pytest.raises(CannotEdit):
        add_instance(read_code(tmp_path, {}), like, Wanted(address="a_b.c[2]", attribute="*", value={}))
    (tmp_path / "main.tf").write_text(text.replace("  title = local.titles[count.index]\n", ""))
    after = add_instance(read_code(tmp_path, {}), like, Wanted(address="a_b.c[2]", attribute="*", value={}))
    assert 'names  = ["a", "b", "c"]' in after.sources[Path("main.tf")].decode()


def _addresses(created: Created, **live: str) -> list[str]:
    found = {address.replace("__", "."): {"name": name, "id": name} for address, name in live.items()}
    return [address for address, _ in siblings_of(created, found)]


def _log(name: str) -> Created:
    return Created(resource_type="aws_log", import_id=name, attributes={"name": name}, name=name)


def test_the_sibling_with_the_most_like_name_comes_first() -> None:
    live = {
        'aws_log.all["/a/b"]': "/a/b",
        'aws_log.team["red"]': "/team/red",
        'module.x["red"].aws_log.this[0]': "/team/red-x",
    }
    found = [
        address
        for address, _ in siblings_of(_log("/team/blue"), {address: {"name": name} for address, name in live.items()})
    ]
    assert found == ['aws_log.team["blue"]', 'aws_log.all["/team/blue"]']
    found = [
        address
        for address, _ in siblings_of(_log("/team/blue-x"), {address: {"name": name} for address, name in live.items()})
    ]
    assert 'module.x["blue"].aws_log.this[0]' in found[:2]


def test_an_index_more_is_the_next() -> None:
    live = {f"aws_log.all[{number}]": {"name": f"log-{name}"} for number, name in enumerate(("a", "b"))}
    (address, like), *_ = siblings_of(_log("log-c"), live)
    assert (address, like.old, like.new) == ("aws_log.all[2]", "a", "c")


def test_what_belongs_to_another_and_is_named_by_a_key_gets_the_same_part_of_its_name_as_key() -> None:
    made = {"name": "blog.example.org", "zone": "Z1", "records": ["192.0.2.2"]}
    record = Created(resource_type="aws_r", import_id="r", attributes=made, name="blog.example.org", parent="Z1")
    live = {'aws_r.host["www"]': {"name": "www.example.org", "zone": "Z1", "records": ["192.0.2.1"], "id": "Z1_www"}}
    (first, like), (second, _) = siblings_of(record, live)
    assert (first, second) == ('aws_r.host["blog"]', 'aws_r.host["blog_example_org"]')
    assert ("192.0.2.1", "192.0.2.2") in like.values, "items of a list are values too"


def test_what_belongs_to_another_is_called_after_itself() -> None:
    rule = Created(resource_type="aws_rule", import_id="r", attributes={}, name="8080", parent="sg-1")
    live = {
        'aws_rule.peer["ssh"]': {"group": "sg-1", "id": "sgr"},
        'aws_rule.other["ssh"]': {"group": "sg-2", "id": "sgr"},
    }
    assert [address for address, _ in siblings_of(rule, live)] == ['aws_rule.peer["port_8080"]']
    assert _addresses(rule, aws_rule__x="sg-2") == []


def _without(tmp_path: Path, collection: str, key: str, *, rest: str = "", gone: tuple[str, ...] = ()) -> str:
    (tmp_path / "main.tf").write_text(_BLOCK % collection + rest)
    code = read_code(tmp_path, {})
    address = f'a_b.c["{key}"]'
    wanted = Wanted(address=address, attribute="*", value=None)
    own = frozenset({address})
    block = code.module.source.resources["a_b.c"]
    after = remove_instance(code, code.module, block, key, own=own, gone=own | set(gone), wanted=wanted)
    return after.sources[Path("main.tf")].decode()


@pytest.mark.parametrize(
    ("collection", "after"),
    [
        ("{ x = 1, y = 2 }", "{ y = 2 }"),
        ('toset(["x", "y"])', 'toset(["y"])'),
        ('{ for n in ["x", "y"] : n => n }', '{ for n in ["y"] : n => n }'),
        ('zipmap(["x", "y"], [1, 2])', 'zipmap(["y"], [2])'),
        ("merge({ x = 1 }, { y = 2 })", "merge({}, { y = 2 })"),
    ],
)
def test_the_entry_goes_where_it_is_written(tmp_path: Path, collection: str, after: str) -> None:
    assert _without(tmp_path, collection, "x") == _BLOCK % after


def test_an_entry_that_something_else_uses_stays(tmp_path: Path) -> None:
    other = '\nlocals {\n  all = { x = 1, y = 2 }\n}\n\nresource "a_b" "d" {\n  for_each = local.all\n\n  name = each.key\n}\n'
    after = _without(tmp_path, "local.all", "x", rest=other)
    assert after == _BLOCK % '{ for key, value in local.all : key => value if key != "x" }' + other
    after = _without(tmp_path, "local.all", "x", rest=other, gone=('a_b.d["x"]',))
    assert "all = { y = 2 }" in after


@pytest.mark.parametrize(
    ("entry", "after"),
    [
        ("9090", "7070"),
        ('{ port = 9090, cidr = "10.0.0.0/8" }', '{ port = 7070, cidr = "10.1.0.0/16" }'),
        ('{ port = 19090, note = "9090" }', '{ port = 19090, note = "9090" }'),
    ],
)
def test_what_tells_the_new_one_from_its_sibling_is_written_at_once(tmp_path: Path, entry: str, after: str) -> None:
    (tmp_path / "main.tf").write_text(_BLOCK % f"{{ x = {entry} }}")
    values = ((9090, 7070), ("10.0.0.0/8", "10.1.0.0/16"))
    like = NewInstance(sibling='a_b.c["x"]', key="x", old="x", new="z", values=values)
    wanted = Wanted(address='a_b.c["z"]', attribute="*", value={})
    code = add_instance(read_code(tmp_path, {}), like, wanted).sources[Path("main.tf")].decode()
    assert code == _BLOCK % f"{{ x = {entry}, z = {after} }}"
