"""What worked before is tried before anybody is asked; what is dropped or not proved is not remembered."""

from pathlib import Path

from reconciler.suggest.knowledge import Knowledge
from reconciler.suggest.question import Question, Replacement, Suggestion
from reconciler.suggest.suggestions import Suggestions
from tests.reconciler.suggest.conftest import Ask

TIMEOUT = "visibility_timeout_seconds = 30"


class _Suggester:
    """Suggests to replace the timeout, and counts how often it is asked."""

    def __init__(self, replace: str) -> None:
        self.replace, self.asked = replace, 0

    async def suggest(self, question: Question) -> Suggestion | None:
        self.asked += 1
        return Suggestion(replacements=(Replacement(path="main.tf", find=TIMEOUT, replace=self.replace),), tokens=10)


async def test_what_passed_is_found_again_without_asking(ask: Ask, tmp_path: Path) -> None:
    suggester = _Suggester("visibility_timeout_seconds = 60")
    suggestions = Suggestions(knowledge=Knowledge(file=tmp_path / "known.jsonl"), suggester=suggester)
    found = await suggestions.find(tmp_path, ask(60))
    assert found is not None
    suggestions.passed(found)
    again = await suggestions.find(tmp_path, ask(90))
    assert again is not None
    assert b"visibility_timeout_seconds = 90" in again.edited.files[Path("main.tf")]
    assert (suggester.asked, again.suggestion.tokens) == (1, 0)


async def test_a_suggestion_that_does_more_is_dropped(ask: Ask, tmp_path: Path) -> None:
    suggester = _Suggester(f"{TIMEOUT}\n  delay_seconds = 1")
    suggestions = Suggestions(knowledge=Knowledge(file=tmp_path / "known.jsonl"), suggester=suggester)
    assert await suggestions.find(tmp_path, ask(60)) is None


async def test_without_a_suggester_only_what_is_known_is_tried(ask: Ask, tmp_path: Path) -> None:
    assert await Suggestions(knowledge=Knowledge(file=tmp_path / "known.jsonl")).find(tmp_path, ask(60)) is None
