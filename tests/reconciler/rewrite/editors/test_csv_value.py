"""A value that stands in a CSV file is written there, in the field that it comes from; what no field gives alone is left, and the file stays."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values

_CODE = """locals {
  queues = csvdecode(file("${path.module}/queues.csv"))
}

resource "aws_x" "q" {
  for_each = { for queue in local.queues : queue.name => queue }

  name  = each.key
  delay = tonumber(each.value.delay)
  about = each.value.about
  on    = each.value.on
}
"""
_ROWS = 'name,delay,on,about\na,5,true,"x, y"\nb,6,false,\n'


def _edited(root: Path, rows: str, attribute: str, value: Json, code: str = _CODE) -> str:
    (root / "main.tf").write_text(code)
    (root / "queues.csv").write_bytes(rows.encode())
    edited = edit_values(root, [Wanted(address='aws_x.q["b"]', attribute=attribute, value=value)])
    if edited.left:
        assert edited.files == {}
        return ""
    return edited.files.get(Path("queues.csv"), b"").decode()


@pytest.mark.parametrize(
    ("attribute", "value", "after"),
    [
        ("delay", 30, 'name,delay,on,about\na,5,true,"x, y"\nb,30,false,\n'),
        ("on", True, 'name,delay,on,about\na,5,true,"x, y"\nb,6,true,\n'),
        ("about", "z", 'name,delay,on,about\na,5,true,"x, y"\nb,6,false,z\n'),
        ("about", 'p, "q"\nr', 'name,delay,on,about\na,5,true,"x, y"\nb,6,false,"p, ""q""\nr"\n'),
        ("about", " é", 'name,delay,on,about\na,5,true,"x, y"\nb,6,false," é"\n'),
    ],
)
def test_the_field_gets_the_value(attribute: str, value: Json, after: str, tmp_path: Path) -> None:
    assert _edited(tmp_path, _ROWS, attribute, value) == after


def test_a_last_line_without_an_end_and_empty_lines_stay_so(tmp_path: Path) -> None:
    rows = 'name,delay,on,about\n\n"a",5,true,x\nb,6,false,"y"'
    assert _edited(tmp_path, rows, "about", "z") == rows.replace('"y"', '"z"')


def test_a_field_that_another_value_comes_from_stays(tmp_path: Path) -> None:
    code = _CODE + '\nresource "aws_x" "total" {\n  row = [for queue in local.queues : queue.delay]\n}\n'
    assert _edited(tmp_path, _ROWS, "delay", 30, code) == ""


@pytest.mark.parametrize("value", ["x\r\ny", None, ["z"]])
def test_what_no_field_holds_is_not_written_into_the_file(value: Json, tmp_path: Path) -> None:
    assert _edited(tmp_path, _ROWS, "about", value) == ""


def test_a_file_that_not_every_reader_reads_alike_stays(tmp_path: Path) -> None:
    assert _edited(tmp_path, _ROWS.replace("\n", "\r\n"), "delay", 30) == ""
