"""A value that the code reads from a file of JSON or YAML is edited there, and nothing else of the file changes."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Edited, Wanted
from reconciler.rewrite.value_edits import edit_values

CODE = """
locals {{
  config = {decode}(file("${{path.module}}/{name}"))
}}

resource "r" "a" {{
  for_each = local.config.queues
  delay    = each.value.delay
  owner    = local.config.owner
  readers  = try(each.value.readers, [])
  tags     = local.config.tags
}}
"""
YAML = """\
# who is asked
owner: team-a # not a person
tags:
  env: 'prod'
  about: "a b"
queues:
  fast: { delay: 1, readers: [ann, bob] }

  slow:
    delay: 5  # seconds
    readers:
      - ann # first
      - bob
"""
JSON = """\
{
  "owner": "team-a",
  "tags": { "env": "prod" },
  "queues": {
    "fast": { "delay": 1 },
    "slow": {
      "delay": 5,
      "readers": ["ann", "bob"]
    }
  }
}
"""
FAST, SLOW = 'r.a["fast"]', 'r.a["slow"]'


def edited(root: Path, name: str, text: str, *wanted: tuple[str, str, Json]) -> Edited:
    decode = "jsondecode" if name.endswith(".json") else "yamldecode"
    (root / "main.tf").write_text(CODE.format(decode=decode, name=name))
    (root / name).write_text(text)
    return edit_values(root, [Wanted(address=address, attribute=path, value=value) for address, path, value in wanted])


YAML_EDITS: list[tuple[tuple[str, str, Json], str, str]] = [
    ((SLOW, "delay", 7), "delay: 5  # seconds", "delay: 7  # seconds"),
    ((FAST, "delay", 2), "delay: 1,", "delay: 2,"),
    ((SLOW, "readers", ["ann", "eve"]), "      - bob\n", "      - eve\n"),
    ((SLOW, "readers", ["ann", "bob", "yes"]), "      - bob\n", '      - bob\n      - "yes"\n'),
    ((FAST, "readers", ["bob", "eve"]), "[ann, bob]", "[bob, eve]"),
]


@pytest.mark.parametrize(("wanted", "old", "new"), YAML_EDITS)
def test_a_value_of_one_instance_in_yaml(wanted: tuple[str, str, Json], old: str, new: str, tmp_path: Path) -> None:
    result = edited(tmp_path, "config.yaml", YAML, wanted)
    assert result.left == ()
    assert result.files == {Path("config.yaml"): YAML.replace(old, new).encode()}


SHARED: list[tuple[str, Json, str, str]] = [
    ("owner", "team-b", "owner: team-a #", "owner: team-b #"),
    ("owner", "true", "owner: team-a #", 'owner: "true" #'),
    ("owner", "a: b", "owner: team-a #", 'owner: "a: b" #'),
    ("tags.env", "it's", "'prod'", "'it''s'"),
    ("tags.about", 'c "d"', '"a b"', '"c \\"d\\""'),
    ("tags.new", "x y", '  about: "a b"\n', '  about: "a b"\n  new: x y\n'),
    ("tags.about", None, '  about: "a b"\n', ""),
]


@pytest.mark.parametrize(("path", "value", "old", "new"), SHARED)
def test_a_value_of_all_instances_in_yaml(path: str, value: Json, old: str, new: str, tmp_path: Path) -> None:
    result = edited(tmp_path, "config.yaml", YAML, (FAST, path, value), (SLOW, path, value))
    assert result.left == ()
    assert result.files == {Path("config.yaml"): YAML.replace(old, new).encode()}


JSON_EDITS: list[tuple[tuple[str, str, Json], str, str]] = [
    ((SLOW, "delay", 7), '"delay": 5', '"delay": 7'),
    ((SLOW, "readers", ["ann", "eve"]), '["ann", "bob"]', '["ann", "eve"]'),
]


@pytest.mark.parametrize(("wanted", "old", "new"), JSON_EDITS)
def test_a_value_of_one_instance_in_json(wanted: tuple[str, str, Json], old: str, new: str, tmp_path: Path) -> None:
    result = edited(tmp_path, "config.json", JSON, wanted)
    assert result.left == ()
    assert result.files == {Path("config.json"): JSON.replace(old, new).encode()}


def test_a_document_that_is_the_value_itself(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "r" "a" {\n  policy = file("${path.module}/policy.json")\n}\n')
    (tmp_path / "policy.json").write_text('{\n  "Version": "1",\n  "Days": 3\n}\n')
    wanted = Wanted(address="r.a", attribute="policy", value='{"Version": "1", "Days": 4}')
    result = edit_values(tmp_path, [wanted])
    assert result.left == ()
    assert result.files == {Path("policy.json"): b'{\n  "Version": "1",\n  "Days": 4\n}\n'}


BLOCK = "owner: |\n  team-a\n  team-b\nqueues:\n  slow: {delay: 1}\ntags: {}\n"
ANCHOR = "owner: x\ntags: {}\nqueues:\n  fast: &q {delay: 1}\n  slow: *q\n"


@pytest.mark.parametrize(
    ("text", "path", "value"), [(BLOCK, "owner", "team-c"), (ANCHOR, "delay", 2), ("- 1\n", "delay", 2)]
)
def test_what_cannot_be_edited_alone_is_left(text: str, path: str, value: Json, tmp_path: Path) -> None:
    result = edited(tmp_path, "config.yaml", text, (SLOW, path, value))
    assert Path("config.yaml") not in result.files
    assert len(result.left) == 1 or result.files


def test_a_file_that_is_not_utf_8_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "r" "a" {\n  x = jsondecode(file("${path.module}/x.json")).y\n}\n')
    (tmp_path / "x.json").write_bytes(b'{"y": "\xff"}')
    result = edit_values(tmp_path, [Wanted(address="r.a", attribute="x", value="z")])
    assert result.files == {}
    assert len(result.left) == 1


IN_BRACKETS = """\
readers: [
  ann, # first
  bob, # second
  eve
]
places: [north, south,
  east]
