"""Writes text of others on one line, so that no host of the repository finds a command, a reference or a person in it."""

import re
import unicodedata
from typing import Final

LONGEST: Final = 1_000
"""Characters."""
_BRACKETED: Final = re.compile(r"\[( ?[^\W\d][^\[\]]*)\]")
_STARS: Final = re.compile(r"\*{2,}")
_REFERENCE: Final = re.compile(r"(?<!\w)@(?=\w)|[#!](?=\w)|(?i:\bGH-(?=\d))|://(?=\S)")
_ONLY_ADDRESS: Final = re.compile(r"https?://[^\s@#!\[\]*]+")


def one_line(text: str, limit: int = LONGEST) -> str:
    """The text on one line, at most `limit` characters.

    Control, format and separator characters (Unicode categories C and Z) become one space. What hosts act on becomes words: CI systems skip
    a commit with `[skip ci]` or `***NO_CI***`; GitHub, GitLab, Azure Boards and Jira close or move tickets by `fixes acme/x#3`, `fixes` with
    a ticket's address, `AB#3`, `GH-3`, `PAY-3 #close`; `@team` tells people. No list of such words is needed: brackets around words become
    parentheses, and after `@`, `#`, `!`, `GH-` and `://` stands a space. An address alone stays.
    """
    kept = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)
    line = " ".join(kept.split())
    if not _ONLY_ADDRESS.fullmatch(line):
        line = _REFERENCE.sub(r"\g<0> ", _STARS.sub("*", _BRACKETED.sub(r"(\1)", line)))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
