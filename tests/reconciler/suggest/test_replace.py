"""A suggestion is made as it says, or not at all: it changes the wanted value and nothing else."""

from pathlib import Path

import pytest

from reconciler.rewrite.editors.text import CannotEdit
from reconciler.suggest.question import LONGEST_REPLACEMENT, Replacement, Suggestion
from reconciler.suggest.replace import SUGGESTED, edited_as_suggested
from tests.reconciler.suggest.conftest import CODE, Ask

TIMEOUT = "visibility_timeout_seconds = 30"


def _suggestion(find: str = TIMEOUT, replace: str = TIMEOUT.replace("30", "60"), path: str = "main.tf") -> Suggestion:
    return Suggestion(replacements=(Replacement(path=path, find=find, replace=replace),))


def test_the_replacement_is_an_edit_like_any_other(ask: Ask, tmp_path: Path) -> None:
    question = ask()
    edited = edited_as_suggested(tmp_path, question, _suggestion())
    (edit,) = edited.edits
    assert edited.files == {Path("main.tf"): CODE.replace(TIMEOUT.encode(), TIMEOUT.replace("30", "60").encode())}
    assert (edit.wanted, edit.chain, CODE[edit.start : edit.end]) == (question.wanted, (SUGGESTED,), TIMEOUT.encode())


@pytest.mark.parametrize(
    ("suggestion", "reason"),
    [
        (_suggestion(path="other.tf"), "not one of the files"),
        (_suggestion(path="../main.tf"), "not one of the files"),
        (_suggestion(find="aws_sqs_queue"), "occurs 2 times"),
        (_suggestion(find=""), "occurs 0 times"),
        (_suggestion(find="absent"), "occurs 0 times"),
        (_suggestion(replace="x" * (LONGEST_REPLACEMENT + 1)), "at most"),
        (_suggestion(replace="visibility_timeout_seconds = {{{"), "does not parse"),
        (_suggestion(find="delay_seconds = 5", replace="delay_seconds = 9"), "also change aws_sqs_queue.other.delay_seconds"),
        (_suggestion(replace=f"{TIMEOUT}\n  delay_seconds = 1"), "also change aws_sqs_queue.orders.delay_seconds"),
        (_suggestion(find='resource "aws_sqs_queue" "other"', replace='resource "aws_sqs_queue" "new"'), "add or remove"),
        (Suggestion(replacements=()), "1 to"),
        (Suggestion(replacements=_suggestion().replacements * 11), "1 to"),
    ],
)  # fmt: skip
def test_what_does_more_or_cannot_be_made_is_dropped(
    ask: Ask, tmp_path: Path, suggestion: Suggestion, reason: str
) -> None:
    with pytest.raises(CannotEdit, match=reason):
        edited_as_suggested(tmp_path, ask(), suggestion)
