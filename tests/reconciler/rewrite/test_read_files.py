"""What reads a template is told from what does not."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import load_module
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.grammar import parse_expression
from reconciler.rewrite.read_files import files_of

CODE = b'locals {\n  x = [templatefile("${path.module}/a.t", {}), templatefile("${path.module}/b.t", {})]\n}\n'


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ('file("a.t")', ["a.t"]),
        ('core::filemd5("./b.t")', ["b.t"]),
        ('templatefile("${path.module}/a.t", { x = aws_x.y.z })', ["a.t"]),
        ("file(aws_x.y.z)", ["a.t", "b.t"]),
        ('file("c.t")', []),
        ("upper(aws_x.y.z)", []),
        ("timestamp()", []),
        ("aws_x.y.z", []),
    ],
)
def test_which_templates_an_expression_may_read(expression: str, names: list[str], tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE, Path("a.t"): b"a", Path("b.t"): b"b"})
    found = files_of(parse_expression(expression), EvaluationScope(module=module))
    assert [name for name, _ in found] == names
    assert files_of(parse_expression(expression), EvaluationScope()) == ()
