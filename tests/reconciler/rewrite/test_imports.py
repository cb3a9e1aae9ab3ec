"""The imports of a root module are known by their addresses, and a replacement is imported to the address of the old resource."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import load_module
from reconciler.changes.event_creations import Created
from reconciler.changes.replacements import ReplacedResource
from reconciler.model import Edited, is_replacement
from reconciler.rewrite.create import create_resources
from reconciler.rewrite.imports import import_expressions, imported_ids, wanted_replacement

CODE = 'import {\n  to = aws_x.a["k"]\n  id = "i-1"\n}\n\nimport {\n  to = module.m.aws_x.b\n  id = var.id\n}\n'


def test_each_address_has_the_expression_of_its_id(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    (tmp_path / "more.tf.json").write_text('{"import": [{"to": "aws_x.c", "id": "i-3"}, {"id": "i-4"}]}')
    assert import_expressions(load_module(tmp_path)) == {
        'aws_x.a["k"]': '"i-1"',
        "module.m.aws_x.b": "var.id",
        "aws_x.c": '"i-3"',
    }
    assert imported_ids(load_module(tmp_path)) == {'aws_x.a["k"]': "i-1", "aws_x.c": "i-3"}


MAIN = Path("main.tf")
CODE_OF_ADOPT = 'resource "aws_security_group" "web" {\n  name = "web"\n}\n'
CALL = 'module "m" {\n  source = "./m"\n}\n'


def _adopt(root: Path, files: dict[str, str], address: str = "aws_security_group.web") -> Edited:
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    made = Created(resource_type="aws_security_group", import_id="sg-2", attributes={}, name="web")
    return create_resources(root, [wanted_replacement(ReplacedResource(address=address, created=made, old_id="sg-1"))])


def test_an_import_is_added_and_the_block_stays(tmp_path: Path) -> None:
    after = _adopt(tmp_path, {"main.tf": CODE_OF_ADOPT}).files[MAIN].decode()
    assert after == f'{CODE_OF_ADOPT}\nimport {{\n  to = aws_security_group.web\n  id = "sg-2"\n}}\n'
    (tmp_path / "main.tf").write_text(after)
    assert import_expressions(load_module(tmp_path)) == {"aws_security_group.web": '"sg-2"'}
    assert [is_replacement(each.wanted) for each in _adopt(tmp_path, {"main.tf": CODE_OF_ADOPT}).edits] == [True]


def test_an_import_from_an_earlier_time_gets_the_new_id(tmp_path: Path) -> None:
    code = f'{CODE_OF_ADOPT}import {{\n  to = aws_security_group.web\n  id = "sg-1" # first\n}}\n'
    assert _adopt(tmp_path, {"main.tf": code}).files[MAIN].decode() == code.replace("sg-1", "sg-2")


def test_the_import_of_what_a_module_has_stands_in_the_root(tmp_path: Path) -> None:
    result = _adopt(tmp_path, {"main.tf": CALL, "m/main.tf": CODE_OF_ADOPT}, "module.m.aws_security_group.web")
    assert list(result.files) == [MAIN]
    assert b"to = module.m.aws_security_group.web" in result.files[MAIN]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (CODE_OF_ADOPT.replace("web", "other"), "the code does not declare"),
        (
            f'{CODE_OF_ADOPT}import {{\n  to = aws_security_group.web\n  identity = {{ id = "x" }}\n}}\n',
            "in a way that Sentinel does not edit",
        ),
    ],
)
def test_what_cannot_be_adopted_is_left(tmp_path: Path, code: str, reason: str) -> None:
    (left,) = _adopt(tmp_path, {"main.tf": code}).left
    assert reason in left.reason
