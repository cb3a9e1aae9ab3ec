"""Splits a wanted value into the smallest parts that differ from the declared value, also inside JSON documents.

Maps are split by key, JSON in texts by member, lists of objects and blocks by item: items are paired by what they have in common,
a pair is split further, and if items were added or removed the list itself is a part too, with the code's order kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import ResourceInstance, declared
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import find
from gateway.terraform.lang.values import EvaluationFailed
from reconciler.rewrite.footprint.values import Footprint, UnknownMark
from reconciler.terraform.compare import same
from reconciler.terraform.json_documents import (
    LISTS,
    PRINCIPALS,
    document_in,
    in_order,
    is_policy,
    same_document,
    statement_form,
    texts,
)

Part: TypeAlias = tuple[tuple[str, ...], Json]
"""Steps below the wanted attribute, and the value there; None removes an entry."""
Now: TypeAlias = "Footprint | Json"
"""What the code declares: a value, some parts of which may not be known."""
Row: TypeAlias = Mapping[str, Now]
"""A block, or an object in a list, as the code declares it."""
_PAIRED = 0.4
"""The share of equal members from which two items are taken to be one item that changed."""


def split_value(now: Now, wanted: Json, before: Json = None) -> Iterator[Part]:
    """The parts of a wanted value that the code, which declares `now`, does not declare.

    `before` is what Terraform says the code declares, in the provider's form, if that is known: a member that is the same there and
    in the wanted value did not change, whatever the code says of it.
    """
    yield from _split((), now, wanted, before)


def holds(now: Now, wanted: Json) -> bool:
    """Whether the code declares a wanted value; policies, and rows of blocks, are compared in any order."""
    if isinstance(now, UnknownMark):
        return False
    if isinstance(now, str) and isinstance(wanted, str):
        one, other = document_in(now), document_in(wanted)
        return now == wanted or (one is not None and other is not None and same_document(one, other))
    if isinstance(now, str) and isinstance(wanted, list) and (document := document_in(now)) is not None:
        return holds(document, wanted)
    if isinstance(now, list) and isinstance(wanted, list) and _is_rows(now) and _is_rows(wanted):
        return _match(now, wanted)
    if isinstance(now, Mapping) and isinstance(wanted, Mapping):
        return _row_holds(now, wanted)
    return equal(_plain(now), wanted)


def is_unset(value: object) -> bool:
    """Whether a provider returns this for an attribute that nobody set."""
    return value in (None, "", [], {}, False, 0)


def alike(one: Now, other: Json) -> bool:
    """Whether an item of a list is the wanted one."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return equal(_plain(statement_form(_plain(one))), statement_form(other)) or _row_holds(one, other)
    return equal(_plain(one), other)


def _plain(value: Now) -> Json:
    return value  # type: ignore[return-value]  # a mark inside is equal to no value


# ------------------------------------------------------------------------------------------------ by type


def _split(path: tuple[str, ...], now: Now, wanted: Json, before: Json) -> Iterator[Part]:
    if holds(now, wanted):
        return
    documents = document_in(now), document_in(wanted)
    if isinstance(documents[0], dict) and isinstance(documents[1], dict):
        yield from _in_document(path, documents[0], documents[1])
    elif isinstance(documents[0], list) and _is_rows(documents[0]) and _is_rows(documents[1]):
        yield from _in_rows(path, documents[0], documents[1] or [], None)  # type: ignore[arg-type]  # rows are a list
    elif _is_one(now) and _is_one(wanted):
        inner = before[0] if _is_one(before) else None  # type: ignore[index]  # one row
        yield from _in_block((*path, "0"), now[0], wanted[0], inner)  # type: ignore[index, arg-type]  # one row each
    elif isinstance(now, dict) and isinstance(wanted, Mapping) and (now or wanted):
        for key in sorted(wanted.keys() | now.keys()):
            yield from _split((*path, key), now.get(key), wanted.get(key), _get(before, key))
    elif _is_rows(now) and _is_rows(wanted) and now:
        yield from _in_rows(path, now, wanted, before)  # type: ignore[arg-type]  # both are lists of rows
    elif _is_set(now, before) and isinstance(wanted, list):
        yield path, _in_code_order(now, wanted)  # type: ignore[arg-type]  # a list of plain values
    else:
        yield path, wanted


def _in_block(path: tuple[str, ...], now: Row, wanted: Mapping[str, Json], before: Json) -> Iterator[Part]:
    """The members of a block that changed; what the provider returns for a member that nobody set is no change."""
    for key in sorted(wanted.keys() | now.keys()):
        if (key not in now or key not in wanted) and is_unset(wanted.get(key)):
            continue
        if isinstance(before, Mapping) and same(before.get(key), wanted.get(key)):
            continue
        yield from _split((*path, key), now.get(key), wanted.get(key), _get(before, key))


