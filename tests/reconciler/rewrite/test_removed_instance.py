"""One instance goes by the removal of what makes it, wherever that is written, and nothing else may change."""

from pathlib import Path

import pytest

from reconciler.model import Wanted
from reconciler.rewrite.edited_code import read_code
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.removed_instance import remove_instance

_BLOCK = 'resource "a_b" "c" {\n  for_each = %s\n\n  name = each.key\n}\n'


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
    with pytest.raises(CannotEdit, match=r"No single entry .* tried main\.tf:8"):
        _without(tmp_path, "local.all", "x", rest=other)
    after = _without(tmp_path, "local.all", "x", rest=other, gone=('a_b.d["x"]',))
    assert "all = { y = 2 }" in after
