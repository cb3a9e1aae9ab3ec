"""Refuses policies that name a member which the input or the data do not have: such a rule would never be true, and nobody would see it."""

import difflib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gateway.core.errors import PolicyInvalid
from gateway.policy import opa_command
from gateway.policy.input_schema import INPUT_SCHEMA
from gateway.policy.sources import parsed_modules, source_paths

_DATA: Final = ("data", "data")
"""Where the content of `data/*.json` is."""


def check_member_names(directory: Path, tool: Path, modules: Mapping[str, Any] | None = None) -> None:
    """Raise `errors.PolicyInvalid`, with file and line, for a member of the input or of `data/*.json` that does not exist.

    opa itself finds members of what a rule goes through in a loop; members of what may be null, and of data, are found here.
    `modules` are the `parsed_modules`, where they are known.
    """
    with tempfile.TemporaryDirectory(prefix="sentinel-schema-") as scratch:
        schema = Path(scratch) / "input.json"
        schema.write_text(json.dumps(INPUT_SCHEMA))
        opa_command.opa_output(tool, ["check", "--strict", "--schema", str(schema), "."], cwd=directory)
    data: dict[str, Any] = {}
    for path in source_paths(directory):
        if path.suffix == ".json":
            data |= json.loads(path.read_bytes())
    modules = parsed_modules(directory, tool) if modules is None else modules
    mistakes = [
        mistake
        for file, module in modules.items()
        for mistake in _mistakes(file, (directory / file).read_text(encoding="utf-8", errors="replace"), module, data)
    ]
    if mistakes:
        told = "\n".join(f"  {each}" for each in dict.fromkeys(mistakes))
        raise PolicyInvalid(f"The policies name what does not exist:\n{told}")


def _mistakes(file: str, text: str, module: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    aliases: dict[str, tuple[str, ...]] = {}
    for each in module.get("imports", ()):
        path = _steps(each["path"]["value"])
        aliases[each.get("alias") or path[-1]] = path
        if problem := _problem(path, data):
            yield f"{file}:{_line(text, path)}: {problem}"
    for term in _references(module.get("rules", ())):
        head = term["value"][0]
        if head.get("type") != "var":
            continue
        written = _steps(term["value"])
        steps = (*aliases.get(head["value"], (head["value"],)), *written[1:])
        if problem := _problem(steps, data):
            yield f"{file}:{_line(text, written)}: {problem}"


def _line(text: str, steps: Sequence[str]) -> int:
    """The first line on which the reference is written."""
    wanted = ".".join(steps).replace(".[]", "[")
    return next((number for number, line in enumerate(text.splitlines(), 1) if wanted in line), 1)


def _references(value: object) -> Iterator[Mapping[str, Any]]:
    """Every reference in a part of a parsed module."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            if part.get("type") == "ref" and isinstance(part.get("value"), list):
                yield part
            todo.extend(part.values())
        elif isinstance(part, list):
            todo.extend(part)


def _steps(terms: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names that a reference begins with; it ends at the first step that only an evaluation tells. A loop's step is `[]`."""
    found: list[str] = []
    for number, term in enumerate(terms):
        if term["type"] == "string" or (number == 0 and term["type"] == "var"):
            found.append(term["value"])
        elif term["type"] in ("var", "number"):
            found.append("[]")
        else:
            break
    return tuple(found)


def _problem(steps: Sequence[str], data: Mapping[str, Any]) -> str:
    """Why the reference leads nowhere; empty if it may lead to something."""
    if steps[: len(_DATA)] == _DATA:
        return _in_data(steps, data)
    return _in_input(steps) if steps[0] == "input" else ""


def _in_data(steps: Sequence[str], data: Mapping[str, Any]) -> str:
    value: Any = data
    for number, step in enumerate(steps[len(_DATA) :], len(_DATA)):
        if step == "[]" or not isinstance(value, Mapping):
            return ""
        if step not in value:
            return _unknown(steps[:number], step, value)
        value = value[step]
    return ""


def _in_input(steps: Sequence[str]) -> str:
    schema: Mapping[str, Any] = INPUT_SCHEMA
    for number, step in enumerate(steps[1:], 1):
        schema = next((each for each in schema.get("anyOf", ()) if each.get("type") == "object"), schema)
        if step == "[]" and "items" in schema:
            schema = schema["items"]
        elif step != "[]" and schema.get("additionalProperties") is False:
            if step not in schema["properties"]:
                return _unknown(steps[:number], step, schema["properties"])
            schema = schema["properties"][step]
        else:
            return ""
    return ""


def _unknown(parents: Sequence[str], name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(sorted(known)[:10])}."
    return f"{'.'.join(parents)} has no member {name!r}; {hint}"
