"""References to what is gone go with it, up through the outputs of modules; what cannot go is named."""

from pathlib import Path

import pytest

from reconciler.model import Wanted
from reconciler.rewrite.code import read_code
from reconciler.rewrite.dangling import Removed, without_references
from reconciler.rewrite.editors.text import CannotEdit

_WANTED = Wanted(address="module.m.a_b.c", attribute="*", value=None)


def test_an_output_of_a_module_goes_with_the_outputs_that_repeat_it(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text('output "id" {\n  value = a_b.c.id\n}\n')
    (tmp_path / "main.tf").write_text('module "m" {\n  source = "./m"\n}\n\noutput "id" {\n  value = module.m.id\n}\n')
    after = without_references(read_code(tmp_path, {}), Removed("m", "a_b", ("c",)), _WANTED)
    assert {str(path): content.decode() for path, content in after.sources.items()} == {
        "m/main.tf": "",
        "main.tf": 'module "m" {\n  source = "./m"\n}\n',
    }


def test_one_key_is_not_all_keys(tmp_path: Path) -> None:
    text = 'output "x" {\n  value = a_b.c["x"].id\n}\n\noutput "y" {\n  value = a_b.c["y"].id\n}\n'
    (tmp_path / "main.tf").write_text(text)
    after = without_references(read_code(tmp_path, {}), Removed(".", "a_b", ("c",), "x"), _WANTED)
    assert after.sources[Path("main.tf")].decode() == 'output "y" {\n  value = a_b.c["y"].id\n}\n'


def test_a_value_that_needs_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "a_b" "d" {\n  depends = [a_b.c]\n  other   = a_b.c.id\n}\n')
    with pytest.raises(CannotEdit, match=r"resource\.a_b\.d still refers to it \(main\.tf:2\)"):
        without_references(read_code(tmp_path, {}), Removed(".", "a_b", ("c",)), _WANTED)
