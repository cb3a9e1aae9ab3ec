"""Which rules fired on an input and which did not, each with its conditions, their values, and the places in the sources: from opa's trace.

A condition that asks another rule or a function has the conditions of that too.
"""

import itertools
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
_MOST_HELPERS: Final = 4
"""Definitions of one helper that are shown with a condition."""
_DEEPEST: Final = 3
"""Helpers within helpers."""


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
    helpers: "tuple[RuleTrace, ...]" = ()
    """The rules and functions that it asks, as far as they were evaluated."""


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
    within: int = 0
    """The number of the query of the rule that asked; 0 for a rule with an id."""


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

    def package(self, location: Mapping[str, Any]) -> str:
        """The name of the package that the place is in."""
        self.line(location)
        lines = self._lines[str(location["file"])]
        return next((each.split()[1] for each in lines if each.startswith("package ")), "")


def _read(events: Iterable[Mapping[str, Any]], sources: _Sources, document: Json) -> Trace:
    queries: dict[int, _Query] = {}
    inside: dict[int, int] = {}
    """Of every query the one of the rule that it belongs to: a comprehension has one of its own."""
    compared: dict[str, Json] = {}
    for event in events:
        node, number = event["Node"], event["QueryID"]
        if isinstance(node, Mapping) and "terms" in node:
            compared.update((json.dumps(value, sort_keys=True), value) for value in _constants(event))
        if event["Op"] == "Enter":
            within = inside.get(event["ParentID"], 0)
            named = _named(event) or _helper(event, within, sources)
            if named is not None:
                queries[number] = named
            inside[number] = number if named is not None else within
        query = queries.get(number)
        if query is not None and isinstance(node, Mapping):
            _note(query, event)
    helpers: dict[str, list[tuple[int, _Query]]] = {}
    for number, query in queries.items():
        if query.within:
            helpers.setdefault(query.rule, []).append((number, query))
    reader = _Reader(sources=sources, document=document, helpers=helpers)
    named_queries = ((number, query) for number, query in queries.items() if not query.within)
    found = (reader.rule(number, query) for number, query in _furthest(named_queries))
    return Trace(
        rules=tuple(sorted(found, key=lambda each: (not each.fired, each.rule))), compared=tuple(compared.values())
    )


def _note(query: _Query, event: Mapping[str, Any]) -> None:
    """Keep what the event says of the query."""
    if event["Op"] == "Exit":
        query.fired = True
    elif event["Op"] in ("Eval", "Fail") and "index" in event["Node"]:
        index = int(event["Node"]["index"])
        if index >= query.deepest:
            query.deepest = index
            query.reached[index] = event
        else:
            query.reached.setdefault(index, event)


def _helper(event: Mapping[str, Any], within: int, sources: _Sources) -> _Query | None:
    """The query of a rule or function without an id that another one asks, named as it is asked for; None for every other."""
    node = event["Node"]
    if not within or not isinstance(node, Mapping) or "head" not in node:
        return None
    head, location = node["head"], event["Location"]
    name = head.get("name") or str(head["ref"][0]["value"])
    return _Query(rule=f"{sources.package(location)}.{name}", title="", source=_place(location), within=within)


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


def _furthest(queries: Iterable[tuple[int, _Query]]) -> Iterator[tuple[int, _Query]]:
    """Of each rule the query that fired, or else the one in which most conditions held."""
    best: dict[tuple[str, str], tuple[int, _Query]] = {}
    for number, query in queries:
        key = query.rule, query.source
        known = best.get(key)
        if known is None or (query.fired, query.deepest) > (known[1].fired, known[1].deepest):
            best[key] = number, query
    yield from best.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Makes queries into what is shown of them."""

    sources: _Sources
    document: Json
    helpers: Mapping[str, Sequence[tuple[int, _Query]]]
    """The queries of helpers by name, with their numbers."""

    def rule(self, number: int, query: _Query, depth: int = 0) -> RuleTrace:
        first = min(query.reached, default=0)
        # What the head of the rule holds is evaluated after the body; it stands above it, and is no condition.
        indexes = [
            index
            for index in sorted(query.reached)
            if query.reached[index]["Location"]["row"] >= query.reached[first]["Location"]["row"]
        ]
        conditions = [
            self._condition(number, query.reached[index], depth, held=query.fired or index < query.deepest)
            for index in indexes[:_MOST_CONDITIONS]
        ]
        return RuleTrace(
            rule=query.rule, title=query.title, source=query.source, fired=query.fired, conditions=_joined(conditions)
        )

    def _condition(self, number: int, event: Mapping[str, Any], depth: int, *, held: bool) -> Condition:
        location = event["Location"]
        names = dict.fromkeys(_asked(event["Node"]["terms"])) if depth < _DEEPEST else {}
        return Condition(
            text=self.sources.line(location),
            source=_place(location),
            held=held,
            values={name: _short(value) for name, value in _values(event, self.document).items()},
            helpers=tuple(trace for name in names for trace in self._helpers(name, number, depth + 1)),
        )

    def _helpers(self, name: str, number: int, depth: int) -> Iterator[RuleTrace]:
        """What was evaluated for this query; else what was for another one: opa evaluates a rule once and keeps its value."""
        known = self.helpers.get(name, ())
        asked = [each for each in known if each[1].within == number] or known
        found = sorted(_furthest(asked), key=lambda each: not each[1].fired)
        return (self.rule(*each, depth) for each in found[:_MOST_HELPERS])


def _asked(terms: Any) -> Iterator[str]:
    """The names of the rules and functions of policies in a condition, such as `sentinel.lib.effects.is_declared`."""
    for head, *path in _references(terms):
        if head.get("value") != "data":
            continue
        steps = [str(each["value"]) for each in itertools.takewhile(lambda each: each["type"] == "string", path)]
        yield from (".".join(steps[:length]) for length in range(2, len(steps) + 1))


def _joined(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """One condition for each line, which opa may have taken apart."""
    lines: dict[str, Condition] = {}
    for each in conditions:
        known = lines.get(each.source)
        lines[each.source] = each if known is None else _both(known, each)
    return tuple(lines.values())


def _both(known: Condition, other: Condition) -> Condition:
    helpers = {(each.rule, each.source): each for each in (*other.helpers, *known.helpers)}
    held, values = known.held and other.held, {**known.values, **other.values}
    return replace(other, held=held, values=values, helpers=tuple(helpers.values()))


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
