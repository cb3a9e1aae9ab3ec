"""Traces from a member of a policy to the block or argument of the `aws_iam_policy_document` that makes it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.config.module import META, Nested, body, nested
from gateway.terraform.config.policy_document import LISTS, PRINCIPALS, TYPE, check_readable, policy_json, statement_of
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.trace import blocks
from reconciler.rewrite.trace.inverse import Inverse, then
from reconciler.rewrite.trace.sites import Cursor, Follow, TracedSite
from reconciler.terraform.json_documents import document_in, statement_form, texts

_BLOCK_OF = {written: name for name, written in PRINCIPALS.items()}
_ARGUMENT_OF = {written: name for name, written in LISTS.items()} | {"Sid": "sid", "Effect": "effect"}
_Within = Callable[[Cursor, Nested, str], Cursor]


def in_policy(
    cursor: Cursor, block: Node, path: tuple[str, ...], follow: Follow, within: _Within
) -> Iterator[TracedSite]:
    """Sites that define a member of the policy that a data block makes."""
    if path[:1] == ("Version",) and len(path) == 1:
        yield from _argument(cursor, block, "version", follow)
    elif path[:1] != ("Statement",):
        yield cursor.refuse(f"The policy document has no {'.'.join(path)} to edit.", block)
    elif len(path) == 1:
        yield from _statements(cursor, block, follow)
    else:
        yield from _statement(cursor, block, path[1:], follow, within)


def _own(cursor: Cursor, block: Node) -> list[tuple[Nested, Json]]:
    """The statements that the block itself declares, each with its JSON. Raises `Unknown`."""
    rows = nested(cursor.document, block, "statement", cursor.scope)
    return [(row, statement_of(body(cursor.document, row.block, row.scope))) for row in rows]


def _statements(cursor: Cursor, block: Node, follow: Follow) -> Iterator[TracedSite]:
    """The statements as items of what dynamic blocks are made from, then as blocks. Statements of other documents must stay as they are."""
    rows = _own(cursor, block)
    own = [statement for _, statement in rows]
    other = [each for each in _rendered(cursor, block) if each not in own]

    def convert(value: Json) -> Json:
        wanted = texts(value)
        if any(not _among(wanted, each) for each in other):
            raise Unknown("a statement comes from another policy document")
        return [_row_of(cursor, rows, each) for each in wanted if not _among(other, each)]

    there = replace(cursor, convert=then(convert, cursor.convert))
    items = replace(cursor, convert=then(_with_effects, there.convert))
    # A content that says no effect gives none.
    for each in (items, there):
        yield from blocks.collections(each, block, "statement", [row for row, _ in rows], follow)
    yield there.blocks(block, "statement")


def _with_effects(blocks: Json) -> Json:
    """The blocks of statements, each with its effect: what a dynamic block gives a statement that says none."""
    return [{"effect": "Allow", **block} if isinstance(block, Mapping) else block for block in texts(blocks)]


def _among(statements: Sequence[Json], wanted: Json) -> bool:
    return any(equal(statement_form(each), statement_form(wanted)) for each in statements)


def _row_of(cursor: Cursor, rows: Sequence[tuple[Nested, Json]], wanted: Json) -> Json:
    """A statement as a block: as the code has it if it does not change."""
    for row, statement in rows:
        if equal(statement_form(statement), statement_form(wanted)):
            return {name: values.to_json(value) for name, value in body(cursor.document, row.block, row.scope).items()}
    return _as_block(wanted)


def _rendered(cursor: Cursor, block: Node) -> list[Json]:
    own = body(cursor.document, block, cursor.scope, META)
    check_readable(own)
    document = document_in(policy_json(own))
    return texts(document.get("Statement", [])) if isinstance(document, dict) else []


def _statement(
    cursor: Cursor, block: Node, path: tuple[str, ...], follow: Follow, within: _Within
) -> Iterator[TracedSite]:
    rendered = _rendered(cursor, block)
    if not path[0].isdecimal() or int(path[0]) >= len(rendered):
        yield cursor.refuse(f"The policy document has no statement {path[0]}.", block)
        return
    statement = rendered[int(path[0])]
    row = next((row for row, own in _own(cursor, block) if own == statement), None)
    if row is None:
        yield from _in_source(cursor, block, statement, path[1:], follow)
        return
    inner = within(cursor.step(f"{cursor.document.at(row.block)} statement {path[0]}"), row, "statement")
    name = path[1] if len(path) > 1 else ""
    if name in _ARGUMENT_OF and len(path) == 2:  # noqa: PLR2004  a member of the statement
        list_like = name not in ("Sid", "Effect")
        converted = replace(inner, convert=then(_as_list, inner.convert)) if list_like else inner
        yield from _argument(converted, row.block, _ARGUMENT_OF[name], follow)
    elif name in _BLOCK_OF:
        yield from _principals(inner, row, statement, path[1:], follow)
    elif name == "Condition":
        yield from _conditions(inner, row, statement, path[1:], follow)
    else:
        yield cursor.refuse(f"A statement has no {name} to edit.", row.block)


def _in_source(
    cursor: Cursor, block: Node, statement: Json, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites in the document that the statement comes from."""
    for name in ("override_policy_documents", "source_policy_documents"):
        attribute = cursor.document.attributes(block).get(name)
        if attribute is None:
            continue
        source = read_attribute(cursor.document, attribute)
        for index, text in enumerate(values.items(value_of(source, cursor.scope), name)):
            document = document_in(text)
            rows = texts(document.get("Statement", [])) if isinstance(document, dict) else []
            if statement in rows:
                line = cursor.step(f"{cursor.document.at(attribute)} {name}[{index}]")
                yield from follow(line, source, (str(index), "Statement", str(rows.index(statement)), *path))
                return
    yield cursor.refuse("Which policy document holds the statement is not certain.", block)


