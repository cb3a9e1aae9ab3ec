"""Which rules fired on an input and which did not, each with its conditions, their values, and the places in the sources: from opa's trace."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from gateway.core.model.json import Json, to_json
from gateway.policy.opa_command import opa_output

_MOST_CONDITIONS: Final = 40
_LONGEST_VALUE: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition of a rule, as it was evaluated where the rule came furthest."""

    text: str
    """The line of the source."""
    source: str
    """`file:line`."""
    held: bool
    values: Mapping[str, Json]
    """The parts of the input and the variables in it, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTrace:
    """What one rule made of an input."""

    rule: str
    title: str
    source: str
    fired: bool
    conditions: tuple[Condition, ...]
    """Up to the first one that did not hold; all of them of a rule that fired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What all rules made of an input."""

    rules: tuple[RuleTrace, ...]
    compared: tuple[Json, ...]
    """The constants and values that conditions compared something with."""


def traced(policies: Path, tool: Path, entrypoint: str, document: Json) -> Trace:
    """The trace of one question. Raises `errors.PolicyInvalid` if opa cannot evaluate it."""
    with tempfile.TemporaryDirectory(prefix="sentinel-trace-") as scratch:
        file = Path(scratch) / "input.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        query = f"data.{entrypoint.replace('/', '.')}"
        ignored = ("--ignore", "*_test.rego", "--ignore", "bundle")
        # An index would pass over rules whose first conditions do not hold, and say nothing of them.
        whole = ("--disable-indexing", "--disable-early-exit", "--explain", "full", "--format", "json")
        text = opa_output(tool, ["eval", *whole, *ignored, "-d", ".", "-i", str(file), query], cwd=policies)
    return _read(json.loads(text).get("explanation", ()), _Sources(policies), document)


@dataclass(slots=True)
class _Query:
    """The evaluation of a rule's body, or of one of its iterations."""

    rule: str
    title: str
    source: str
    fired: bool = False
    reached: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    """By the number of the condition, the last event about it."""
    deepest: int = -1


class _Sources:
    """The lines of the sources."""

    def __init__(self, policies: Path) -> None:
        self._policies = policies
        self._lines: dict[str, Sequence[str]] = {}

    def line(self, location: Mapping[str, Any]) -> str:
        name = str(location["file"])
        if name not in self._lines:
            path = self._policies / name
            self._lines[name] = path.read_text(encoding="utf-8").splitlines() if path.is_file() else ()
        lines, row = self._lines[name], int(location["row"])
        return lines[row - 1].strip() if 0 < row <= len(lines) else ""


def _read(events: Iterable[Mapping[str, Any]], sources: _Sources, document: Json) -> Trace:
    queries: dict[int, _Query] = {}
    compared: dict[str, Json] = {}
    for event in events:
        node, number = event["Node"], event["QueryID"]
        if isinstance(node, Mapping) and "terms" in node:
            compared.update((json.dumps(value, sort_keys=True), value) for value in _constants(event))
        if event["Op"] == "Enter" and (named := _named(event)) is not None:
            queries[number] = named
        query = queries.get(number)
        if query is None or not isinstance(node, Mapping):
            continue
        if event["Op"] == "Exit":
            query.fired = True
        elif event["Op"] in ("Eval", "Fail") and "index" in node:
            index = int(node["index"])
            if index >= query.deepest:
                query.deepest = index
                query.reached[index] = event
            else:
                query.reached.setdefault(index, event)
    found = (_rule(query, sources, document) for query in _furthest(queries.values()))
    return Trace(
        rules=tuple(sorted(found, key=lambda each: (not each.fired, each.rule))), compared=tuple(compared.values())
    )


def _named(event: Mapping[str, Any]) -> _Query | None:
    """The query of a rule with an id; None for every other."""
    node = event["Node"]
    if not isinstance(node, Mapping):
        return None
    for each in node.get("annotations", ()):
        rule = each.get("custom", {}).get("id")
        if isinstance(rule, str):
            return _Query(rule=rule, title=str(each.get("title", "")), source=_place(event["Location"]))
    return None


