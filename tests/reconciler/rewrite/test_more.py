"""One instance more comes from one entry more, with a copy of the sibling's value; nothing else may come or change."""

from pathlib import Path

import pytest

from reconciler.model import Wanted
from reconciler.rewrite.code import read_code
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.more import Like, more

_BLOCK = 'resource "a_b" "c" {\n  for_each = %s\n\n  name = each.key\n}\n'


def _with(tmp_path: Path, collection: str, rest: str = "") -> str:
    (tmp_path / "main.tf").write_text(_BLOCK % collection + rest)
    like = Like(sibling='a_b.c["x"]', key="x", old="x", new="z")
    wanted = Wanted(address='a_b.c["z"]', attribute="*", value={})
    return more(read_code(tmp_path, {}), like, wanted).sources[Path("main.tf")].decode()


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
    like = Like(sibling="a_b.c[1]", key=1, old="b", new="c")
    (tmp_path / "main.tf").write_text(text)
    with pytest.raises(CannotEdit):
        more(read_code(tmp_path, {}), like, Wanted(address="a_b.c[2]", attribute="*", value={}))
    (tmp_path / "main.tf").write_text(text.replace("  title = local.titles[count.index]\n", ""))
    after = more(read_code(tmp_path, {}), like, Wanted(address="a_b.c[2]", attribute="*", value={}))
    assert 'names  = ["a", "b", "c"]' in after.sources[Path("main.tf")].decode()
