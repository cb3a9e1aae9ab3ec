"""One edit after the other: each is the smallest run of lines, and what it changes beside is refused."""

from pathlib import Path

import pytest

from reconciler.model import Wanted
from reconciler.rewrite.code import read_code, refuse_side_effects
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.editors.text import CannotEdit

_WANTED = Wanted(address="a_b.c", attribute="*", value=None)
_TEXT = 'locals {\n  a = 1\n}\n\nresource "a_b" "c" {\n  x = local.a\n}\n'


def test_an_edit_is_the_lines_that_differ(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_TEXT)
    code = read_code(tmp_path, {})
    document = code.document(Path("main.tf"))
    after = code.after(document, Splice(_TEXT.index("1"), _TEXT.index("1") + 1, "22"), _WANTED)
    (edit,) = after.edits
    assert (edit.old, edit.new) == (b"  a = 1\n", b"  a = 22\n")
    with pytest.raises(CannotEdit, match=r"also change a_b\.c\.x"):
        refuse_side_effects(code, after, frozenset())
    refuse_side_effects(code, after, frozenset({"a_b.c"}))


def test_a_file_that_others_share_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text(_TEXT)
    (tmp_path / "root/main.tf").write_text('module "m" {\n  source = "../m"\n}\n')
    code = read_code(tmp_path / "root", {})
    for document in code.module.documents().values():
        if document.path.parts[0] == "..":
            with pytest.raises(CannotEdit, match="outside the stack's directory"):
                code.after(document, Splice(0, 0, ""), _WANTED)
