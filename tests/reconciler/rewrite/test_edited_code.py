"""One edit after the other: each is the smallest run of lines, and what it changes beside is refused."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.json_syntax.view import parse_json
from gateway.terraform.lang.hcl import file_bytes, parse, parse_template
from reconciler.model import Wanted
from reconciler.rewrite.edited_code import document_after, read_code, refuse_side_effects, refuse_unknown_calls
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.surroundings import surroundings

_WANTED = Wanted(address="a_b.c", attribute="*", value=None)
_TEXT = 'locals {\n  a = 1\n}\n\nresource "a_b" "c" {\n  x = local.a\n}\n'


def test_an_edit_is_the_lines_that_differ(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_TEXT)
    code = read_code(tmp_path, {})
    document = code.document(Path("main.tf"))
    after = code.after(document, Splice(_TEXT.index("1"), _TEXT.index("1") + 1, "22"), _WANTED)
    (edit,) = after.edits
    assert (edit.old, edit.new) == (b"  a = 1\n", b"  a = 22\n")
    with pytest.raises(CannotEdit, match=r"also change a_b\.c\.x"):
        refuse_side_effects(code, after, frozenset())
    refuse_side_effects(code, after, frozenset({"a_b.c"}))


def test_what_an_earlier_edit_changes_is_refused_too(tmp_path: Path) -> None:
    text = _TEXT.replace("  a = 1\n", "  a = 1\n  z = 2\n") + '\nresource "a_b" "d" {\n  y = local.z\n}\n'
    (tmp_path / "main.tf").write_text(text)
    code = after = read_code(tmp_path, {})
    for old in ("1", "2"):
        after = after.after(after.document(Path("main.tf")), Splice(text.index(old), text.index(old) + 1, "9"), _WANTED)
    for allowed, other in (("a_b.c", r"a_b\.d\.y"), ("a_b.d", r"a_b\.c\.x")):
        with pytest.raises(CannotEdit, match=f"also change {other}"):
            refuse_side_effects(code, after, frozenset({allowed}))
    refuse_side_effects(code, after, frozenset({"a_b.c", "a_b.d"}))


def test_a_module_that_calls_of_unknown_number_use_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text(_TEXT)
    call = 'module "NAME" {\n  source = "./m"\n}\n'
    many = call.replace("NAME", "many").replace("{\n", "{\n  count  = a_b.x.n\n")
    (tmp_path / "main.tf").write_text(call.replace("NAME", "one") + many)
    code = read_code(tmp_path, {})
    with pytest.raises(CannotEdit, match=r"used by module\.many, whose instances are not known"):
        code.after(code.document(Path("m/main.tf")), Splice(0, 0, ""), _WANTED)


def test_a_file_that_others_share_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text(_TEXT)
    (tmp_path / "root/main.tf").write_text('module "m" {\n  source = "../m"\n}\n')
    code = read_code(tmp_path / "root", {})
    for document in code.module.documents().values():
        if document.path.parts[0] == "..":
            with pytest.raises(CannotEdit, match="outside of the repository"):
                code.after(document, Splice(0, 0, ""), _WANTED)


def test_a_file_beside_the_stack_is_edited_unless_another_root_changes(tmp_path: Path) -> None:
    for name in ("test", "live"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.tf").write_text('module "m" {\n  source = "../m"\n}\n')
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text('resource "aws_x" "y" {\n  a = 1\n  b = 2\n}\n')
    before = read_code(tmp_path / "test", {}, surroundings(tmp_path / "test", tmp_path))
    document = before.document(Path("../m/main.tf"))
    wanted = Wanted(address="module.m.aws_x.y", attribute="a", value=3)
    after = before.after(document, Splice(document.source.index(b"1"), document.source.index(b"1") + 1, "3"), wanted)
    with pytest.raises(CannotEdit, match=r"live: module.m.aws_x.y, another root"):
        refuse_side_effects(before, after, frozenset({"module.m.aws_x.y"}))
    (tmp_path / "live/main.tf").write_text("locals {}\n")
    alone = read_code(tmp_path / "test", {}, surroundings(tmp_path / "test", tmp_path))
    document = alone.document(Path("../m/main.tf"))
    after = alone.after(document, Splice(document.source.index(b"1"), document.source.index(b"1") + 1, "3"), wanted)
    refuse_side_effects(alone, after, frozenset({"module.m.aws_x.y"}))


def test_a_template_of_a_module_whose_instances_are_not_known_is_not_edited(tmp_path: Path) -> None:
    (tmp_path / "m/t").mkdir(parents=True)
    (tmp_path / "m/t/a.tftpl").write_text("a")
    (tmp_path / "m/main.tf").write_text('locals {\n  x = templatefile("${path.module}/t/a.tftpl", {})\n}\n')
    call = 'module "m" {\n  source = "./m"\n}\n'
    refuse_unknown_calls(read_code(tmp_path, {Path("main.tf"): call.encode()}).module, Path("m/t/a.tftpl"))
    counted = read_code(tmp_path, {Path("main.tf"): call.replace("}", "  count = aws_a.b.n\n}").encode()})
    with pytest.raises(CannotEdit, match=r"used by module\.m, whose instances are not known"):
        refuse_unknown_calls(counted.module, Path("m/t/a.tftpl"))


def test_aligned_code_stays_aligned() -> None:
    document = parse(Path("x.tf"), b"a  = 1\nbb = 2\n")
    assert file_bytes(document_after(document, b"a  = 1\nbbb = 2\n")) == b"a   = 1\nbbb = 2\n"
    document = parse(Path("x.tf"), b"a = 1\nbb = 2\n")
    assert file_bytes(document_after(document, b"a = 1\nbbb = 2\n")) == b"a = 1\nbbb = 2\n"


def test_templates_and_json_are_written_as_they_are() -> None:
    template = parse_template(Path("x.tftpl"), b"a ${b}")
    assert file_bytes(document_after(template, template.source.replace(b"a ", b"c "))) == b"c ${b}"
    document = parse_json(Path("x.tf.json"), b'{"locals":{"a":1}}')
    assert file_bytes(document_after(document, document.source.replace(b"1", b"2"))) == b'{"locals":{"a":2}}'


def test_what_no_longer_parses_is_an_error() -> None:
    document = parse_json(Path("x.tf.json"), b'{"locals": {"a": 1}}')
    with pytest.raises(CodeInvalid, match=r"x\.tf\.json"):
        document_after(document, b"locals {\n")