def _furthest(queries: Iterable[_Query]) -> Iterator[_Query]:
    """Of each rule the query that fired, or else the one in which most conditions held."""
    best: dict[tuple[str, str], _Query] = {}
    for query in queries:
        key = query.rule, query.source
        known = best.get(key)
        if known is None or (query.fired, query.deepest) > (known.fired, known.deepest):
            best[key] = query
    yield from best.values()


def _rule(query: _Query, sources: _Sources, document: Json) -> RuleTrace:
    first = min(query.reached, default=0)
    # What the head of the rule holds is evaluated after the body; it stands above it, and is no condition.
    numbers = [
        number
        for number in sorted(query.reached)
        if query.reached[number]["Location"]["row"] >= query.reached[first]["Location"]["row"]
    ]
    conditions = [
        _condition(query.reached[number], sources, document, held=query.fired or number < query.deepest)
        for number in numbers[:_MOST_CONDITIONS]
    ]
    return RuleTrace(
        rule=query.rule, title=query.title, source=query.source, fired=query.fired, conditions=_joined(conditions)
    )


def _joined(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """One condition for each line, which opa may have taken apart."""
    lines: dict[str, Condition] = {}
    for each in conditions:
        known = lines.get(each.source)
        if known is not None:
            each = replace(each, held=known.held and each.held, values={**known.values, **each.values})  # noqa: PLW2901  the joined one
        lines[each.source] = each
    return tuple(lines.values())


def _condition(event: Mapping[str, Any], sources: _Sources, document: Json, *, held: bool) -> Condition:
    location = event["Location"]
    return Condition(
        text=sources.line(location),
        source=_place(location),
        held=held,
        values={name: _short(value) for name, value in _values(event, document).items()},
    )


def _place(location: Mapping[str, Any]) -> str:
    return f"{Path(location['file']).as_posix()}:{location['row']}"


def _short(value: Json) -> Json:
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _values(event: Mapping[str, Any], document: Json) -> dict[str, Json]:
    """The references in the condition with their values: those into the input, and those into variables."""
    names = {name: str(meta.get("name", name)) for name, meta in event["LocalMetadata"].items()}
    bound = {each["name"]: _plain(each) for each in event["Locals"]}
    found: dict[str, Json] = {}
    for head, *path in _references(event["Node"]["terms"]):
        steps = [bound.get(step["value"]) if step["type"] == "var" else step["value"] for step in path]
        root = document if head["value"] == "input" else bound.get(head["value"], _UNKNOWN)
        name = names.get(head["value"], head["value"])
        if root is _UNKNOWN or str(name).startswith("__local") or any(step is None for step in steps):
            continue
        value = _at(root, steps)
        if value is not _UNKNOWN:
            found[".".join(map(str, (name, *steps)))] = value
    return found


_UNKNOWN: Final[Any] = object()


def _at(value: Any, steps: Sequence[Any]) -> Any:
    for step in steps:
        if (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
        ):
            value = value[step]
        else:
            return _UNKNOWN
    return value


def _references(terms: Any) -> Iterator[Sequence[Mapping[str, Any]]]:
    """Every reference and variable in terms of opa's syntax tree, as its steps."""
    if isinstance(terms, list):
        for each in terms:
            yield from _references(each)
    elif isinstance(terms, Mapping):
        kind, value = terms.get("type"), terms.get("value")
        if kind == "var":
            yield (terms,)
        elif kind == "ref" and isinstance(value, list) and value:
            yield value
        elif isinstance(value, list | Mapping):
            yield from _references(value)


def _constants(event: Mapping[str, Any]) -> Iterator[Json]:
    """The numbers and texts that the condition compares, as they stand or bound to a variable."""
    terms = event["Node"]["terms"]
    bound: Mapping[str, Mapping[str, Any]] = {each["name"]: each for each in event["Locals"]}
    for term in terms[1:] if isinstance(terms, list) else ():
        given: Mapping[str, Any] = bound.get(term["value"], term) if term.get("type") == "var" else term
        if given.get("type") in ("number", "string"):
            yield to_json(given["value"])


def _plain(term: Mapping[str, Any]) -> Json:
    """A term of opa's syntax tree as JSON; sets as lists."""
    kind, value = term.get("type"), term.get("value")
    if kind in ("array", "set"):
        return [_plain(each) for each in value or ()]
    if kind == "object":
        return {str(_plain(key)): _plain(item) for key, item in value or ()}
    return None if kind == "null" else to_json(value)
