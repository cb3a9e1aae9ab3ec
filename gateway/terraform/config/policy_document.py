"""Makes the policy of a `data "aws_iam_policy_document"` block, which depends on nothing but the code."""

from collections.abc import Iterator, Mapping, Sequence

from gateway.core.json_reader import JsonRefused, read_json
from gateway.core.model.json import Json
from gateway.terraform.lang import values
from gateway.terraform.lang.functions_encoding import json_text
from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value

TYPE = "aws_iam_policy_document"
"""The type of data source whose value the code alone tells."""
LISTS = {
    "actions": "Action",
    "not_actions": "NotAction",
    "resources": "Resource",
    "not_resources": "NotResource",
}
"""Arguments of a statement that are lists, with their names in the policy."""
PRINCIPALS = {"principals": "Principal", "not_principals": "NotPrincipal"}
"""Blocks of a statement that name principals, with their names in the policy."""
_DEFAULT_VERSION = "2012-10-17"


def policy_json(body: Mapping[str, Value]) -> str:
    """The JSON of a policy document from the evaluated arguments and blocks of its data block. Raises `Unknown`."""
    statements = [statement_of(values.mapping(row, "a statement")) for row in _rows(body, "statement")]
    sources = [each for text in _texts(body, "source_policy_documents") for each in _statements(text)]
    overrides = [each for text in _texts(body, "override_policy_documents") for each in _statements(text)]
    merged = _overridden(_overridden(sources, statements), overrides)
    document: dict[str, Value] = {"Version": _text(body, "version") or _DEFAULT_VERSION}
    if _text(body, "policy_id"):
        document["Id"] = _text(body, "policy_id")
    return json_text({**document, "Statement": merged})


def _overridden(statements: Sequence[Value], others: Sequence[Value]) -> list[Value]:
    """Both lists; a later statement takes the place of an earlier one with the same Sid."""
    result = list(statements)
    for other in others:
        sid = values.mapping(other, "a statement").get("Sid")
        same = [
            index for index, each in enumerate(result) if sid and values.mapping(each, "a statement").get("Sid") == sid
        ]
        if same:
            result[same[0]] = other
        else:
            result.append(other)
    return result


def _statements(text: str) -> list[Value]:
    try:
        document = read_json(text)
    except JsonRefused:
        raise EvaluationFailed("a source of the policy document is not JSON") from None
    found = document.get("Statement", []) if isinstance(document, dict) else []
    return found if isinstance(found, list) else [found]


def statement_of(row: Mapping[str, Value]) -> Json:
    """A statement as JSON, from the evaluated arguments and blocks of its block. Raises `Unknown`."""
    result: dict[str, Value] = {}
    if _text(row, "sid"):
        result["Sid"] = _text(row, "sid")
    result["Effect"] = _text(row, "effect") or "Allow"
    for name, written in LISTS.items():
        if found := _texts(row, name):
            result[written] = one_or_list(found)
    for name, written in PRINCIPALS.items():
        if found_principals := _principals(row, name):
            result[written] = found_principals
    if conditions := _conditions(row):
        result["Condition"] = conditions
    return values.to_json(result)


def _principals(row: Mapping[str, Value], name: str) -> Value:
    """The principals by type; `*` for everyone."""
    found: dict[str, list[Json]] = {}
    for block in _rows(row, name):
        inner = values.mapping(block, name)
        found.setdefault(_text(inner, "type"), []).extend(_texts(inner, "identifiers"))
    if found == {"*": ["*"]}:
        return "*"
    return {kind: one_or_list(names) for kind, names in found.items()}


def _conditions(row: Mapping[str, Value]) -> dict[str, Value]:
    found: dict[str, dict[str, Value]] = {}
    for block in _rows(row, "condition"):
        inner = values.mapping(block, "condition")
        test = found.setdefault(_text(inner, "test"), {})
        test[_text(inner, "variable")] = one_or_list(_texts(inner, "values"))
    return {test: dict(inner) for test, inner in found.items()}


def one_or_list(items: Sequence[Json]) -> Json:
    """The item itself if it is the only one, as policies are written."""
    return items[0] if len(items) == 1 else list(items)


def _rows(body: Mapping[str, Value], name: str) -> Iterator[Value]:
    yield from values.items(body.get(name, []), name)


def _texts(body: Mapping[str, Value], name: str) -> list[str]:
    found = values.known(body.get(name))
    return [] if found is None else [values.text(item) for item in values.items(found, name)]


def _text(body: Mapping[str, Value], name: str) -> str:
    found = body.get(name)
    if found is None:
        return ""
    return values.text(found)


def check_readable(body: Mapping[str, Value]) -> None:
    """Raise `Unknown` for arguments that are not evaluated: those of old versions of the provider."""
    for name in ("source_json", "override_json"):
        if body.get(name) is not None:
            raise Unknown(f"the argument {name} of a policy document is not evaluated")
