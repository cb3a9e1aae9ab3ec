"""A value that no editor can write is asked about once, gets its edit, and is remembered if all proofs held."""

from pathlib import Path
from typing import Any

import pytest

from reconciler.model import Proof, Wanted
from reconciler.proof import proved_edit as module_under_test
from reconciler.proof.proofs import Verified
from reconciler.proof.proved_edit import ProofContext, attempt
from reconciler.proof.suggested_edits import SuggestionRounds, question_about
from reconciler.rewrite.value_edits import edit_values
from reconciler.suggest.knowledge import Knowledge
from reconciler.suggest.question import Question, Replacement, Suggestion
from reconciler.suggest.suggestions import Suggestions
from reconciler.terraform.cli import Terraform

TIMEOUT = 'visibility_timeout_seconds = tonumber(file("timeout.txt"))'
CODE = f"""resource "aws_sqs_queue" "orders" {{
  name                       = "orders"
  {TIMEOUT}
}}
"""
WANTED = Wanted(address="aws_sqs_queue.orders", attribute="visibility_timeout_seconds", value=60)


class _Suggester:
    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = answers, list[Question]()

    async def suggest(self, question: Question) -> Suggestion | None:
        self.asked.append(question)
        replaced = Replacement(path="main.tf", find=TIMEOUT, replace=self.answers[0])
        return Suggestion(replacements=(replaced,), tokens=10)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.tf").write_text(CODE)
    return tmp_path


@pytest.fixture
def suggester() -> _Suggester:
    return _Suggester("visibility_timeout_seconds = 60")


@pytest.fixture
def asked(tmp_path: Path, suggester: _Suggester) -> SuggestionRounds:
    knowledge = Knowledge(file=tmp_path / "known" / "patterns.jsonl")
    return SuggestionRounds(suggestions=Suggestions(knowledge=knowledge, suggester=suggester))


async def test_the_value_left_gets_a_suggested_edit(root: Path, asked: SuggestionRounds, suggester: _Suggester) -> None:
    edited = edit_values(root, [WANTED])
    assert [left.wanted for left in edited.left] == [WANTED]
    for _ in range(2):
        done = await asked.complete(root, edited)
        assert done.edited.left == ()
        assert b"visibility_timeout_seconds = 60" in done.edited.files[Path("main.tf")]
    assert len(suggester.asked) == 1


def test_the_question_has_the_files_on_the_way(root: Path) -> None:
    edited = edit_values(root, [WANTED])
    question = question_about(root, edited, edited.left[0])
    assert question is not None
    assert list(question.files) == [Path("main.tf")]


def test_the_question_names_what_any_module_marks_as_sensitive(root: Path) -> None:
    (root / "db").mkdir()
    (root / "db" / "main.tf").write_text('variable "pw" {\n  sensitive = true\n}\nvariable "size" {}\n')
    (root / "main.tf").write_text(CODE + 'module "db" {\n  source = "./db"\n  pw = "hunter-two"\n  size = 1\n}\n')
    edited = edit_values(root, [WANTED])
    question = question_about(root, edited, edited.left[0])
    assert question is not None
    assert list(question.files) == [Path("main.tf")]
    assert question.sensitive == {"pw"}


@pytest.mark.parametrize("held", [True, False])
async def test_it_counts_only_if_every_proof_holds(
    root: Path, asked: SuggestionRounds, monkeypatch: pytest.MonkeyPatch, held: bool
) -> None:
    async def verified(*_: Any, **__: Any) -> Verified:
        return Verified(proofs=(Proof(name="plan_clean", held=held),))

    monkeypatch.setattr(module_under_test, "verify", verified)
    context = ProofContext(terraform=Terraform(environment={}, workdir=root), root=root, state=None, asked=asked)
    edited, _ = await attempt(context, [WANTED], explain=lambda _: "")
    assert bool(edited.edits) is held
    assert bool(edited.left) is not held
    assert (root / "known" / "patterns.jsonl").exists() is held
    assert (root / "main.tf").read_text() == CODE
