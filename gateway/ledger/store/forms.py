"""The short form in which bodies are stored: the key of a text that many bodies share, and the values of the one body.

Bodies of one kind differ in few places, so most of each is said once, in the table `forms`. What is hashed, verified, exported and archived is the
whole body: SELECTs put it together (`tables.BODY`), on PostgreSQL with its own `format`. A form can stand on a base: then it gives the values of that
base, and fixes some, e.g. the revision of the code.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import String

MARK: Final = "\x01"
"""Begins a short body, and stands between its values. Canonical JSON never holds it: it writes control characters as escapes."""
_KEY: Final = 10
"""Characters of a form's key: 60 bits."""
_HEAD: Final = 1 + _KEY + 1
"""Characters before the first value: mark, key, mark."""
LARGEST: Final = 32 * 1024
"""Most characters of a body that is stored in the short form."""
MOST_PLACES: Final = 400
"""Most places for values in a form."""
_MOST_FILLED: Final = MOST_PLACES * (LARGEST + MOST_PLACES + _HEAD)
"""A bound of the characters of a body: who asks SQLite with views may give `whole` any text."""
_REMEMBERED: Final = 1_000
IN_SQLITE: Final = "sentinel_whole"
"""The function of SQLite that does `whole`; each connection is given it."""


class Form(NamedTuple):
    """A text that bodies share. Its stored text is a format of PostgreSQL
    (https://www.postgresql.org/docs/current/functions-string.html#FUNCTIONS-STRING-FORMAT).
    """

    stage: str
    base: str
    """The key of the form whose values it gives; empty if it gives a body."""
    holes: int
    """How many values there are."""
    text: str

    @property
    def key(self) -> str:
        """It follows from the form, so gateways that learn one at a time agree."""
        digest = hashlib.sha256(f"{self.stage}\n{self.base}\n{self.text}".encode()).digest()
        return base64.urlsafe_b64encode(digest)[:_KEY].decode()


def written_form(stage: str, base: str, holes: int, pieces: Sequence[str], order: Sequence[int]) -> Form:
    """The form with these pieces, between which stand the values of these numbers, from 0. There is one piece more than numbers."""
    said = [piece.replace("%", "%%") for piece in pieces]
    text = said[0] + "".join(f"%{number + 1}$s{piece}" for number, piece in zip(order, said[1:], strict=True))
    return Form(stage, base, holes, text)


_SIGN: Final = re.compile(r"%(?:%|(\d{1,6})\$s)?")


def read_form(text: str) -> tuple[list[str], list[int]]:
    """The pieces of a form's text, and the numbers of the values between them. Raises ValueError for what is no text of a form."""
    pieces, order, begun = [""], [], 0
    for found in _SIGN.finditer(text):
        pieces[-1] += text[begun : found.start()]
        begun = found.end()
        if found[0] == "%%":
            pieces[-1] += "%"
        elif found[1] and int(found[1]):
            order.append(int(found[1]) - 1)
            pieces.append("")
        else:
            message = "This is no text of a form."
            raise ValueError(message)
    pieces[-1] += text[begun:]
    if not order:
        message = "This is no text of a form: it has no place for a value."
        raise ValueError(message)
    return pieces, order


def short(key: str, values: Sequence[str]) -> str:
    """What is stored of a body: the key of its form, and its values."""
    return f"{MARK}{key}{MARK}{MARK.join(values)}"


def whole(body: str, form: str | None, base: str | None) -> str:
    """The whole body of a short one, with the text of its form and of that one's base, if it has one.

    A body that does not fit them stays as it is; its hash then tells that something was changed.
    """
    key = body[:_HEAD]
    found = _fillers.get(key)
    if found is None or found.form != form or found.base != base:
        try:
            found = _filler(form or "", base)
        except (IndexError, ValueError):
            return body
        if len(_fillers) >= _REMEMBERED:
            _fillers.clear()
        if len(found.pattern) <= LARGEST:
            _fillers[key] = found
    values = body[_HEAD:]
    if found.places * len(values) > _MOST_FILLED:
        return body  # it would be larger than any body that is stored short
    try:
        filled: str = found.pattern % found.pick(values.split(MARK))
    except IndexError:
        return body
    return filled


class _Filler(NamedTuple):
    """What puts bodies of one form together."""

    form: str
    base: str | None
    pattern: str
    """A format of Python."""
    pick: Callable[[Sequence[str]], Any]
    """Takes its values from those of a body."""
    places: int
    """How many it takes."""


