"""Row files: rows of one origin are replaced, the others stay."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, ValueForm, rows_of_text
from gateway.core.model.mutation import EffectAction
from tests.tools.effects_tracing.renewal import renewed, report
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


def test_rows_of_types_that_were_not_traced_stay(tmp_path: Path) -> None:
    replace_rows(Origin.TRACED, [row("A", "aws_x"), row("B", "aws_x"), row("A", "aws_y")], {}, tmp_path)
    replace_rows(Origin.TRACED, [row("C", "aws_x")], {}, tmp_path, types=["aws_x"])
    found = rows_of_text("efs", (tmp_path / "efs.json").read_bytes())
    assert [(each.operation, each.resource_type) for each in found] == [("A", "aws_y"), ("C", "aws_x")]
    with pytest.raises(ValueError, match="to stay"):
        replace_rows(Origin.TRACED, [row("A", "aws_y")], {}, tmp_path, types=["aws_x"])


def test_what_a_later_trace_does_not_see_is_kept_and_told() -> None:
    before = [row("A", "aws_x"), row("B", "aws_x"), row("C", "aws_x")]
    now = [replace(row("A", "aws_x"), confidence=Confidence.TYPE, unexplained=frozenset({"Odd"})), row("B", "aws_x")]
    found = renewed(before, now)
    assert found.rows == (*now, before[2])
    assert renewed(before, now, whole=True).rows == (*now,)
    assert report(found).splitlines() == [
        "rows of operations that the traces do not show: 1, that are less certain: 1, that are surer: 0",
        "  not seen: efs:C of aws_x (attributes)",
        "  less certain: efs:A of aws_x: attributes → type, unexplained Odd",
    ]
    assert renewed(now, before[:2]).surer == ((now[0], before[0]),)


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
