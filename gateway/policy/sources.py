"""The source files of a policy bundle (every `.rego` file except tests, and `data/*.json`), and the check of its guardrail packages before a build."""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.core.errors import PolicyInvalid
from gateway.policy import opa_command


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """A snapshot of all sources: contents by path relative to `directory`, with `/`."""

    directory: Path
    files: Mapping[str, bytes]

    @property
    def digests(self) -> Mapping[str, str]:
        """SHA-256 of each file, 64 hex digits."""
        return {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}


def shipped() -> Path:
    """The directory of the policies shipped with Sentinel: in the installed package, else in this checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_assets" / "policies"
    return installed if installed.is_dir() else package.parent / "policies"


def source_paths(directory: Path) -> list[Path]:
    """The sorted paths of the sources, without tests, the built bundle and hidden directories.

    Raises `errors.PolicyInvalid` if there is no policy.
    """
    rego = [path for path in directory.rglob("*.rego") if not path.name.endswith("_test.rego")]
    data = list((directory / "data").glob("*.json"))
    if not rego:
        raise PolicyInvalid(
            f"There are no policies (*.rego) in {directory}, and Sentinel does not run without policies."
        )
    return sorted(path for path in (*rego, *data) if not _is_excluded(path.relative_to(directory)))


def read_sources(directory: Path) -> Sources:
    """Read all sources once. Raises `errors.PolicyInvalid` if there are none or one cannot be read."""
    try:
        files = {path.relative_to(directory).as_posix(): path.read_bytes() for path in source_paths(directory)}
    except OSError as error:
        raise PolicyInvalid(f"The policies in {directory} cannot be read: {error}.") from error
    return Sources(directory=directory, files=files)


def _is_excluded(path: Path) -> bool:
    return any(part.startswith(".") or part == "bundle" for part in path.parts)


PREFIX = ("data", "sentinel", "rules")
"""Where the guardrail packages are, as the steps of a Rego path."""
_REQUIRED = frozenset({"id", "verdict", "message", "address", "attribute"})
_OPTIONAL = frozenset({"holder", "retry_after_ns"})
_VERDICTS = ("deny", "hold")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailSource:
    """One parsed file of a guardrail package."""

    package: str
    """Dotted name below `sentinel.rules`."""
    line: int
    """Of the package clause; 0 where lines are not told."""
    file: str
    rules: tuple[Mapping[str, Any], ...]
    """The rules as `opa parse` prints them."""

    @property
    def place(self) -> str:
        """`file:line` of the package clause."""
        return f"{self.file}:{self.line}"

    def at(self, rule: Mapping[str, Any]) -> str:
        """`file:line` of one of the rules."""
        return f"{self.file}:{_row(rule['head'])}"


def parsed_modules(directory: Path, tool: Path) -> Mapping[str, Any]:
    """The parsed policies by their file, all by one process; the lines of their parts are not told.

    Raises `errors.PolicyInvalid`, with file and line, for one that opa cannot parse.
    """
    texts = {
        path.relative_to(directory).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in source_paths(directory)
        if path.suffix == ".rego"
    }
    with tempfile.TemporaryDirectory(prefix="sentinel-modules-") as scratch:
        given = Path(scratch) / "modules.json"
        given.write_text(json.dumps(texts))
        query = "{file: module | some file, text in input; module := rego.parse_module(file, text)}"
        options = ["eval", "--format", "raw", "--import", "rego.v1", "--input", str(given), query]
        found: Mapping[str, Any] = json.loads(opa_command.opa_output(tool, options, cwd=Path(scratch)))
    # It leaves out what it cannot parse, without a reason. `opa parse` gives the reason.
    left_out = {file: _with_lines(directory, file, tool) for file in sorted(texts.keys() - found.keys())}
    return dict(sorted({**found, **left_out}.items()))


def guardrail_packages(modules: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the guardrail packages, below `sentinel.rules`."""
    return tuple(sorted({name for module in modules.values() if (name := _package(module))}))


