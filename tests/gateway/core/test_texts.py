"""Control characters are seen, and nothing else changes."""

import pytest

from gateway.core.texts import by_rule, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain, ä and 日本\n", "plain, ä and 日本\n"), ("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\u202eb", "a\\u202eb"), ("a\tb\r", "a\\tb\\r"), ("\x00", "\\x00")],
)  # fmt: skip
def test_a_text_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_each_rule_and_each_of_its_reasons_is_said_once() -> None:
    said = [("A", "one."), ("B", "two."), ("A", "three."), ("A", "one.")]
    assert by_rule(said) == {"A": ["one.", "three."], "B": ["two."]}


def test_what_several_rules_say_to_do_next_is_said_once() -> None:
    said = [("A", "It does not understand x. Apply the plan."), ("B", "Its effects are not known. Apply the plan.")]
    assert by_rule(said) == {"A": ["It does not understand x. Apply the plan."], "B": ["Its effects are not known."]}
    assert by_rule([("A", "Too much."), ("B", "Too much.")]) == {"A": ["Too much."], "B": ["Too much."]}
