"""JSON documents inside strings: policies above all, compared as AWS compares them."""

import json
from collections.abc import Iterator, Mapping, Sequence

from gateway.core.model.equality import equal
from gateway.core.model.json import Json

LISTS = frozenset({"Action", "NotAction", "Resource", "NotResource"})
"""Members of a statement that are a text or a list of texts, in any order."""
PRINCIPALS = frozenset({"Principal", "NotPrincipal"})
_ORDER = ("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition")
"""How statements are written by hand."""


def document_in(value: object) -> dict[str, Json] | list[Json] | None:
    """The object or list that a text holds as JSON; None for any other value."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def texts_in(value: Json) -> Iterator[str]:
    """Every text in a value, also in the JSON documents that texts hold."""
    match value:
        case str():
            document = document_in(value)
            yield from (value,) if document is None else texts_in(document)
        case Mapping():
            for item in value.values():
                yield from texts_in(item)
        case list():
            for item in value:
                yield from texts_in(item)


def is_policy(document: object) -> bool:
    """Whether a document is a policy of IAM or of a resource."""
    return isinstance(document, Mapping) and "Statement" in document


def same_document(one: Json, other: Json) -> bool:
    """Whether two documents mean the same: policies as AWS reads them, others member by member."""
    if isinstance(one, Mapping) and isinstance(other, Mapping) and is_policy(one) and is_policy(other):
        return equal(_policy(one), _policy(other))
    return equal(one, other)


def statement_form(statement: Json) -> Json:
    """A statement in one form: lists sorted, single texts as lists, principals by type."""
    if not isinstance(statement, Mapping):
        return statement
    return {str(name): _member(str(name), value) for name, value in statement.items() if value not in (None, "")}


def texts(value: Json) -> list[Json]:
    """The items of a list; of a single value a list of it."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def in_order(statement: Mapping[str, Json]) -> dict[str, Json]:
    """The members of a statement in the order in which they are written by hand."""
    known = {name: statement[name] for name in _ORDER if name in statement}
    return {**known, **{name: value for name, value in statement.items() if name not in known}}


def _policy(document: Mapping[str, Json]) -> Json:
    statements = document.get("Statement")
    rows = statements if isinstance(statements, list) else [statements]
    forms = sorted((statement_form(row) for row in rows), key=lambda row: json.dumps(row, sort_keys=True))
    rest = {name: value for name, value in document.items() if name != "Statement" and value not in (None, "")}
    return {**rest, "Statement": forms}


def _member(name: str, value: Json) -> Json:
    if name in LISTS:
        return _sorted(value)
    if name in PRINCIPALS:
        return _principals(value)
    if name == "Condition" and isinstance(value, Mapping):
        return {
            test: {key: _sorted(each) for key, each in inner.items()} if isinstance(inner, Mapping) else inner
            for test, inner in value.items()
        }
    return value


def _principals(value: Json) -> Json:
    if value == "*":
        return {"AWS": ["*"]}
    if not isinstance(value, Mapping):
        return value
    return {kind: _sorted(names) for kind, names in value.items()}


def _sorted(value: Json) -> Json:
    items = {json.dumps(_text(item)): _text(item) for item in texts(value)}
    return [items[key] for key in sorted(items)]


def _text(item: Json) -> Json:
    return str(item).lower() if isinstance(item, bool) else str(item) if isinstance(item, int | float) else item
