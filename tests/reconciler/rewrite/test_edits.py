"""Values are written before what is gone is removed, in one set of edits that follow each other."""

from pathlib import Path

from reconciler.model import Wanted, is_gone
from reconciler.rewrite.edits import edit_code

_TEXT = 'resource "a_b" "c" {\n  x = 1\n}\n\nresource "a_b" "d" {\n  x = 1\n}\n'


def test_both_are_done(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_TEXT)
    value, gone = Wanted(address="a_b.c", attribute="x", value=2), Wanted(address="a_b.d", attribute="*", value=None)
    assert (is_gone(value), is_gone(gone)) == (False, True)
    edited = edit_code(tmp_path, [gone, value])
    assert edited.files == {Path("main.tf"): b'resource "a_b" "c" {\n  x = 2\n}\n'}
    content = _TEXT.encode()
    for each in edited.edits:
        assert content[each.start : each.end] == each.old
        content = content[: each.start] + each.new + content[each.end :]
    assert content == edited.files[Path("main.tf")]


def test_a_block_that_other_callers_would_have_too_is_given_to_one_call(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text('resource "aws_x" "y" {\n  a = 1\n}\n')
    call = 'module "NAME" {\n  source = "./m"\n}\n'
    (tmp_path / "main.tf").write_text(call.replace("NAME", "one") + "\n" + call.replace("NAME", "two"))
    wanted = Wanted(address="module.one.aws_x.y", attribute="rule", value=[{"on": True}])
    edited = edit_code(tmp_path, [wanted])
    assert not edited.left
    assert b'dynamic "rule" {\n    for_each = var.rule\n' in edited.files[Path("m/main.tf")]
    assert edited.files[Path("main.tf")].startswith(
        b'module "one" {\n  source = "./m"\n\n  rule = [\n    {\n      on = true\n    },\n  ]\n}\n'
    )
