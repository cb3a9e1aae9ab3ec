"""Control characters are seen, and nothing else changes."""

import pytest

from gateway.core.texts import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain, ä and 日本\n", "plain, ä and 日本\n"), ("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\u202eb", "a\\u202eb"), ("a\tb\r", "a\\tb\\r"), ("\x00", "\\x00")],
)  # fmt: skip
def test_a_text_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown
