"""The built-ins of documents that OPA's Wasm lacks: patches, subsets, paths of a graph, JSON with an indent, and YAML."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from gateway.policy.builtins.evaluation import LARGEST_VALUE, BuiltinError, Evaluation, TooMuch, limited
from gateway.policy.builtins.operands import array, entries, items, members, text
from gateway.policy.rego_values import RegoLiteral, RegoObject, RegoSet, Term, equal, sort_key, to_text

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_HTML: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPED: Final = re.compile("[<>&\u2028\u2029]")


def _patch(evaluation: Evaluation, source: Term, operations: Term) -> Term:
    """The document after the operations of a JSON patch (RFC 6902), which OPA also lets change sets."""
    document, size = source, len(to_text(source))
    for each in array(operations):
        operation = members(each)
        name = operation.get("op")
        if not isinstance(name, str) or name not in _OPERATIONS:
            raise BuiltinError("an operation of the patch is not known")
        document, added = _OPERATIONS[name](evaluation, document, operation)
        size += added
        if size > LARGEST_VALUE:
            raise TooMuch(f"json.patch would return more than {LARGEST_VALUE} characters")
    return document


def _add(evaluation: Evaluation, document: Term, operation: Mapping[str, Term]) -> tuple[Term, int]:
    value = _needed(operation, "value")
    return _inserted(evaluation, document, _path(operation, "path"), value), len(to_text(value))


def _remove(evaluation: Evaluation, document: Term, operation: Mapping[str, Term]) -> tuple[Term, int]:
    return _removed(evaluation, document, _path(operation, "path")), 0


def _replace(evaluation: Evaluation, document: Term, operation: Mapping[str, Term]) -> tuple[Term, int]:
    value, path = _needed(operation, "value"), _path(operation, "path")
    if path:
        document = _removed(evaluation, document, path)
    return _inserted(evaluation, document, path, value), len(to_text(value))


def _move(evaluation: Evaluation, document: Term, operation: Mapping[str, Term]) -> tuple[Term, int]:
    origin, path = _path(operation, "from"), _path(operation, "path")
    value = _at(document, origin)
    return _inserted(evaluation, _removed(evaluation, document, origin), path, value), 0


def _copy(evaluation: Evaluation, document: Term, operation: Mapping[str, Term]) -> tuple[Term, int]:
    value = _at(document, _path(operation, "from"))
    return _inserted(evaluation, document, _path(operation, "path"), value), len(to_text(value))


def _test(_evaluation: Evaluation, document: Term, operation: Mapping[str, Term]) -> tuple[Term, int]:
    if not equal(_at(document, _path(operation, "path")), _needed(operation, "value")):
        raise BuiltinError("a value of the patch is another one")
    return document, 0


_OPERATIONS: Final = {"add": _add, "remove": _remove, "replace": _replace, "move": _move, "copy": _copy, "test": _test}
"""Each returns the document and how many characters it added."""


def _needed(operation: Mapping[str, Term], name: str) -> Term:
    if name not in operation:
        raise BuiltinError(f"an operation of the patch has no {name}")
    return operation[name]


def _path(operation: Mapping[str, Term], name: str) -> Sequence[Term]:
    match _needed(operation, name):
        case "":
            return ()
        case str() as written:
            return [part.replace("~1", "/").replace("~0", "~") for part in written.lstrip("/").split("/")]
        case list() as steps:
            return steps
        case _:
            raise BuiltinError("a path is a string or an array")


def _at(document: Term, path: Sequence[Term]) -> Term:
    for step in path:
        document = _child(document, step)
    return document


def _child(parent: Term, step: Term) -> Term:
    found: list[Term]
    match parent:
        case list():
            return parent[_place(step, len(parent) - 1)]
        case RegoSet():
            found = [each for each in parent.members if equal(each, step)]
        case dict() | RegoObject():
            found = [value for key, value in entries(parent) if equal(key, step)]
        case _:
            found = []
    if not found:
        raise BuiltinError("a path leads to nothing")
    return found[0]


def _place(step: Term, last: int) -> int:
    if isinstance(step, str) and _INDEX.fullmatch(step):
        step = int(step)
    if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= last:
        raise BuiltinError("a path leads to nothing")
    return step


def _changed(parent: Term, step: Term, value: Term) -> Term:
    """The parent with another value for a member that it has."""
    match parent:
        case list():
            place = _place(step, len(parent) - 1)
            return [*parent[:place], value, *parent[place + 1 :]]
        case RegoSet():
            return _set([each for each in parent.members if not equal(each, step)] + [value])
        case _:
            return _object([(key, value if equal(key, step) else each) for key, each in entries(parent)])


def _inserted(evaluation: Evaluation, document: Term, path: Sequence[Term], value: Term) -> Term:
    evaluation.step()
    if not path:
        return value
    step, rest = path[0], path[1:]
    if rest:
        return _changed(document, step, _inserted(evaluation, _child(document, step), rest, value))
    match document:
        case list():
            place = len(document) if step == "-" else _place(step, len(document))
            return [*document[:place], value, *document[place:]]
        case RegoSet():
            if not equal(step, value):
                raise BuiltinError("a member of a set is its own key")
            return _set([*document.members, value])
        case dict() | RegoObject():
            return _object([*((key, each) for key, each in entries(document) if not equal(key, step)), (step, value)])
        case _:
            raise BuiltinError("a path leads into a value that has no members")


def _removed(evaluation: Evaluation, document: Term, path: Sequence[Term]) -> Term:
    evaluation.step()
    if not path:
        raise BuiltinError("the whole document cannot be removed")
    step, rest = path[0], path[1:]
    child = _child(document, step)
    if rest:
        return _changed(document, step, _removed(evaluation, child, rest))
    match document:
        case list():
            place = _place(step, len(document) - 1)
            return [*document[:place], *document[place + 1 :]]
        case RegoSet():
            return RegoSet(tuple(each for each in document.members if not equal(each, step)))
        case _:
            return _object([(key, each) for key, each in entries(document) if not equal(key, step)])


def _object(content: Sequence[tuple[Term, Term]]) -> Term:
    named = {key: value for key, value in content if isinstance(key, str)}
    return named if len(named) == len(content) else RegoObject(tuple(content))


def _set(content: Sequence[Term]) -> RegoSet:
    return RegoSet(tuple({to_text(each): each for each in content}.values()))


def _object_subset(evaluation: Evaluation, outer: Term, inner: Term) -> Term:
    match outer, inner:
        case (dict() | RegoObject(), dict() | RegoObject()) | (RegoSet(), RegoSet()) | (list(), list()):
            return _is_subset(evaluation, outer, inner)
        case list(), RegoSet():
            have = {to_text(each) for each in outer}
            evaluation.step(len(have))
            # OPA answers false for an empty array and an empty set: it looks for the last match among no members.
            return bool(outer) and all(to_text(each) in have for each in inner.members)
        case _:
            raise BuiltinError("both arguments must be of the same type, or an array and a set")


def _is_subset(evaluation: Evaluation, outer: Term, inner: Term) -> bool:
    evaluation.step()
    match outer, inner:
        case (dict() | RegoObject(), dict() | RegoObject()):
            have = {to_text(key): value for key, value in entries(outer)}
            return all(
                (name := to_text(key)) in have
                and (equal(have[name], value) or _is_subset(evaluation, have[name], value))
                for key, value in entries(inner)
            )
        case RegoSet(), RegoSet():
            known = {to_text(each) for each in outer.members}
            return all(to_text(each) in known for each in inner.members)
        case list(), list():
            return _has_run(evaluation, outer, inner)
        case _:
            return False


def _has_run(evaluation: Evaluation, outer: Sequence[Term], inner: Sequence[Term]) -> bool:
    """Whether the members of one array follow each other in another one."""
    keys, wanted = [sort_key(each) for each in outer], [sort_key(each) for each in inner]
    for begin in range(len(keys) - len(wanted) + 1):
        evaluation.step(1 + len(wanted))
        if keys[begin : begin + len(wanted)] == wanted:
            return True
    return False


@dataclass(slots=True, kw_only=True)
class _Paths:
    """The paths that were found in a graph."""

    evaluation: Evaluation
    edges: Mapping[str, Term]
    found: dict[str, list[Term]] = field(default_factory=dict)
    size: int = 0

    def follow(self, node: Term, path: list[Term], reached: frozenset[str]) -> None:
        """Go on from a node, to which a path leads."""
        self.evaluation.step(1 + len(path))
        name = to_text(node)
        if name not in self.edges:
            self._add(path)
        else:
            self.branch(node, path, reached)

    def branch(self, node: Term, path: list[Term], reached: frozenset[str]) -> None:
        """Go on along each edge of a node of the graph."""
        name = to_text(node)
        path, reached = [*path, node], reached | {name}
        neighbours = _vertices(self.edges[name])
        if not neighbours:
            self._add(path)
        for each in neighbours:
            if to_text(each) in reached and len(path) > 1:
                self._add(path)
            else:
                self.follow(each, path, reached)

    def _add(self, path: list[Term]) -> None:
        written = to_text(path)
        self.size += len(written) * (written not in self.found)
        self.found[written] = path
        if self.size > LARGEST_VALUE:
            raise TooMuch(f"graph.reachable_paths would return more than {LARGEST_VALUE} characters")


def _reachable_paths(evaluation: Evaluation, graph: Term, initial: Term) -> Term:
    paths = _Paths(evaluation=evaluation, edges={to_text(key): value for key, value in entries(graph)})
    for node in items(initial):
        if to_text(node) in paths.edges:
            paths.branch(node, [], frozenset())
    return RegoSet(tuple(paths.found.values()))


def _vertices(value: Term) -> Sequence[Term]:
    return items(value) if isinstance(value, list | RegoSet) else ()


def as_json(value: Term) -> Any:
    """A value as JSON has it: sets are sorted arrays, and keys are texts."""
    match value:
        case RegoSet():
            return [as_json(each) for each in sorted(value.members, key=sort_key)]
        case list():
            return [as_json(each) for each in value]
        case dict() | RegoObject():
            pairs = [(key if isinstance(key, str) else to_text(key), as_json(each)) for key, each in entries(value)]
            return dict(sorted(pairs))
        case _:
            return value


def go_json(value: Term, *, indent: str | None = None) -> str:
    """JSON as Go's `encoding/json` writes it, with `<`, `>` and `&` escaped."""
    separators = (",", ":") if indent is None else (",", ": ")
    written = _Encoder(ensure_ascii=False, indent=indent, separators=separators).encode(as_json(value))
    return _ESCAPED.sub(lambda match: _HTML[match[0]], written)


class _Encoder(json.JSONEncoder):
    """Keeps the digits of a number as the policy wrote them."""

    def iterencode(self, o: Any, _one_shot: bool = False) -> Any:
        numbers: dict[str, str] = {}

        def marked(value: Any) -> Any:
            match value:
                case RegoLiteral():
                    mark = f"\0{len(numbers)}\0"
                    numbers[json.dumps(mark)] = value.text
                    return mark
                case list():
                    return [marked(each) for each in value]
                case dict():
                    return {key: marked(each) for key, each in value.items()}
                case _:
                    return value

        written = "".join(super().iterencode(marked(o), False))
        yield (
            re.sub(r'"\\u0000\d+\\u0000"', lambda match: numbers.get(match[0], match[0]), written)
            if numbers
            else written
        )


def _marshal_with_options(value: Term, options: Term) -> Term:
    chosen = members(options)
    if unknown := set(chosen) - {"prefix", "indent", "pretty"}:
        raise BuiltinError(f"there is no option {min(unknown)}")
    prefix, indent = text(chosen.get("prefix", "")), text(chosen.get("indent", "\t"))
    pretty = chosen.get("pretty", "prefix" in chosen or "indent" in chosen)
    if not isinstance(pretty, bool):
        raise BuiltinError("pretty is true or false")
    if not pretty:
        return limited(go_json(value))
    return limited(prefix + go_json(value, indent=indent).replace("\n", "\n" + prefix))


