"""Learns the forms of bodies and replies from those that are written, and gives them their short form."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from sqlalchemy import bindparam, insert, select

from gateway.ledger.store.forms import (
    LARGEST,
    MARK,
    MOST_PLACES,
    Form,
    read_form,
    short,
    whole,
    written_form,
)
from gateway.ledger.store.generations import Generation, allowed
from gateway.ledger.store.statements import Query, Session, Statement
from gateway.ledger.store.tables import FORMS

MOST_FORMS: Final = 500
"""Most forms of a ledger that give whole bodies. Bodies that none of them fits are stored whole."""
_TRIED: Final = 8
"""Forms that are tried, those that fitted last first: of a stage, and of a base."""
_LEARNED_AFTER: Final = 3
"""So many bodies of those looked at had a form before it is learned."""
_LOOKED_AT: Final = 4
"""One of so many bodies that no form fits is looked at, which takes ten times as long as trying."""
_COUNTED: Final = 64
"""Forms that are counted at a time."""
_SAMPLES: Final = 6
"""So many bodies of those looked at had the same values before a form fixes these."""
_WORTH: Final = 48
"""Fewest characters that a form on a base saves."""
_LOOKED_FOR: Final = 32
"""Characters by which a piece is found. To look for a long text, Python prepares for it, which takes longer than to compare it where its beginning is."""
_SHARED: Final = 6
"""Characters of a value from which on its repetitions are the same value; shorter ones are equal by chance."""

_PASSED: Final = r'\{"address":"","attribute":"","check":"[a-z_]+","offer":null,"reason":"[A-Za-z .]+","rule":"[a-z_.]+","source":"","title":"","verdict":"allow"\}'
_VALUE: Final = re.compile(
    # What stays in the form: findings that passed, obligations, members with few values, and the names of members.
    rf'"findings":\[(?:{_PASSED},?)*\]|"obligations":\{{[^\\]{{0,600}}?\}},(?="priorities")'
    r'|"(?:action|check|class|door|kind|mode|outcome|verdict)":"[^"\\]*"|"[a-z][a-z_0-9]*":|""'
    # What is a value: other texts, without their quotes, and numbers.
    r'|"([^"\\]*(?:\\.[^"\\]*)*)"|(?<=[:,\[])(-?\d[-+.\deE]*)'
)

_REPLY: Final = "reply"
"""In the place of a stage: replies have forms of their own."""
_MOST_OF_REPLIES: Final = 200
"""Most forms that give whole replies, so that bodies are left some."""
_REPLY_VALUE: Final = re.compile(
    # As in bodies, and the texts between the tags of XML. A reply need not be JSON: a text that no quote ends goes to the end of the reply, so
    # that it is not looked for again from each quote in it.
    r'"[^"\\]*":|""|"([^"\\]*(?:\\[\s\S][^"\\]*)*)(?:"|\\?\Z)|(?<=[:,\[])(-?\d[-+.\deE]*)|(?<=>)([^<>"]+)(?=<)'
)

_IS_STORED: Final = Statement(select(FORMS.c.text).where(FORMS.c.key == bindparam("which")))
_STORE: Final = Statement(insert(FORMS))
_BASES: Final = Query.of(FORMS, Form, FORMS.c.base == "", FORMS.c.key != "", order_by=(FORMS.c.key,))


def shortener_of(session: Session) -> "Shortener | None":
    """What shortens the bodies of this ledger; None as long as programs that cannot read them may use it."""
    generation = allowed(session)
    if generation < Generation.SHORT_BODIES:
        return None
    return Shortener(session.rows(_BASES, {}), generation)


def store_forms(session: Session, forms: Mapping[str, Form]) -> Sequence[str]:
    """Store learned forms, and return the keys of those that are stored now, maybe by another gateway. The write lock is held."""
    stored = []
    for key, form in forms.items():
        found = session.scalar(_IS_STORED, {"which": key})
        if found is None:
            session.change(_STORE, {"key": key, **form._asdict()})
        if found in (None, form.text):
            stored.append(key)
    return stored


class _Fixed(NamedTuple):
    """A form on a base."""

    key: str
    pieces: Sequence[str]
    """Those of the base, with the values that it fixes."""
    order: Sequence[int]
    """The numbers of the values between them."""
    holes: int
    """How many values a body has."""


class _Base:
    """A form that gives whole bodies, with what was seen of its values."""

    def __init__(self, form: Form) -> None:
        self.key = form.key
        self.form = form
        self.fixed: list[_Fixed] = []
        """Forms on it, those that fitted last first."""
        self._pieces, self._order = read_form(form.text)
        self._samples: deque[tuple[str, ...]] = deque(maxlen=_SAMPLES)
        self._missed = 0

    def short(self, body: str) -> "tuple[str, _Learned | None] | None":
        """The short body, and a form that was learned from its values; None if the form does not fit the body."""
        fixed = self.fixed
        for place, each in enumerate(fixed):
            values = _values_between(each.pieces, each.order, each.holes, body)
            if values is not None:
                if place:
                    fixed.insert(0, fixed.pop(place))
                return short(each.key, values), None
        values = self.values_of(body)
        if values is None:
            return None
        self._missed += 1
        learned = None
        if self._missed % _LOOKED_AT == 0:
            self._samples.append(tuple(values))
            learned = self._learn()
        return short(self.key, values), learned

    def values_of(self, body: str) -> list[str] | None:
        """The values of a body; None if the form does not fit it."""
        return _values_between(self._pieces, self._order, self.form.holes, body)

    def _learn(self) -> "_Learned | None":
        """The form that fixes what all samples have, if there are enough of both."""
        last = self._samples[-1]
        same = {n: value for n, value in enumerate(last) if all(each[n] == value for each in self._samples)}
        if len(same) == len(last):
            del same[len(last) - 1]  # a form has a place for a value
        if len(self._samples) < _SAMPLES or sum(map(len, same.values())) < _WORTH:
            return None
        self._samples.clear()
        pieces, free = [""], []
        for number in range(len(last)):
            pieces[-1] += MARK if number else ""
            if number in same:
                pieces[-1] += same[number]
            else:
                free.append(number)
                pieces.append("")
        form = written_form(self.form.stage, self.key, len(free), pieces, range(len(free)))
        return _Learned(form, self, self._fixing(form.key, same, free))

    def _fixing(self, key: str, same: Mapping[int, str], free: Sequence[int]) -> _Fixed:
        """The form with this key, which fixes the values `same`, as text of whole bodies: there are fewer pieces to be found than in the base."""
        places = {number: place for place, number in enumerate(free)}
        pieces, order = [self._pieces[0]], []
        for number, piece in zip(self._order, self._pieces[1:], strict=True):
            if number in same:
                pieces[-1] += same[number] + piece
            else:
                order.append(places[number])
                pieces.append(piece)
        return _Fixed(key, pieces, order, len(free))


def _values_between(pieces: Sequence[str], order: Sequence[int], holes: int, body: str) -> list[str] | None:
    """The values between these pieces of a body; None if they do not fit it. Whichever way the pieces are found, they and what lies between them are
    the body.
    """
    at = len(pieces[0])
    if body[:at] != pieces[0]:
        return None
    values: list[str | None] = [None] * holes
    find = body.find
    for number, piece in zip(order, pieces[1:], strict=True):
        end = find(piece[:_LOOKED_FOR], at) if piece else len(body)
        if end >= 0 and not body.startswith(piece, end):
            end = find(piece, end + 1)
        if end < 0:
            return None
        value = body[at:end]
        if values[number] is None:
            values[number] = value
        elif values[number] != value:
            return None
        at = end + len(piece)
    return [value or "" for value in values] if at == len(body) else None


class _Learned(NamedTuple):
    """A form that is to be stored."""

    form: Form
    base: _Base | None
    fixed: _Fixed | None


class Shortener:
    """Gives bodies and replies their short form, and learns forms. For one thread."""

    def __init__(self, stored: Iterable[Form], generation: Generation = Generation.COMPACT) -> None:
        """Knows the stored forms that give whole bodies. Those on a base are learned again: they are many, and only the latest are of use.

        `generation` is what programs on this ledger read.
        """
        self.leaves_out = generation >= Generation.COMPACT
        """Whether what other rows say is left out too: the hash of the record before, who sent an attempt that has ended."""
        self._bases: defaultdict[str, list[_Base]] = defaultdict(list)
        self._known: dict[str, _Base] = {}
        self._seen: Counter[Form] = Counter()
        self._missed = 0
        self._learned: dict[str, _Learned] = {}
        for form in stored:
            self._add(_Base(form))

    def _add(self, base: _Base) -> None:
        self._bases[base.form.stage].insert(0, base)
        self._known[base.key] = base

    @property
    def learned(self) -> Mapping[str, Form]:
        """Forms that are to be stored, by their keys: no body is stored by them before that."""
        return {key: each.form for key, each in self._learned.items()}

    def stored(self, keys: Collection[str]) -> None:
        """The learned forms with these keys are stored, so bodies may be stored by them; the others are forgotten."""
        for key, learned in self._learned.items():
            if key not in keys:
                continue
            if learned.base is None or learned.fixed is None:
                self._add(_Base(learned.form))
            else:
                learned.base.fixed.insert(0, learned.fixed)
                del learned.base.fixed[_TRIED:]
        self._learned = {}

    def short(self, stage: str, body: str) -> str:
        """The body as it is to be stored: short if a stored form fits, or whole."""
        if len(body) > LARGEST or MARK in body:
            return body
        bases = self._bases[stage]
        for place, base in enumerate(bases[:_TRIED]):
            shortened = base.short(body)
            if shortened is not None:
                if place:
                    bases.insert(0, bases.pop(place))
                found, learned = shortened
                if learned is not None:
                    self._learned[learned.form.key] = learned
                return found
        self._missed += 1
        if self._missed % _LOOKED_AT == 0:
            self._look_at(form_of(stage, body), body)
        return body

    def short_reply(self, headers: str, body: bytes) -> tuple[str, bytes | None]:
        """What is stored of a reply: its headers, JSON text without a newline, and its body; None if that is in a line below the headers."""
        try:
            text = body.decode() if self.leaves_out else "\0"
        except UnicodeDecodeError:
            return headers, body
        if "\0" in text or MARK in text:
            return headers, body
        return self.short(_REPLY, f"{headers}\n{text}"), None

    def _look_at(self, form: Form, body: str) -> None:
        """Count the form of a body that was stored whole."""
        key = form.key
        if key in self._known:
            # It was not among those that were tried.
            known, bases = self._known[key], self._bases[form.stage]
            bases.remove(known)
            bases.insert(0, known)
            return
        if form.stage == _REPLY and len(self._bases[_REPLY]) >= _MOST_OF_REPLIES:
            return
        if len(self._known) + len(self._learned) >= MOST_FORMS or not form.holes or form.text.count("%") > MOST_PLACES:
            return
        if len(self._seen) >= _COUNTED:
            self._seen = Counter({each: count for each, count in self._seen.items() if count > 1})
            if len(self._seen) >= _COUNTED:
                self._seen.clear()
        self._seen[form] += 1
        if self._seen[form] >= _LEARNED_AFTER:
            del self._seen[form]
            values = _Base(form).values_of(body)
            if values is not None and whole(short(key, values), form.text, None) == body:
                self._learned[key] = _Learned(form, None, None)


def form_of(stage: str, body: str) -> Form:
    """The form of a body: what others of its kind are likely to say too."""
    pieces: list[str] = []
    order: list[int] = []
    numbers: dict[str, int] = {}
    holes = begun = 0
    for found in (_REPLY_VALUE if stage == _REPLY else _VALUE).finditer(body):
        if found.lastindex is None:
            continue
        start, end = found.span(found.lastindex)
        value = body[start:end]
        number = numbers.get(value) if len(value) >= _SHARED else None
        if number is None:
            number = numbers[value] = holes
            holes += 1
        pieces.append(body[begun:start])
        order.append(number)
        begun = end
    return written_form(stage, "", holes, (*pieces, body[begun:]), order)
