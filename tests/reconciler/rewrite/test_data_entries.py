"""Instances that entries of data files make: an entry goes with its instance, and a new one is written like that of a sibling, in the form of the file."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.lang.hcl import data_document, parse_template
from reconciler.changes.event_creations import Created
from reconciler.model import Wanted
from reconciler.rewrite.create import wanted_creations
from reconciler.rewrite.data_entries import DataFile
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.edits import edit_code

_JSON = '{\n  "a": { "cidr": "10.0.0.0/16", "table": "one" },\n  "b": { "cidr": "10.1.0.0/16", "table": "two" }\n}\n'
_YAML = "a:\n  cidr: 10.0.0.0/16\n  table: one\nb: # the second\n  cidr: 10.1.0.0/16\n  table: two\n"
_ROWS = "- name: a\n  cidr: 10.0.0.0/16\n  table: one\n- { name: b, cidr: 10.1.0.0/16, table: two }\n"
_CSV = 'name,cidr,table\na,10.0.0.0/16,one\n"b",10.1.0.0/16,two\n'
_NESTED = "one:\n  - cidr: 10.0.0.0/16\ntwo:\n  - cidr: 10.1.0.0/16\n  - cidr: 10.2.0.0/16\n"
_CALL = '(file("${path.module}/data/routes%s"))'
_BY_NAME = "{ for each in %s : each.name => each }"
_FLAT = (
    "merge([for table, rows in %s : { for row in rows : "
    '"${table}-${row.cidr}" => { cidr = row.cidr, table = table } }]...)'
)
_MAIN = """resource "aws_route_table" "this" {
  for_each = toset(["one", "two"])
}

