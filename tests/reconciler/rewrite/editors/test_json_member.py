"""A member of a JSON text is changed in the style of the text around it."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from tests.reconciler.rewrite.editors.edited_resource import edited_attribute, resource


def _heredoc(text: str) -> str:
    lines = "".join(f"    {line}\n" for line in text.split("\n"))
    return f"  x = <<-EOT\n{lines}  EOT\n"


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ('{ "a": 1, "b": 2 }', "x.a", 3, '{ "a": 3, "b": 2 }'),
        ('{ "a": 1, "b": 2 }', "x.a", None, '{ "b": 2 }'),
        ('{ "a": 1, "b": 2 }', "x.b", None, '{ "a": 1 }'),
        ('{ "a": 1 }', "x.b", "${c}", '{ "a": 1, "b": "$${c}" }'),
        ('{ "a": {} }', "x.a.b", 1, '{ "a": { "b": 1 } }'),
        ('{\n  "a": 1\n}', "x.b.c", 2, '{\n  "a": 1,\n  "b": { "c": 2 }\n}'),
        ('{ "a": [1, 2] }', "x.a", [2, 3], '{ "a": [2, 3] }'),
        ('{\n  "a": [\n    1,\n    2\n  ]\n}', "x.a", [1, 2, 3], '{\n  "a": [\n    1,\n    2,\n    3\n  ]\n}'),
        ('{\n  "a": [\n    1,\n    2\n  ]\n}', "x.a", [1], '{\n  "a": [\n    1\n  ]\n}'),
        (
            '{\n  "a": [\n    {\n      "b": 1\n    }\n  ]\n}',
            "x.a",
            [{"b": 1}, {"b": 2}],
            '{\n  "a": [\n    {\n      "b": 1\n    },\n    {\n      "b": 2\n    }\n  ]\n}',
        ),
    ],
)
def test_what_is_written(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited_attribute(tmp_path, _heredoc(before), path, value) == resource(_heredoc(after))


def test_what_is_refused(tmp_path: Path) -> None:
    assert "no object" in edited_attribute(tmp_path, _heredoc('{ "a": 1 }'), "x.a.b", 2)