_fillers: Final[dict[str, _Filler]] = {}
"""By the beginning of the body, which has the form's key: to look one up by the texts of forms takes a hash of some thousand characters each time."""


def _filler(form: str, base: str | None) -> _Filler:
    """Raises ValueError and IndexError for what is no text of a form, and for a form that does not give the values of its base."""
    pieces, order = read_form(form)
    if base is not None:
        base_pieces, base_order = read_form(base)
        # Not the length of the form's text: it has each `%` twice, and what a gateway stored is read whatever is in it.
        if len(base_order) * (sum(map(len, pieces)) + len(order)) > _MOST_FILLED:
            message = "It would be larger than any body that is stored short."
            raise ValueError(message)
        pieces, order = _on_base(pieces, order, base_pieces, base_order)
    pattern = "%s".join(piece.replace("%", "%%") for piece in pieces)
    first = order[0]
    pick = itemgetter(*order) if len(order) > 1 else lambda values: (values[first],)
    return _Filler(form, base, pattern, pick, len(order))


def _on_base(
    pieces: Sequence[str], order: Sequence[int], base_pieces: Sequence[str], base_order: Sequence[int]
) -> tuple[list[str], list[int]]:
    """The pieces and numbers of the whole body, where a form gives the values of its base between marks.

    Raises ValueError and IndexError if it does not.
    """
    given: list[tuple[list[str], list[int]]] = [([""], [])]
    for place, piece in enumerate(pieces):
        if place:
            given[-1][0].append("")
            given[-1][1].append(order[place - 1])
        first, *others = piece.split(MARK)
        given[-1][0][-1] += first
        given += [([other], []) for other in others]
    merged, numbers = [base_pieces[0]], []
    for number, piece in zip(base_order, base_pieces[1:], strict=True):
        texts, values = given[number]
        merged[-1] += texts[0]
        merged += texts[1:]
        numbers += values
        merged[-1] += piece
    if not numbers:
        message = "This form has no place for a value."
        raise ValueError(message)
    return merged, numbers


# In SQL ----------------------------------------------------------------------------------------------------------------


def whole_sql(body: str, forms: str, *, postgresql: bool) -> str:
    """SQL for the whole body of a stored one; `body` and `forms` are SQL for the column and for the table."""
    joined = f"FROM {forms} AS form LEFT JOIN {forms} AS base ON base.key = form.base AND form.base <> ''"
    found = f"{joined} WHERE form.key = substr({body}, 2, {_KEY})"
    if not postgresql:
        texts = (f"(SELECT {name}.text {found})" for name in ("form", "base"))
        return f"CASE WHEN substr({body}, 1, 1) = char(1) THEN {IN_SQLITE}({body}, {', '.join(texts)}) ELSE {body} END"
    form = _format("form", f"substr({body}, {_HEAD + 1})")
    filled = f"SELECT CASE WHEN base.key IS NULL THEN {form} ELSE {_format('base', form)} END {found}"
    return f"CASE WHEN left({body}, 1) = chr(1) THEN COALESCE(({filled}), {body}) ELSE {body} END"


def _format(form: str, values: str) -> str:
    """PostgreSQL's text of a form with its values. Empty texts fill up what a changed body lacks: the statement goes on, and its hash tells."""
    return f"format({form}.text, VARIADIC string_to_array({values}, chr(1)) || array_fill(CAST('' AS text), ARRAY[{form}.holes]))"


class WholeBody(ColumnElement[str]):
    """The whole body of a column of stored ones."""

    inherit_cache = False
    type = String()

    def __init__(self, stored: ColumnElement[str]) -> None:
        self.stored = stored


@compiles(WholeBody, "sqlite")
def _on_sqlite(element: WholeBody, compiler: SQLCompiler, **options: Any) -> str:
    return whole_sql(compiler.process(element.stored, **_of_column(options)), "forms", postgresql=False)


@compiles(WholeBody, "postgresql")
def _on_postgresql(element: WholeBody, compiler: SQLCompiler, **options: Any) -> str:
    return whole_sql(compiler.process(element.stored, **_of_column(options)), "forms", postgresql=True)


def _of_column(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without those of what is selected: the stored column is not."""
    return {
        name: value for name, value in options.items() if name not in ("add_to_result_map", "within_columns_clause")
    }