def _in_rows(
    path: tuple[str, ...], now: Sequence[Row], wanted: Sequence[Mapping[str, Json]], before: Json
) -> Iterator[Part]:
    """The parts of the rows that changed, then the list with the rows that were added and without those that were removed."""
    hints = _hints(now, before)
    pairs = _paired(now, wanted, hints)
    for index in sorted(pairs):
        yield from _in_block((*path, str(index)), now[index], wanted[pairs[index]], hints.get(index))
    added = [row for index, row in enumerate(wanted) if index not in pairs.values()]
    if added or len(pairs) < len(now):
        kept = [_projected(now[index], wanted[pairs[index]], hints.get(index)) for index in sorted(pairs)]
        yield path, [*kept, *(_set_members(row, now) for row in added)]


def _projected(now: Row, wanted: Mapping[str, Json], before: Json) -> dict[str, Json]:
    """A row that stays, with the members that the code has or must get."""
    parts = {steps[0] for steps, _ in _in_block((), now, wanted, before)}
    return {key: value for key, value in wanted.items() if key in now or key in parts}


def _set_members(row: Mapping[str, Json], siblings: Sequence[Row]) -> dict[str, Json]:
    """A new row without what nobody set; what every sibling writes stays, in its order."""
    usual = [key for key in (siblings[0] if siblings else ()) if all(key in each for each in siblings)]
    kept = {key: value for key, value in row.items() if not is_unset(value) or (key in usual and value is not None)}
    first = {key: kept[key] for key in usual if key in kept}
    return {**first, **{key: value for key, value in kept.items() if key not in first}}


# ------------------------------------------------------------------------------------------------ documents


def _in_document(path: tuple[str, ...], now: dict[str, Json], wanted: dict[str, Json]) -> Iterator[Part]:
    policy = is_policy(now) and is_policy(wanted)
    for key in _keys(now, wanted):
        inner = (*path, key)
        if policy and key == "Statement":
            yield from _statements(inner, now[key], wanted[key])
        else:
            yield from _members(inner, now.get(key), wanted.get(key))


def _keys(now: Mapping[str, Json], wanted: Mapping[str, Json]) -> list[str]:
    return [*now, *(key for key in wanted if key not in now)]


def _members(path: tuple[str, ...], now: Json, wanted: Json) -> Iterator[Part]:
    """The parts of a member of a document that is not a policy."""
    if equal(now, wanted) or (now is None and is_unset(wanted)):
        return
    if isinstance(now, Mapping) and isinstance(wanted, Mapping):
        for key in _keys(now, wanted):
            yield from _members((*path, key), now.get(key), wanted.get(key))
    elif isinstance(now, list) and _is_rows(now) and now and _is_rows(wanted):
        yield from _in_rows(path, now, wanted, None)  # type: ignore[arg-type]  # both are lists of rows
    else:
        yield path, wanted


def _statements(path: tuple[str, ...], now: Json, wanted: Json) -> Iterator[Part]:
    if isinstance(now, Mapping):
        rows = texts(wanted)
        if len(rows) == 1 and isinstance(rows[0], Mapping):
            yield from _in_statement(path, now, rows[0])
        else:
            yield path, wanted
        return
    old = [row for row in texts(now) if isinstance(row, Mapping)]
    new = [row for row in texts(wanted) if isinstance(row, Mapping)]
    pairs = _paired([_form(row) for row in old], [_form(row) for row in new], {})
    for index in sorted(pairs):
        yield from _in_statement((*path, str(index)), old[index], new[pairs[index]])
    added = [in_order(row) for index, row in enumerate(new) if index not in pairs.values()]
    if added or len(pairs) < len(old):
        yield path, [*(new[pairs[index]] for index in sorted(pairs)), *added]


def _form(statement: Mapping[str, Json]) -> Mapping[str, Json]:
    form = statement_form(statement)
    return form if isinstance(form, Mapping) else {}


def _in_statement(path: tuple[str, ...], now: Mapping[str, Json], wanted: Mapping[str, Json]) -> Iterator[Part]:
    for key in _keys(now, wanted):
        one, other = now.get(key), wanted.get(key)
        if equal(statement_form({key: one}), statement_form({key: other})):
            continue
        if key in LISTS:
            yield (*path, key), _styled(one, other)
        elif key in PRINCIPALS | {"Condition"} and isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _lists_inside((*path, key), one, other)
        else:
            yield (*path, key), other


def _lists_inside(path: tuple[str, ...], now: Mapping[str, Json], wanted: Mapping[str, Json]) -> Iterator[Part]:
    for key in _keys(now, wanted):
        one, other = now.get(key), wanted.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _lists_inside((*path, key), one, other)
        elif not equal(statement_form({"Action": one}), statement_form({"Action": other})):
            yield (*path, key), _styled(one, other)


def _styled(now: Json, wanted: Json) -> Json:
    """The wanted text or list of texts, in the order and form that the code has."""
    if now is None or wanted is None:
        return wanted
    items = _in_code_order(texts(now), texts(wanted))
    return items[0] if len(items) == 1 and isinstance(now, str) else items


def _in_code_order(now: Sequence[Json], wanted: Sequence[Json]) -> list[Json]:
    kept = [item for item in now if any(equal(item, each) for each in wanted)]
    return [*kept, *(item for item in wanted if not any(equal(item, each) for each in kept))]


