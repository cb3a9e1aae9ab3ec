"""A nested block that the code leaves unset is added before `lifecycle`, to one resource only."""

from pathlib import Path

import pytest

from reconciler.model import Wanted
from reconciler.rewrite.unset_blocks import add_blocks, is_unset_block

_TEXT = 'resource "a_b" "c" {\n  name = "x"\n\n  attribute {\n    name = "id"\n  }\n\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n'
_TTL = Wanted(address="a_b.c", attribute="ttl", value=[{"enabled": True}])


def test_it_is_added(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_TEXT)
    assert is_unset_block(tmp_path, [_TTL]) == [_TTL]
    edited = add_blocks(tmp_path, [_TTL], {})
    after = edited.files[Path("main.tf")].decode()
    assert after == _TEXT.replace("  lifecycle", "  ttl {\n    enabled = true\n  }\n\n  lifecycle")


def test_it_stands_before_timeouts_as_every_new_block_does(tmp_path: Path) -> None:
    text = _TEXT.replace("lifecycle {\n    prevent_destroy = true", 'timeouts {\n    create = "5m"')
    (tmp_path / "main.tf").write_text(text)
    after = add_blocks(tmp_path, [_TTL], {}).files[Path("main.tf")].decode()
    assert after == text.replace("  timeouts", "  ttl {\n    enabled = true\n  }\n\n  timeouts")


def test_what_the_code_has_is_not_unset(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_TEXT)
    known = Wanted(address="a_b.c", attribute="attribute", value=[{"name": "x"}])
    plain = Wanted(address="a_b.c", attribute="name", value="y")
    assert is_unset_block(tmp_path, [known, plain]) == []


def test_a_block_of_several_instances_is_left(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "a_b" "c" {\n  count = 2\n\n  name = "x"\n}\n')
    wanted = Wanted(address="a_b.c[0]", attribute="ttl", value=[{"enabled": True}])
    edited = add_blocks(tmp_path, [wanted], {})
    assert edited.files == {}
    assert "would also change a_b.c[1].ttl" in edited.left[0].reason


def test_one_of_a_for_each_gets_a_dynamic_block(tmp_path: Path) -> None:
    text = 'resource "a_b" "c" {\n  for_each = { x = 1, y = 2 }\n\n  name = each.key\n}\n'
    (tmp_path / "main.tf").write_text(text)
    wanted = Wanted(address='a_b.c["x"]', attribute="ttl", value=[{"enabled": True}])
    edited = add_blocks(tmp_path, [wanted], {})
    block = '  dynamic "ttl" {\n    for_each = each.key == "x" ? [true] : []\n\n    content {\n      enabled = true\n    }\n  }\n'
    assert edited.left == ()
    assert edited.files[Path("main.tf")].decode() == text.replace("key\n}", f"key\n\n{block}}}")


@pytest.mark.parametrize(
    "last",
    [
        'timeouts {\n    create = "5m"\n  }',
        'connection {\n    host = "h"\n  }',
        "depends_on = [a_b.d]",
        'timeouts {\n    create = "5m"\n  }\n\n  lifecycle {\n    prevent_destroy = true\n  }',
        "# why\n  lifecycle {\n    prevent_destroy = true\n  }",
    ],
)
def test_the_members_that_stay_at_the_end_do(tmp_path: Path, last: str) -> None:
    text = f'resource "a_b" "c" {{\n  name = "x"\n\n  {last}\n}}\n\nresource "a_b" "d" {{\n  name = "y"\n}}\n'
    (tmp_path / "main.tf").write_text(text)
    edited = add_blocks(tmp_path, [_TTL], {})
    assert edited.left == ()
    block = "ttl {\n    enabled = true\n  }"
    assert edited.files[Path("main.tf")].decode() == text.replace(last, f"{block}\n\n  {last}")


def test_a_block_on_one_line_is_left(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "a_b" "c" { name = "x" }\n')
    (left,) = add_blocks(tmp_path, [_TTL], {}).left
    assert "written on one line" in left.reason