def _argument(cursor: Cursor, block: Node, name: str, follow: Follow) -> Iterator[TracedSite]:
    attribute = cursor.document.attributes(block).get(name)
    if attribute is None:
        yield cursor.new_attribute(block, name)
    else:
        source = read_attribute(cursor.document, attribute)
        yield from follow(cursor.step(f"{cursor.document.at(attribute)} {name}"), source, ())


def _as_list(value: Json) -> Json:
    return None if value is None else texts(value)


# ------------------------------------------------------------------------------------ principals and conditions


def _principals(
    cursor: Cursor, row: Nested, statement: Json, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    block_type = _BLOCK_OF[path[0]]
    if len(path) > 1:
        found = _inner(cursor, row, block_type, {"type": path[1]})
        if found is not None:
            yield from _list(cursor, found, "identifiers", follow)
    now = statement.get(path[0]) if isinstance(statement, Mapping) else None

    def rows(value: Json) -> Json:
        members = {"*": "*"} if value == "*" else value
        table = members if isinstance(members, Mapping) else {}
        return [{"type": kind, "identifiers": texts(names)} for kind, names in table.items()]

    yield _as_blocks(cursor, row, block_type, _put(now, path[1:]), rows)


def _conditions(
    cursor: Cursor, row: Nested, statement: Json, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    if len(path) > 2:  # noqa: PLR2004  Condition, test, variable
        found = _inner(cursor, row, "condition", {"test": path[1], "variable": ".".join(path[2:])})
        if found is not None:
            yield from _list(cursor, found, "values", follow)
    now = statement.get("Condition") if isinstance(statement, Mapping) else None
    steps = (path[1], ".".join(path[2:])) if len(path) > 2 else path[1:]  # noqa: PLR2004  as above
    yield _as_blocks(cursor, row, "condition", _put(now, steps), _condition_rows)


def _condition_rows(value: Json) -> Json:
    tests = value if isinstance(value, Mapping) else {}
    return [
        {"test": test, "variable": variable, "values": [values.text(each) for each in texts(items)]}
        for test, inner in tests.items()
        if isinstance(inner, Mapping)
        for variable, items in inner.items()
    ]


def _inner(cursor: Cursor, row: Nested, block_type: str, wanted: Mapping[str, str]) -> Nested | None:
    """The block inside a statement with these arguments, if there is one, and only one."""
    found = []
    for each in nested(cursor.document, row.block, block_type, row.scope):
        own = body(cursor.document, each.block, each.scope)
        if each.dynamic is None and all(own.get(name) == value for name, value in wanted.items()):
            found.append(each)
    return found[0] if len(found) == 1 else None


def _list(cursor: Cursor, found: Nested, name: str, follow: Follow) -> Iterator[TracedSite]:
    converted = replace(cursor, scope=found.scope, convert=then(_as_list, cursor.convert))
    yield from _argument(converted, found.block, name, follow)


def _as_blocks(cursor: Cursor, row: Nested, block_type: str, put: Inverse, rows: Inverse) -> TracedSite:
    return replace(cursor, convert=then(then(rows, put), cursor.convert)).blocks(row.block, block_type)


def _put(now: Json, steps: tuple[str, ...]) -> Inverse:
    """From a wanted member to the whole, with everything beside it as it is."""

    def put(value: Json) -> Json:
        return _with(now, steps, value)

    return put


def _with(now: Json, steps: tuple[str, ...], value: Json) -> Json:
    if not steps:
        return value
    table = dict(now) if isinstance(now, Mapping) else {}
    new = _with(table.get(steps[0]), steps[1:], value)
    if new is None or new == {}:
        table.pop(steps[0], None)
    else:
        table[steps[0]] = new
    return table


# ----------------------------------------------------------------------------------------------- new statements


def _as_block(statement: Json) -> Json:
    """A statement as the arguments and blocks of the data source."""
    if not isinstance(statement, Mapping):
        raise Unknown("a statement is not an object")
    result: dict[str, Json] = {}
    if statement.get("Sid"):
        result["sid"] = statement["Sid"]
    if statement.get("Effect", "Allow") != "Allow":
        result["effect"] = statement["Effect"]
    for written, name in _ARGUMENT_OF.items():
        if name in LISTS and written in statement:
            result[name] = texts(statement[written])
    for name, written in PRINCIPALS.items():
        if written in statement:
            value = statement[written]
            members = {"*": "*"} if value == "*" else value if isinstance(value, Mapping) else {}
            result[name] = [{"type": kind, "identifiers": texts(names)} for kind, names in members.items()]
    if statement.get("Condition"):
        result["condition"] = _condition_rows(statement["Condition"])
    return result


def is_policy_document(steps: tuple[str, ...]) -> bool:
    """Whether the steps after `data` lead to the JSON of a policy document."""
    return len(steps) > 2 and steps[0] == TYPE and any(each in ("json", "minified_json") for each in steps[2:4])  # noqa: PLR2004  type, name, and a key