# --------------------------------------------------------------------------------------------------- pairing


def _paired(now: Sequence[Row], wanted: Sequence[Mapping[str, Json]], hints: Mapping[int, Json]) -> dict[int, int]:
    """Which wanted row each row of the code became; rows that were removed are not among them.

    Rows that are equal are paired first, then those with the same Sid, then the most similar ones.
    """
    scores = sorted(
        (-_likeness(row, wanted[place], hints.get(index)), index, place)
        for index, row in enumerate(now)
        for place in range(len(wanted))
    )
    pairs: dict[int, int] = {}
    for score, index, place in scores:
        if -score >= _PAIRED and index not in pairs and place not in pairs.values():
            pairs[index] = place
    return pairs


def _likeness(now: Row, wanted: Mapping[str, Json], hint: Json) -> float:
    """How much two rows have in common: 3 if nothing differs, 2 if they have one name, else at most 1."""
    if (isinstance(hint, Mapping) and same(hint, wanted)) or _row_holds(now, wanted):
        return 3.0
    now = hint if isinstance(hint, Mapping) else now
    for name in ("Sid", "name", "id", "key", "sid"):
        if now.get(name) and wanted.get(name):
            return 2.0 if equal(_plain(now[name]), wanted[name]) else 0.0
    keys = [key for key in dict.fromkeys((*now, *wanted)) if not is_unset(wanted.get(key)) or key in now]
    shared = sum(_overlap(now.get(key), wanted.get(key)) for key in keys)
    return shared / len(keys) if keys else 0.0


def _overlap(one: Now, other: Json) -> float:
    if isinstance(one, UnknownMark):
        return 0.5
    if equal(_plain(one), other):
        return 1.0
    if isinstance(one, list) and isinstance(other, list) and one and other:
        common = sum(any(equal(_plain(item), each) for each in other) for item in one)
        return common / max(len(one), len(other))
    return 0.0


def _hints(now: Sequence[Row], before: Json) -> dict[int, Json]:
    """The provider's form of each row of the code, by its index."""
    rows = [row for row in before if isinstance(row, Mapping)] if isinstance(before, list) else []
    found: dict[int, Json] = {}
    for index, row in enumerate(now):
        place = next((place for place, each in enumerate(rows) if _within(row, each)), None)
        if place is not None:
            found[index] = rows.pop(place)
    return found


def _within(now: Row, whole: Mapping[str, Json]) -> bool:
    """Whether the provider's form of a row says the same of every member that the code has."""
    return all(isinstance(value, UnknownMark) or same(_plain(value), whole.get(key)) for key, value in now.items())


def _row_holds(now: Row, wanted: Mapping[str, Json]) -> bool:
    """Whether every member is as wanted; one that only the provider has must be unset."""
    return all(
        holds(now[key], wanted.get(key)) or same(_plain(now[key]), wanted.get(key))
        if key in now
        else is_unset(wanted[key])
        for key in dict.fromkeys((*now, *wanted))
    )


def _match(now: Sequence[Now], wanted: Sequence[Json]) -> bool:
    rest = list(wanted)
    for row in now:
        place = next((place for place, each in enumerate(rest) if alike(row, each)), None)
        if place is None:
            return False
        del rest[place]
    return not rest


# ------------------------------------------------------------------------------------------------- small tests


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def _is_one(value: object) -> bool:
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping)


def _is_set(now: Now, before: Json) -> bool:
    """Whether a list of plain values is a set, which shows if Terraform orders it otherwise than the code does."""
    if not isinstance(now, list) or not isinstance(before, list) or equal(_plain(now), before):
        return False
    return len(now) == len(before) and all(any(equal(_plain(item), each) for each in before) for item in now)


def _get(value: Json, key: str) -> Json:
    return value.get(key) if isinstance(value, Mapping) else None


def declared_at(instance: ResourceInstance, path: AttributePath) -> Json:
    """The declared value at a path such as `policy.Statement.0.Action`. Raises `Unknown`, `EvaluationFailed` if there is none."""
    try:
        return declared(instance, path)
    except EvaluationFailed:
        found = _document_above(instance, path)
        if found is None:
            raise
        return values.to_json(find(found[0], found[1]))


def declares(instance: ResourceInstance, path: AttributePath, wanted: Json) -> bool:
    """Whether the code declares a value. In a policy a text is equal to the list of it, and lists are in any order.

    Raises `Unknown`, `EvaluationFailed` if nothing is declared.
    """
    now = declared_at(instance, path)
    if holds(now, wanted):
        return True
    found = _document_above(instance, path)
    in_policy = found is not None and is_policy(found[0])
    return in_policy and equal(statement_form({"Action": now}), statement_form({"Action": wanted}))


def _document_above(
    instance: ResourceInstance, path: AttributePath
) -> tuple[dict[str, Json] | list[Json], Sequence[str]] | None:
    """The document that the path leads into, and the steps inside it."""
    for above in path.enclosing[1:]:
        try:
            document = document_in(declared(instance, above))
        except EvaluationFailed:
            continue
        if document is not None:
            return document, path.steps[len(above.steps) :]
    return None
