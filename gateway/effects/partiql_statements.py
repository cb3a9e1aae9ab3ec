"""Reads PartiQL statements for DynamoDB: whether one only reads, and its table. A statement that cannot be read with certainty is not understood."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.core.model.mutation import Call

STATEMENTS: Mapping[str, str] = {
    "ExecuteStatement": "Statement",
    "BatchExecuteStatement": "Statements",
    "ExecuteTransaction": "TransactStatements",
}
"""Operation of DynamoDB → the parameter with its statement, or the list of those that have one each."""

_TOKEN = re.compile(
    r"""(?P<space>\s)|'(?P<text>[^']*)'|"(?P<quoted>[^"]*)"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>.)""", re.DOTALL
)
"""A text with a quotation mark in it is read as two texts."""
_COMMENTS = ("--", "/*")
_QUOTES = ("'", '"', "`")
"""A quotation mark that no token takes begins a text without an end."""
_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,2048}")
_BEFORE_TABLE = {"SELECT": "FROM", "INSERT": "INTO", "DELETE": "FROM"}
"""First word → the word before the table's name. UPDATE is followed by it at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartiqlStatement:
    """One statement."""

    reads: bool
    """Whether it only reads: SELECT, or EXISTS of one."""
    table: str
    """The table's name or ARN."""


def statements_of(call: Call) -> tuple[PartiqlStatement, ...]:
    """The statements of a call, each understood; empty if the call has none, or has one that is not understood."""
    given = call.parameters.get(STATEMENTS.get(call.operation, "")) if call.service == "dynamodb" else None
    texts: Sequence[object] = [given]
    if isinstance(given, (list, tuple)):
        texts = [item.get("Statement") if isinstance(item, Mapping) else None for item in given]
    found = [statement_of(text) if isinstance(text, str) else None for text in texts]
    return tuple(each for each in found if each is not None) if found and None not in found else ()


def statement_of(text: str) -> PartiqlStatement | None:
    """The statement, None if it is not understood: of another kind, with a comment, or more than one."""
    tokens = _tokens(text)
    if not tokens or any(kind == "sign" and value == ";" for kind, value in tokens):
        return None
    verb = _word(tokens[0])
    if verb == "EXISTS":
        verb, tokens = ("SELECT", tokens[2:]) if _opens_select(tokens) else ("", tokens)
    after = _after(tokens, _BEFORE_TABLE.get(verb, "UPDATE" if verb == "UPDATE" else ""), anywhere=verb == "SELECT")
    table = _table(tokens, after)
    return PartiqlStatement(reads=verb == "SELECT", table=table) if table else None


def _opens_select(tokens: Sequence[tuple[str, str]]) -> bool:
    return tokens[1:2] == [("sign", "(")] and len(tokens) > len("(S") and _word(tokens[2]) == "SELECT"


def _tokens(text: str) -> list[tuple[str, str]]:
    """(Kind, value) of each token; empty if there is a comment, whose text could be read as part of the statement."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while (match := _TOKEN.match(text, position)) is not None:
        position = match.end()
        kind = match.lastgroup or ""
        value = match[kind]
        if kind == "sign" and (value in _QUOTES or (tokens and tokens[-1][1] + value in _COMMENTS)):
            return []
        if kind != "space":
            tokens.append((kind, value))
    return tokens


def _word(token: tuple[str, str]) -> str:
    return token[1].upper() if token[0] == "word" else ""


def _after(tokens: Sequence[tuple[str, str]], word: str, *, anywhere: bool) -> int:
    """The position after the word, outside brackets; 0 if it is not there. Not `anywhere`: it must be the first or second word."""
    depth = 0
    for position, token in enumerate(tokens):
        if token[0] == "sign":
            depth += (token[1] in "([{") - (token[1] in ")]}")
        elif word and depth == 0 and _word(token) == word:
            return position + 1 if anywhere or position <= 1 else 0
    return 0


def _table(tokens: Sequence[tuple[str, str]], position: int) -> str:
    if not 0 < position < len(tokens):
        return ""
    kind, value = tokens[position]
    return value if kind in ("word", "quoted") and _NAME.fullmatch(value) else ""
