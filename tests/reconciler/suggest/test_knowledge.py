"""What passed once is suggested for the next value of the same kind, with that value, and for no other kind."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.suggest.knowledge import Knowledge, key_of
from reconciler.suggest.question import Replacement, Suggestion
from tests.reconciler.suggest.conftest import Ask

TIMEOUT = "visibility_timeout_seconds = 30"
PASSED = Suggestion(replacements=(Replacement(path="main.tf", find=TIMEOUT, replace=TIMEOUT.replace("30", "60")),))


@pytest.fixture
def knowledge(tmp_path: Path) -> Knowledge:
    return Knowledge(file=tmp_path / "known" / "patterns.jsonl")


def _replaces(knowledge: Knowledge, question: object) -> list[list[tuple[str, str]]]:
    found = knowledge.suggestions(question)  # type: ignore[arg-type]  # a fixture's value
    return [[(each.find, each.replace) for each in suggestion.replacements] for suggestion in found]


@pytest.mark.parametrize("value", [90, 45, True])
def test_the_next_value_takes_the_blank(ask: Ask, knowledge: Knowledge, value: Json) -> None:
    knowledge.learn(ask(60), PASSED)
    written = str(value).lower()
    assert _replaces(knowledge, ask(value)) == [[(TIMEOUT, TIMEOUT.replace("30", written))]]


def test_another_reason_or_another_text_is_another_kind(ask: Ask, knowledge: Knowledge) -> None:
    knowledge.learn(ask(60), PASSED)
    assert _replaces(knowledge, ask(90, reason="The list is not known.")) == []
    assert _replaces(knowledge, ask(90, code=b"# nothing here\n")) == []


def test_names_and_numbers_do_not_make_a_kind(ask: Ask) -> None:
    assert key_of(ask(reason='main.tf:3: "a" of aws_x.y is 30.')) == key_of(
        ask(reason='other.tf:9: "b" of aws_z.w is 7.')
    )


def test_what_has_no_blank_is_not_kept(ask: Ask, knowledge: Knowledge) -> None:
    knowledge.learn(ask(60), Suggestion(replacements=(Replacement(path="main.tf", find="a", replace="b"),)))
    assert not knowledge.file.exists()


def test_it_is_kept_once_and_odd_lines_are_passed_over(ask: Ask, knowledge: Knowledge) -> None:
    for _ in range(2):
        knowledge.learn(ask(60), PASSED)
    assert len(knowledge.file.read_text().splitlines()) == 1
    knowledge.file.write_text("{\n[]\n" + knowledge.file.read_text())
    assert len(_replaces(knowledge, ask(90))) == 1


def test_only_so_many_of_a_kind_are_tried(ask: Ask, knowledge: Knowledge) -> None:
    """Each that is tried costs an evaluation of the code, and the file may hold thousands."""
    for number in range(25):
        find = TIMEOUT[number:]
        replacement = Replacement(path="main.tf", find=find, replace=find.replace("30", "60"))
        knowledge.learn(ask(60), Suggestion(replacements=(replacement,)))
    tried = _replaces(knowledge, ask(90))
    assert len(tried) == 20
    assert tried[0][0][0] == TIMEOUT[24:]
