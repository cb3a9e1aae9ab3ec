"""Values are written before what is gone is removed, in one set of edits that follow each other."""

from pathlib import Path

from reconciler.model import Wanted, is_gone
from reconciler.rewrite.whole import edit_all

_TEXT = 'resource "a_b" "c" {\n  x = 1\n}\n\nresource "a_b" "d" {\n  x = 1\n}\n'


def test_both_are_done(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_TEXT)
    value, gone = Wanted(address="a_b.c", attribute="x", value=2), Wanted(address="a_b.d", attribute="*", value=None)
    assert (is_gone(value), is_gone(gone)) == (False, True)
    edited = edit_all(tmp_path, [gone, value])
    assert edited.files == {Path("main.tf"): b'resource "a_b" "c" {\n  x = 2\n}\n'}
    content = _TEXT.encode()
    for each in edited.edits:
        assert content[each.start : each.end] == each.old
        content = content[: each.start] + each.new + content[each.end :]
    assert content == edited.files[Path("main.tf")]
