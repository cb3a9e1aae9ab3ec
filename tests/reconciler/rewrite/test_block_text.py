"""The text of a new block is as `terraform fmt` writes it: values, references, nested blocks, maps and documents."""

import pytest

from gateway.core.model.json import Json
from reconciler.rewrite.block_text import block_text, body_lines, import_text
from reconciler.rewrite.editors.hcl_text import CannotEdit


def test_every_kind_of_value() -> None:
    attributes: dict[str, Json] = {
        "name": "x",
        "role_id": "r-1",
        "rule": [{"id": "one", "filter": [{"prefix": ""}]}],
        "tags": {"a": "b"},
        "policy": {"json": {"Version": "v"}},
    }
    text = block_text("a_b", "c", attributes, lambda name, _: "a_role.r.id" if name == "role_id" else "")
    assert text == (
        'resource "a_b" "c" {\n  name    = "x"\n  role_id = a_role.r.id\n\n  rule {\n    id = "one"\n\n    filter {\n      prefix = ""\n    }\n  }\n\n'
        '  tags = {\n    a = "b"\n  }\n\n  policy = jsonencode({\n    Version = "v"\n  })\n}'
    )


def test_lines_and_imports() -> None:
    assert body_lines({"ttl": [{"enabled": True, "attribute_name": "x"}]}, "  ") == [
        "  ttl {",
        "    enabled        = true",
        '    attribute_name = "x"',
        "  }",
    ]
    assert import_text("a_b.c", 'x"y') == 'import {\n  to = a_b.c\n  id = "x\\"y"\n}'


def test_what_no_string_holds_is_refused() -> None:
    with pytest.raises(CannotEdit):
        import_text("a_b.c", "\ud800")
