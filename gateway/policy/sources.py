"""The source files of a policy bundle (every `.rego` file except tests, and `data/*.json`), and the check of its guardrail packages before a build."""

import hashlib
import json
import re
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
_OF_GUARDRAILS = re.compile(r"^package\s.*sentinel.*rules", re.MULTILINE)
_REQUIRED = frozenset({"id", "verdict", "message", "address", "attribute"})
_OPTIONAL = frozenset({"holder", "retry_after_ns"})
_VERDICTS = ("deny", "hold")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailSource:
    """One parsed file of a guardrail package."""

    package: str
    """Dotted name below `sentinel.rules`."""
    place: str
    """`file:line` of the package clause."""
    file: str
    rules: tuple[Mapping[str, Any], ...]
    """The rules as `opa parse` prints them."""

    def at(self, rule: Mapping[str, Any]) -> str:
        """`file:line` of one of the rules."""
        return f"{self.file}:{rule['head']['location']['row']}"


def check_guardrails(directory: Path, tool: Path) -> None:
    """Raise `errors.PolicyInvalid`, with file and line of every mistake, if a guardrail package could not be evaluated.

    Such a package would compile, load, and then have every change refused.
    """
    sources = tuple(guardrail_sources(directory, tool))
    mistakes = [mistake for source in sources for mistake in _mistakes(source)]
    found = {source.package for source in sources if any(_is_findings(rule) for rule in source.rules)}
    first = {source.package: source for source in reversed(sources)}
    mistakes += [
        f"{source.place}: The package sentinel.rules.{name} has no findings, so it could never be evaluated. "
        "Write `findings contains {…} if {…}`, or move what it holds to another package, such as sentinel.lib."
        for name, source in first.items()
        if name not in found
    ]
    if mistakes:
        raise PolicyInvalid("The policies cannot be evaluated:\n" + "\n".join(f"  {each}" for each in mistakes))


def guardrail_sources(directory: Path, tool: Path) -> Iterator[GuardrailSource]:
    """The files of the guardrail packages, parsed. Raises `errors.PolicyInvalid` for one that opa cannot parse."""
    for path in source_paths(directory):
        if path.suffix == ".rego" and _OF_GUARDRAILS.search(path.read_text(encoding="utf-8", errors="replace")):
            file = path.relative_to(directory).as_posix()
            source = _parsed(directory, file, tool)
            if source is not None:
                yield source


def _parsed(directory: Path, file: str, tool: Path) -> GuardrailSource | None:
    options = ["parse", "--format", "json", "--json-include", "locations", file]
    module = json.loads(opa_command.opa_output(tool, options, cwd=directory))
    steps = tuple(str(step["value"]) for step in module["package"]["path"])
    if steps[: len(PREFIX)] != PREFIX or steps == PREFIX:
        return None
    return GuardrailSource(
        package=".".join(steps[len(PREFIX) :]),
        place=f"{file}:{module['package']['location']['row']}",
        file=file,
        rules=tuple(module.get("rules", ())),
    )


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
