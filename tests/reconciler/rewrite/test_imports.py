"""The imports of a root module are known by their addresses."""

from pathlib import Path

from gateway.terraform.config.module import load_module
from reconciler.rewrite.imports import imported_ids, imports

CODE = 'import {\n  to = aws_x.a["k"]\n  id = "i-1"\n}\n\nimport {\n  to = module.m.aws_x.b\n  id = var.id\n}\n'


def test_each_address_has_the_expression_of_its_id(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    (tmp_path / "more.tf.json").write_text('{"import": [{"to": "aws_x.c", "id": "i-3"}, {"id": "i-4"}]}')
    assert imports(load_module(tmp_path)) == {
        'aws_x.a["k"]': '"i-1"',
        "module.m.aws_x.b": "var.id",
        "aws_x.c": '"i-3"',
    }
    assert imported_ids(load_module(tmp_path)) == {'aws_x.a["k"]': "i-1", "aws_x.c": "i-3"}