def _yaml_loader() -> Any:
    yaml: Any = import_module("yaml")  # most policies read no YAML

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """YAML 1.2's scalars, as Go's yaml reads them: `yes` is a text, and so is a date."""

    Loader.yaml_implicit_resolvers = {}
    for tag, pattern, first in (
        ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
        ("int", r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)$", "-+0123456789"),
        ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
        ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
        ("merge", r"^<<$", ["<"]),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
    return Loader


def _yaml(value: Term) -> Any:
    yaml: Any = import_module("yaml")

    try:
        loader = _yaml_loader()(text(value))
        try:
            found = loader.get_data() if loader.check_data() else None
            while loader.check_event():  # other documents are left out, and must be YAML too
                loader.get_event()
            return found
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise BuiltinError(f"this is not YAML: {type(error).__name__}") from None


def _plain(evaluation: Evaluation, value: Any) -> Term:
    """The value with every alias written out, which may be many more than the text has."""
    evaluation.step()
    match value:
        case None | bool() | int() | str():
            return value
        case float() if value == value and abs(value) != float("inf"):  # noqa: PLR0124  not NaN
            return value
        case list():
            return [_plain(evaluation, each) for each in value]
        case dict():
            return {
                key if isinstance(key, str) else to_text(_plain(evaluation, key)): _plain(evaluation, each)
                for key, each in value.items()
            }
        case _:
            raise BuiltinError("YAML with a value that JSON lacks")


def _yaml_unmarshal(evaluation: Evaluation, value: Term) -> Term:
    return _plain(evaluation, _yaml(value))


def _yaml_is_valid(value: Term) -> Term:
    try:
        _yaml(value)
    except BuiltinError:
        return False
    return True


def _yaml_marshal(value: Term) -> Term:
    yaml: Any = import_module("yaml")

    loader = yaml.SafeLoader

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Writes lists and texts as Go's yaml does: lists are indented, and what is a text only in YAML 1.2 is quoted."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:  # noqa: ARG002  the library's signature
            return super().increase_indent(flow, False)

    def written(dumper: Any, text_value: str) -> Any:
        plain = loader("").resolve(yaml.ScalarNode, text_value, (True, False)) == "tag:yaml.org,2002:str"
        style = "|" if "\n" in text_value else None if plain else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text_value, style=style)

    Dumper.add_representer(str, written)
    options = {"default_flow_style": False, "allow_unicode": True, "width": 10**6}
    dumped: str = yaml.dump(_numbers(as_json(value)), Dumper=Dumper, **options)
    return limited(dumped)


def _numbers(value: Any) -> Any:
    match value:
        case RegoLiteral():
            return int(value) if value.is_integer() else float(value)
        case list():
            return [_numbers(each) for each in value]
        case dict():
            return {key: _numbers(each) for key, each in value.items()}
        case _:
            return value


PLAIN: Final[Mapping[str, Callable[..., Term]]] = {
    "json.marshal_with_options": _marshal_with_options,
    "yaml.marshal": _yaml_marshal,
    "yaml.is_valid": _yaml_is_valid,
}
MEASURED: Final[Mapping[str, Callable[..., Term]]] = {
    "json.patch": _patch,
    "object.subset": _object_subset,
    "graph.reachable_paths": _reachable_paths,
    "yaml.unmarshal": _yaml_unmarshal,
}