resource "aws_route" "this" {
  for_each = %s

  route_table_id         = aws_route_table.this[each.value.table].id
  destination_cidr_block = each.value.cidr
}
"""
_LIVE: dict[str, dict[str, Json]] = {
    'aws_route_table.this["one"]': {"id": "rtb-11111111"},
    'aws_route_table.this["two"]': {"id": "rtb-22222222"},
    'aws_route.this["a"]': {"id": "r-1", "route_table_id": "rtb-11111111", "destination_cidr_block": "10.0.0.0/16"},
    'aws_route.this["b"]': {"id": "r-2", "route_table_id": "rtb-22222222", "destination_cidr_block": "10.1.0.0/16"},
}


def _project(tmp_path: Path, suffix: str, text: str) -> Path:
    decoder = {".csv": "csvdecode", ".json": "jsondecode", ".yaml": "yamldecode", ".yml": "yamldecode"}[suffix]
    call = decoder + _CALL % suffix
    if suffix in (".csv", ".yml"):
        call = _BY_NAME % call
    elif text == _NESTED:
        call = _FLAT % call
    (tmp_path / "data").mkdir()
    (tmp_path / f"data/routes{suffix}").write_text(text)
    (tmp_path / "main.tf").write_text(_MAIN % call)
    return tmp_path


def _route(table: str, cidr: str) -> Created:
    return Created(
        resource_type="aws_route",
        import_id=f"{table}_{cidr}",
        attributes={"route_table_id": table, "destination_cidr_block": cidr},
        name=cidr,
        parent=table,
    )


@pytest.mark.parametrize(
    ("suffix", "text", "gone", "after"),
    [
        (".json", _JSON, "b", _JSON.partition(",\n")[0] + "\n}\n"),
        (".json", _JSON, "a", "{\n" + _JSON.partition(",\n")[2]),
        (".yaml", _YAML, "b", _YAML.partition("b:")[0]),
        (".yml", _ROWS, "a", _ROWS[_ROWS.index("- {") :]),
        (".csv", _CSV, "a", 'name,cidr,table\n"b",10.1.0.0/16,two\n'),
        (".csv", _CSV.rstrip(), "b", "name,cidr,table\na,10.0.0.0/16,one"),
    ],
)
def test_the_entry_goes_with_its_instance(tmp_path: Path, suffix: str, text: str, gone: str, after: str) -> None:
    root = _project(tmp_path, suffix, text)
    edited = edit_code(root, [Wanted(address=f'aws_route.this["{gone}"]', attribute="*", value=None)])
    assert (edited.left, {str(path): new.decode() for path, new in edited.files.items()}) == (
        (),
        {f"data/routes{suffix}": after},
    )


def test_the_entry_of_a_key_that_several_values_make_goes_too(tmp_path: Path) -> None:
    root = _project(tmp_path, ".yaml", _NESTED)
    gone = Wanted(address='aws_route.this["two-10.1.0.0/16"]', attribute="*", value=None)
    edited = edit_code(root, [gone])
    assert edited.files[Path("data/routes.yaml")].decode() == _NESTED.replace("  - cidr: 10.1.0.0/16\n", "")


@pytest.mark.parametrize(
    ("suffix", "text", "line"),
    [
        (".json", _JSON, '  "10_9_0_0_16": { "cidr": "10.9.0.0/16", "table": "two" }\n'),
        (".yaml", _YAML, '"10_9_0_0_16":\n  cidr: 10.9.0.0/16\n  table: two\n'),
        (".yml", _ROWS, '- { name: "10_9_0_0_16", cidr: 10.9.0.0/16, table: two }\n'),
        (".csv", _CSV, '"10_9_0_0_16",10.9.0.0/16,two\n'),
    ],
)
def test_a_new_entry_has_the_form_of_its_siblings(tmp_path: Path, suffix: str, text: str, line: str) -> None:
    root = _project(tmp_path, suffix, text)
    (wanted,) = wanted_creations(root, [_route("rtb-22222222", "10.9.0.0/16")], _LIVE, identified=True)
    assert wanted.address == 'aws_route.this["10_9_0_0_16"]'
    after = edit_code(root, [wanted]).files[Path(f"data/routes{suffix}")].decode()
    assert line in after


def test_it_names_what_it_belongs_to_where_its_sibling_belongs_to_another(tmp_path: Path) -> None:
    root = _project(tmp_path, ".csv", _CSV)
    live = {address: own for address, own in _LIVE.items() if address != 'aws_route.this["b"]'}
    (wanted,) = wanted_creations(root, [_route("rtb-22222222", "10.9.0.0/16")], live, identified=True)
    assert "10_9_0_0_16,10.9.0.0/16,two\n" in edit_code(root, [wanted]).files[Path("data/routes.csv")].decode()


def test_its_key_may_follow_from_its_values(tmp_path: Path) -> None:
    root = _project(tmp_path, ".yaml", _NESTED)
    live = {
        **{address: own for address, own in _LIVE.items() if "table" in address},
        'aws_route.this["two-10.1.0.0/16"]': _LIVE['aws_route.this["b"]'],
    }
    (wanted,) = wanted_creations(root, [_route("rtb-22222222", "10.9.0.0/16")], live, identified=True)
    assert wanted.address == 'aws_route.this["two-10.9.0.0/16"]'
    assert edit_code(root, [wanted]).files[Path("data/routes.yaml")].decode() == _NESTED + "  - cidr: 10.9.0.0/16\n"


def test_a_second_one_of_the_same_name_gets_a_number(tmp_path: Path) -> None:
    root = _project(tmp_path, ".json", _JSON)
    twice = [_route("rtb-22222222", "10.9.0.0/16"), _route("rtb-11111111", "10.9.0.0/16")]
    found = wanted_creations(root, twice, _LIVE, identified=True)
    assert [each.address for each in found] == ['aws_route.this["10_9_0_0_16"]', 'aws_route.this["10_9_0_0_16_2"]']
    assert not edit_code(root, found).left


def test_what_terraform_puts_into_a_template_stays(tmp_path: Path) -> None:
    text = "a:\n  memory: ${memory}\nb:\n  memory: 1\n"
    document = parse_template(tmp_path / "t.yaml", text.encode())
    (first,) = (each for each in DataFile(document, is_csv=False).entries() if each.key == "a")
    copied = first.copied("c", [("1", "2")]).apply(document.source)
    assert copied[len(document.around[0]) : -len(document.around[1])].decode() == text + "c:\n  memory: ${memory}\n"


def test_a_template_with_directives_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(CannotEdit, match="plain interpolations"):
        DataFile(parse_template(tmp_path / "t.yaml", b"%{ if a }\na: 1\n%{ endif }\n"), is_csv=False)


def test_the_last_entry_leaves_an_empty_map(tmp_path: Path) -> None:
    document = data_document(tmp_path / "t.json", b'{"a": 1}\n')
    (entry,) = DataFile(document, is_csv=False).entries()
    assert entry.removed().apply(document.source) == b"{}\n"


def test_where_its_siblings_are_entries_that_cannot_be_found_a_block_of_its_own_is_only_offered(tmp_path: Path) -> None:
    root = _project(tmp_path, ".json", _JSON)
    (root / "main.tf").write_text(_MAIN % "{ for each in data.http.routes.body : each.name => each }")
    (wanted,) = wanted_creations(root, [_route("rtb-22222222", "10.9.0.0/16")], _LIVE, identified=True)
    edited = edit_code(root, [wanted])
    assert (edited.files, len(edited.left)) == ({}, 1)
    assert "its siblings are instances of one block" in edited.left[0].reason
    assert '+resource "aws_route"' in edited.left[0].diff
