"""A list made by `for` with `if` is edited in its source: what is left out stays, is switched on, or the value is left."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values

_PLAIN = '["a", "", "b"]'
_RULES = '[{ cidr = "a", on = true }, { cidr = "b", on = true }, { cidr = "c", on = false }]'


def _edited(root: Path, source: str, made: str, wanted: Json) -> str:
    code = f'locals {{\n  all = {source}\n}}\n\nresource "aws_x" "x" {{\n  row = [for x in local.all : {made}]\n}}\n'
    (root / "main.tf").write_text(code)
    edited = edit_values(root, [Wanted(address="aws_x.x", attribute="row", value=wanted)])
    if edited.left:
        assert edited.files == {}
        return ""
    after = edited.files[Path("main.tf")].decode()
    assert after.replace(after.split("\n")[1], code.split("\n")[1]) == code
    return after.split("\n")[1].removeprefix("  all = ")


@pytest.mark.parametrize(
    ("source", "made", "wanted", "after"),
    [
        (_PLAIN, 'x if x != ""', ["a", "c"], '["a", "", "c"]'),
        (_PLAIN, 'x if x != ""', ["a", "b", "c"], '["a", "", "b", "c"]'),
        (_PLAIN, 'x if x != ""', ["b"], '["", "b"]'),
        (_PLAIN, 'upper(x) if x != ""', ["A", "C"], '["a", "", "C"]'),
        (_RULES, "x.cidr if x.on", ["a", "d"], _RULES.replace('"b"', '"d"')),
        (_RULES, "x.cidr if x.on", ["a", "b", "c"], _RULES.replace("false", "true")),
        (_RULES, "x.cidr if x.on", ["b"], _RULES.replace('"a", on = true', '"a", on = false')),
        (_RULES, "x.cidr if x.on", ["a", "b", "d"], ""),
        (_PLAIN, 'x if x != ""', ["a", ""], ""),
        (_PLAIN, 'x if x != "b"', ["a", "", "b"], ""),
        (_PLAIN, "x if length(x) < 2", ["a", "", "long"], ""),
    ],
)
def test_the_source_gives_the_wanted_list(source: str, made: str, wanted: Json, after: str, tmp_path: Path) -> None:
    assert _edited(tmp_path, source, made, wanted) == after


def test_a_source_that_others_use_stays_as_it_is(tmp_path: Path) -> None:
    code = 'locals {\n  all = ["a", ""]\n}\n\nresource "aws_x" "x" {\n  row = [for x in local.all : x if x != ""]\n}\n\nresource "aws_x" "y" {\n  row = local.all\n}\n'
    (tmp_path / "main.tf").write_text(code)
    edited = edit_values(tmp_path, [Wanted(address="aws_x.x", attribute="row", value=["b"])])
    after = edited.files.get(Path("main.tf"), code.encode()).decode()
    assert '  all = ["a", ""]\n' in after
    assert "  row = local.all\n" in after