"""
READERS = 'resource "r" "a" {\n  readers = yamldecode(file("lists.yaml")).readers\n  places = yamldecode(file("lists.yaml")).places\n}\n'
BRACKETS: list[tuple[str, Json, str, str]] = [
    ("readers", ["ann", "eve"], "  bob, # second\n", ""),
    ("readers", ["bob", "eve"], "  ann, # first\n", ""),
    ("readers", ["ann", "bob"], "  eve\n", ""),
    ("readers", ["ann", "bob", "eve", "kim"], "  eve\n", "  eve,\n  kim\n"),
    ("readers", ["ann", "bob", "kim"], "  eve\n", "  kim,\n"),
    ("places", ["north", "south", "west"], ",\n  east]", ", west]"),
    ("places", ["north", "south", "east", "west"], "east]", "east,\n  west]"),
]


@pytest.mark.parametrize(("path", "value", "old", "new"), BRACKETS)
def test_a_list_in_brackets_over_several_lines(path: str, value: Json, old: str, new: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(READERS)
    (tmp_path / "lists.yaml").write_text(IN_BRACKETS)
    result = edit_values(tmp_path, [Wanted(address="r.a", attribute=path, value=value)])
    assert result.left == ()
    assert result.files == {Path("lists.yaml"): IN_BRACKETS.replace(old, new).encode()}


def test_all_items_of_a_list_in_brackets(tmp_path: Path) -> None:
    text = "readers: [\n  ann,\n  bob,\n]\nplaces: []\n"
    (tmp_path / "main.tf").write_text(READERS)
    (tmp_path / "lists.yaml").write_text(text)
    result = edit_values(tmp_path, [Wanted(address="r.a", attribute="readers", value=["eve", "kim"])])
    assert result.files == {Path("lists.yaml"): text.replace("ann", "eve").replace("bob", "kim").encode()}


FILES: list[tuple[str, Json, str]] = [
    ('file("notes.txt")', "one\ntwo\nfour\n", "one\ntwo\nfour\n"),
    ('filebase64("${path.module}/notes.txt")', "b25lCg==", "one\n"),
    ('base64encode(file("${path.root}/notes.txt"))', "b25lCg==", "one\n"),
    ('"<${file("notes.txt")}>"', "<x\n>", "x\n"),
]


@pytest.mark.parametrize(("written", "value", "text"), FILES)
def test_the_text_of_a_file(written: str, value: Json, text: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(f'resource "r" "a" {{\n  x = {written}\n}}\n')
    (tmp_path / "notes.txt").write_text("one\ntwo\nthree\n")
    result = edit_values(tmp_path, [Wanted(address="r.a", attribute="x", value=value)])
    assert result.left == ()
    assert result.files == {Path("notes.txt"): text.encode()}


@pytest.mark.parametrize("written", ['filesha256("notes.txt")', 'fileexists("notes.txt")', 'file("/etc/hosts")'])
def test_what_no_text_gives_is_left(written: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(f'resource "r" "a" {{\n  x = {written}\n}}\n')
    (tmp_path / "notes.txt").write_text("one\n")
    result = edit_values(tmp_path, [Wanted(address="r.a", attribute="x", value="abc")])
    assert result.files == {}
    assert len(result.left) == 1


def test_a_file_that_others_read_too_is_left(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'resource "r" "a" {\n  x = file("n.txt")\n}\nresource "r" "b" {\n  x = file("n.txt")\n}\n'
    )
    (tmp_path / "n.txt").write_text("one\n")
    result = edit_values(tmp_path, [Wanted(address="r.a", attribute="x", value="two\n")])
    assert Path("n.txt") not in result.files


def test_what_looks_like_an_interpolation_is_a_text_in_a_data_file(tmp_path: Path) -> None:
    text = '{\n  "Version": "2012-10-17",\n  "Resource": "home/${aws:username}"\n}\n'
    (tmp_path / "main.tf").write_text('resource "r" "a" {\n  policy = file("policy.json")\n}\n')
    (tmp_path / "policy.json").write_text(text)
    wanted = text.replace("home/", "all/home/")
    result = edit_values(tmp_path, [Wanted(address="r.a", attribute="policy", value=wanted)])
    assert result.files == {Path("policy.json"): wanted.encode()}


_EMPTY = """locals {
  all = { for row in csvdecode(file("${path.module}/q.csv")) : row.name => row }
}
resource "r" "a" {
  for_each = local.all

  size = each.value.size != "" ? tonumber(each.value.size) : 30
}
"""


@pytest.mark.parametrize(
    ("key", "value", "after"), [("b", 90, "name,size\na,60\nb,90\n"), ("a", 30, "name,size\na,30\nb,\n")]
)
def test_an_empty_field_that_gives_way_to_a_default_gets_the_value(
    key: str, value: int, after: str, tmp_path: Path
) -> None:
    (tmp_path / "main.tf").write_text(_EMPTY)
    (tmp_path / "q.csv").write_text("name,size\na,60\nb,\n")
    found = edit_values(tmp_path, [Wanted(address=f'r.a["{key}"]', attribute="size", value=value)])
    assert (found.left, found.files) == ((), {Path("q.csv"): after.encode()})


_KEYED = """locals {
  days = yamldecode(file("${path.module}/days.yaml"))
}

resource "r" "a" {
  dynamic "rule" {
    for_each = local.days.expire

    content {
      id = rule.key

      expiration {
        days = rule.value
      }
    }
  }
}
"""
_DAYS = "expire:\n  logs: 30 # a month\n  tmp: 7\nother: 1\n"


@pytest.mark.parametrize(
    ("days", "after"),
    [
        ({"logs": 30, "old": 90, "tmp": 7}, _DAYS.replace("tmp: 7\n", "tmp: 7\n  old: 90\n")),
        ({"logs": 30}, _DAYS.replace("  tmp: 7\n", "")),
        ({"logs": 60, "old": 90}, _DAYS.replace("30", "60").replace("tmp: 7\n", "old: 90\n")),
    ],
)
def test_of_a_map_only_the_entries_that_differ_are_written(days: dict[str, int], after: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_KEYED)
    (tmp_path / "days.yaml").write_text(_DAYS)
    rows: list[Json] = [{"id": name, "expiration": [{"days": number}]} for name, number in days.items()]
    found = edit_values(tmp_path, [Wanted(address="r.a", attribute="rule", value=rows)])
    assert (found.left, found.files) == ((), {Path("days.yaml"): after.encode()})