def check_guardrails(directory: Path, tool: Path, modules: Mapping[str, Any] | None = None) -> None:
    """Raise `errors.PolicyInvalid`, with file and line of every mistake, if a guardrail package could not be evaluated.

    Such a package would compile, load, and then have every change refused. `modules` are the `parsed_modules`, where they are known.
    """
    modules = parsed_modules(directory, tool) if modules is None else modules
    sources = [source for file, module in modules.items() if (source := _guardrails(file, module))]
    found = {source.package for source in sources if any(_is_findings(rule) for rule in source.rules)}
    first = {source.package: source for source in reversed(sources)}
    wrong = [source.file for source in sources if any(_mistakes(source)) or source.package not in found]
    # opa tells lines of one file a process, so only what has a mistake is parsed again for them.
    lines = {file: source for file in wrong if (source := _guardrails(file, _with_lines(directory, file, tool)))}
    mistakes = [mistake for source in lines.values() for mistake in _mistakes(source)]
    mistakes += [
        f"{lines[source.file].place}: The package sentinel.rules.{name} has no findings, so it could never be evaluated. "
        "Write `findings contains {…} if {…}`, or move what it holds to another package, such as sentinel.lib."
        for name, source in first.items()
        if name not in found
    ]
    if mistakes:
        raise PolicyInvalid("The policies cannot be evaluated:\n" + "\n".join(f"  {each}" for each in mistakes))


def _with_lines(directory: Path, file: str, tool: Path) -> Mapping[str, Any]:
    """One parsed file, with the lines of its parts. Raises `errors.PolicyInvalid` if opa cannot parse it."""
    options = ["parse", "--format", "json", "--json-include", "locations", file]
    module: Mapping[str, Any] = json.loads(opa_command.opa_output(tool, options, cwd=directory))
    return module


def _package(module: Mapping[str, Any]) -> str:
    """The dotted name of a guardrail package below `sentinel.rules`; empty for any other package."""
    steps = tuple(str(step["value"]) for step in module["package"]["path"])
    return ".".join(steps[len(PREFIX) :]) if steps[: len(PREFIX)] == PREFIX else ""


def _guardrails(file: str, module: Mapping[str, Any]) -> GuardrailSource | None:
    package = _package(module)
    return (
        GuardrailSource(package=package, line=_row(module["package"]), file=file, rules=tuple(module.get("rules", ())))
        if package
        else None
    )


def _row(part: Mapping[str, Any]) -> int:
    """Its line; 0 where lines are not told."""
    return int(part.get("location", {}).get("row", 0))


def _mistakes(source: GuardrailSource) -> Iterator[str]:
    if "." in source.package:
        yield (
            f"{source.place}: The package sentinel.rules.{source.package} is nested and would not be evaluated; "
            "name it sentinel.rules.<name>, one level deep."
        )
    for rule in source.rules:
        name = rule["head"]["ref"][0]["value"]
        if name == "findings":
            yield from _findings_mistakes(source, rule)
        if name == "evaluated" and not _is_constantly_true(rule):
            yield (
                f"{source.at(rule)}: `evaluated` depends on the input, so changes would be refused where it is not true. "
                "Leave it out: whether a package was evaluated is seen by its findings."
            )


def _findings_mistakes(source: GuardrailSource, rule: Mapping[str, Any]) -> Iterator[str]:
    if not _is_findings(rule):
        yield (
            f"{source.at(rule)}: `findings` must be a set that is defined for every input: write `findings contains {{…}} if {{…}}`."
        )
        return
    key = rule["head"]["key"]
    if key["type"] != "object":
        return
    members = {name["value"]: value for name, value in key["value"] if name["type"] == "string"}
    if unknown := sorted(set(members) - _REQUIRED - _OPTIONAL):
        yield f"{source.at(rule)}: A finding has no member {', '.join(unknown)}. It has {', '.join(sorted(_REQUIRED))}."
    if missing := sorted(_REQUIRED - set(members)):
        yield f"{source.at(rule)}: The finding lacks {', '.join(missing)}."
    verdict = members.get("verdict", {})
    if verdict.get("type") == "string" and verdict["value"] not in _VERDICTS:
        yield f"{source.at(rule)}: The verdict {verdict['value']!r} must be {' or '.join(_VERDICTS)}; a policy cannot allow."


def _is_findings(rule: Mapping[str, Any]) -> bool:
    """Whether the rule adds to the set `findings`."""
    head = rule["head"]
    is_set = len(head["ref"]) == 1 and "key" in head and "value" not in head
    return bool(is_set and head["ref"][0]["value"] == "findings")


def _is_constantly_true(rule: Mapping[str, Any]) -> bool:
    value = rule["head"].get("value", {})
    generated = all(expression.get("generated") for expression in rule["body"]) or rule.get("default", False)
    return bool(generated and len(rule["head"]["ref"]) == 1 and value.get("type") == "boolean" and value["value"])
