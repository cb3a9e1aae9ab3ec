"""Row files: rows of one origin are replaced, the others stay."""

from pathlib import Path

import pytest

from gateway.core.model.mutation import EffectAction
from gateway.effects.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, ValueForm, rows_of_text
from tests.tools.effects_tracing.row_files import replace_rows


def row(operation: str, resource_type: str, origin: Origin = Origin.TRACED, service: str = "efs") -> DerivedRow:
    return DerivedRow(
        service=service,
        operation=operation,
        resource_type=resource_type,
        actions=frozenset({EffectAction.SET}),
        origin=origin,
        confidence=Confidence.ATTRIBUTES,
        identity={"FileSystemId": AttributeSource(attribute="id")},
        attributes={"Policy": AttributeSource(attribute="policy", form=ValueForm.JSON)},
    )


def test_rows_of_another_origin_stay(tmp_path: Path) -> None:
    model = row("CreateFileSystem", "aws_efs_file_system", Origin.MODEL)
    replace_rows(Origin.MODEL, [model], {"cfn-lint": "1"}, tmp_path)
    replace_rows(Origin.TRACED, [row("PutFileSystemPolicy", "aws_efs_file_system_policy")], {"provider": "1"}, tmp_path)
    renewed = row("CreateFileSystem", "aws_efs_file_system")
    replace_rows(Origin.TRACED, [renewed], {"provider": "2"}, tmp_path)
    text = (tmp_path / "efs.json").read_bytes()
    assert rows_of_text("efs", text) == (model, renewed)
    assert b'"sources": {"cfn-lint": "1", "provider": "2"}' in text


def test_a_file_whose_last_rows_are_gone_is_removed(tmp_path: Path) -> None:
    replace_rows(Origin.TRACED, [row("A", "aws_x"), row("A", "aws_x", service="ecr")], {}, tmp_path)
    replace_rows(Origin.TRACED, [row("B", "aws_x")], {}, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["efs.json"]


def test_the_same_rows_in_another_order_make_the_same_file(tmp_path: Path) -> None:
    rows = [row("B", "aws_x"), row("A", "aws_y"), row("A", "aws_x")]
    replace_rows(Origin.TRACED, rows, {}, tmp_path)
    before = (tmp_path / "efs.json").read_bytes()
    replace_rows(Origin.TRACED, reversed(rows), {}, tmp_path)
    assert (tmp_path / "efs.json").read_bytes() == before
    assert [(each.operation, each.resource_type) for each in rows_of_text("efs", before)] == [
        ("A", "aws_x"),
        ("A", "aws_y"),
        ("B", "aws_x"),
    ]


def test_two_rows_of_one_operation_and_type_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two rows"):
        replace_rows(Origin.TRACED, [row("A", "aws_x"), row("A", "aws_x")], {}, tmp_path)
