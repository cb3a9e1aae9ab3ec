"""New parts of a JSON file look as the others do."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.json_syntax.tree import parse_tree
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.json_syntax.style import JsonStyle, style_of

VALUE: Json = {"a": [1, "b"], "c": {}, "d": [{"e": None}]}


def _style(text: str) -> JsonStyle:
    return style_of(text.encode(), parse_tree(Path("x"), text.encode()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"x":1,"y":[1,2]}', '{"a":[1,"b"],"c":{},"d":[{"e":null}]}'),
        ('{"x": 1, "y": [1, 2]}', '{"a": [1, "b"], "c": {}, "d": [{"e": null}]}'),
        (
            '{\n    "x": 1\n}',
            '{\n    "a": [1, "b"],\n    "c": {},\n    "d": [\n        {\n            "e": null\n        }\n    ]\n}',
        ),
        (
            '{\r\n\t"x" : [\r\n1\r\n]\r\n}',
            '{\r\n\t"a" : [\r\n\t\t1,\r\n\t\t"b"\r\n\t],\r\n\t"c" : {},\r\n\t"d" : [\r\n\t\t{\r\n\t\t\t"e" : null\r\n\t\t}\r\n\t]\r\n}',
        ),
        ("{}", '{\n  "a": [1, "b"],\n  "c": {},\n  "d": [\n    {\n      "e": null\n    }\n  ]\n}'),
    ],
)
def test_values_are_written_as_the_file_is(text: str, written: str) -> None:
    assert _style(text).text(VALUE, "") == written


def test_half_a_character_is_refused() -> None:
    with pytest.raises(CannotEdit, match="half of a character"):
        _style("{}").text("\ud800", "")
