"""`python -m gateway.policy.ci`: what must hold of the policies before they are merged. Prints each result; exits with 1 if one fails.

Rego's own tests with coverage, `opa check --strict`, `opa fmt --list`, ids that match their metadata, and that the shipped
bundle is the one its sources build, byte for byte.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from gateway.errors import PolicyInvalid
from gateway.policy import opa_command
from gateway.policy.bundle import build, read_bundle
from gateway.policy.select_bundle import SHIPPED
from gateway.policy.sources import read_sources, shipped, source_paths

PINNED = "1.22.0"
"""The version of opa that the shipped bundle is built with; another one may build other bytes."""
_SEVERITIES = {"low", "medium", "high", "critical"}
_FINDINGS = re.compile(r"^findings contains", re.MULTILINE)
_ID = re.compile(r'"id": "(SEN-[A-Z][0-9]{3})"')


def check(policies: Path, tool: Path) -> str:
    """`opa check --strict`. Raises `errors.PolicyInvalid` with file and line."""
    opa_command.opa_output(tool, ["check", "--strict", "."], cwd=policies)
    return "no mistakes"


def formatted(policies: Path, tool: Path) -> str:
    """`opa fmt --list`. Raises `errors.PolicyInvalid` naming the files it would change."""
    files = opa_command.opa_output(tool, ["fmt", "--list", "."], cwd=policies).split()
    if files:
        raise PolicyInvalid(f"Not as `opa fmt` writes it: {', '.join(files)}. Run `opa fmt --write policies`.")
    return "every file"


def tested(policies: Path, tool: Path) -> str:
    """`opa test`, and again with coverage: every line of every rule must be reached. Raises `errors.PolicyInvalid`."""
    done = opa_command.run_opa(tool, ["test", "--verbose", "."], cwd=policies)
    if done.returncode != 0:
        raise PolicyInvalid(f"The policies' tests fail:\n{done.stdout}{done.stderr}")
    covered: Mapping[str, Mapping[str, object]] = json.loads(
        opa_command.opa_output(tool, ["test", "--coverage", "."], cwd=policies)
    )["files"]
    rules = [path.relative_to(policies).as_posix() for path in source_paths(policies) if path.suffix == ".rego"]
    lacking = {name: covered.get(name, {}).get("not_covered", "all") for name in rules}
    lacking = {name: gaps for name, gaps in lacking.items() if name not in covered or "not_covered" in covered[name]}
    if lacking:
        raise PolicyInvalid(f"Not every rule is reached by a test: {json.dumps(lacking)}.")
    return f"{done.stdout.count(': PASS')} tests pass and reach every line of {len(rules)} files"


def described(policies: Path, tool: Path) -> str:
    """Every findings rule has METADATA with a severity and the id that stands in its finding; ids are unique. Raises `errors.PolicyInvalid`."""
    del tool
    ids: list[str] = []
    for path in source_paths(policies):
        if path.suffix == ".rego":
            ids += _ids(path.relative_to(policies).as_posix(), path.read_text(encoding="utf-8"))
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise PolicyInvalid(f"Two rules have the id {', '.join(twice)}.")
    return f"{len(ids)} rules: {' '.join(sorted(ids))}"


def identical(policies: Path, tool: Path) -> str:
    """The shipped bundle is what its sources build with the pinned opa. Raises `errors.PolicyInvalid`."""
    if (found := opa_command.opa_version(tool)) != PINNED:
        raise PolicyInvalid(f"The shipped bundle is built with opa {PINNED}, and this is {found}.")
    held, built = read_bundle(policies / SHIPPED), build(read_sources(policies), tool)
    for name, ours, theirs in (
        ("manifest.json", (policies / SHIPPED / "manifest.json").read_bytes(), built.manifest_bytes),
        ("policy.wasm", held.wasm, built.wasm),
        ("data.json", held.data, built.data),
    ):
        if ours != theirs:
            raise PolicyInvalid(
                f"policies/{SHIPPED}/{name} is not what the sources build. Run `sentinel policy build`."
            )
    return f"byte for byte, revision {built.revision}"


STEPS: tuple[tuple[str, Callable[[Path, Path], str]], ...] = (
    ("opa check --strict", check),
    ("opa fmt --list", formatted),
    ("opa test --coverage", tested),
    ("metadata", described),
    ("shipped bundle", identical),
)


def verify(policies: Path) -> bool:
    """Run every step and print its result; whether all passed."""
    tool = opa_command.find_opa()
    if tool is None:
        _say("policies: there is no `opa` on PATH or in .tools/bin; `make setup` builds it.")
        return False
    results = [_step(name, step, policies, tool) for name, step in STEPS]
    return all(results)


def _step(name: str, step: Callable[[Path, Path], str], policies: Path, tool: Path) -> bool:
    try:
        _say(f"policies: {name}: ok: {step(policies, tool)}")
    except PolicyInvalid as error:
        _say(f"policies: {name}: FAILED: {error}")
        return False
    return True


def _ids(name: str, text: str) -> list[str]:
    """The ids of a file's findings rules, each with the comment above it."""
    ids = []
    for match in _FINDINGS.finditer(text):
        rule = text[match.end() :].split("\n\n", 1)[0]
        literal = _ID.search(rule)
        above = text[: match.start()].rstrip("\n").rpartition("\n\n")[2]
        line = text.count("\n", 0, match.start()) + 1
        if literal is None:
            if "some finding in data.sentinel.rules" in rule:
                continue  # the join of all packages makes no findings of its own
            raise PolicyInvalid(f"{name}:{line}: this finding has no id like SEN-N001.")
        severity = re.search(r"^#   severity: (\w+)$", above, re.MULTILINE)
        stated = re.search(r"^#   id: (\S+)$", above, re.MULTILINE)
        if "# METADATA" not in above or severity is None or severity[1] not in _SEVERITIES:
            raise PolicyInvalid(f"{name}:{line}: {literal[1]} has no METADATA with a custom.severity.")
        if stated is None or stated[1] != literal[1]:
            raise PolicyInvalid(
                f"{name}:{line}: the finding says {literal[1]} and its METADATA says {stated and stated[1]}."
            )
        ids.append(literal[1])
    return ids


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(0 if verify(shipped()) else 1)
