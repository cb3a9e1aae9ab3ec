"""What is gone from the middle of a `count` is offered with the moves of the others; what names one by its number, or stays, is not."""

from pathlib import Path

import pytest

from reconciler.model import Left, Wanted
from reconciler.rewrite.edits import edit_code

_CODE = """variable "names" {
  default = ["a", "b", "c"]
}

resource "aws_sqs_queue" "this" {
  count = length(var.names)

  name = var.names[count.index]
}
"""
_TOPICS = '\nresource "aws_sns_topic" "this" {\n  count = length(var.names)\n\n  name = var.names[count.index]\n}\n'


def _gone(root: Path, code: str, *addresses: str) -> tuple[Left, ...]:
    (root / "main.tf").write_text(code)
    edited = edit_code(root, [Wanted(address=each, attribute="*", value=None) for each in addresses])
    assert not edited.files
    return edited.left


@pytest.mark.parametrize(("number", "rest", "moves"), [(0, '["b", "c"]', ["1 0", "2 1"]), (1, '["a", "c"]', ["2 1"])])
def test_the_others_are_moved(tmp_path: Path, number: int, rest: str, moves: list[str]) -> None:
    (left,) = _gone(tmp_path, _CODE, f"aws_sqs_queue.this[{number}]")
    assert "terraform apply -refresh-only" in left.reason
    assert f"+  default = {rest}\n" in left.diff
    assert left.diff.count("+moved {") == len(moves)
    for move in moves:
        old, new = move.split()
        assert f"+  from = aws_sqs_queue.this[{old}]\n+  to   = aws_sqs_queue.this[{new}]\n" in left.diff


def test_what_one_list_makes_together_is_moved_together(tmp_path: Path) -> None:
    left = _gone(tmp_path, _CODE + _TOPICS, "aws_sqs_queue.this[0]", "aws_sns_topic.this[0]")
    diff = "".join(each.diff for each in left)
    assert diff.count("+moved {") == 4
    assert diff.count("default = [") == 2


@pytest.mark.parametrize(
    "more",
    [
        _TOPICS,
        '\noutput "second" {\n  value = aws_sqs_queue.this[1].arn\n}\n',
        '\nresource "aws_sns_topic" "number" {\n  name = "n-${length(var.names)}"\n}\n',
    ],
)
def test_what_would_change_otherwise_is_not_offered(tmp_path: Path, more: str) -> None:
    (left,) = _gone(tmp_path, _CODE + more, "aws_sqs_queue.this[0]")
    assert not left.diff
