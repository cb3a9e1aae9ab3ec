"""`python -m gateway.policy.ci [DIRECTORY]`: the CI checks of the policies. Prints each result; exits with 1 if one fails.

`opa check --strict`, `opa fmt --list`, the Rego tests with coverage, rule ids that match their METADATA, and a bundle that a gateway
would run and that is byte for byte what its sources build. DIRECTORY is that of your own policies; default: the shipped ones.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from gateway.core.errors import PolicyInvalid
from gateway.policy import opa_command
from gateway.policy.bundle import SHIPPED, build, read_bundle
from gateway.policy.bundle_check import try_bundle
from gateway.policy.sources import read_sources, shipped, source_paths

PINNED = "1.22.0"
"""The version of opa that builds the shipped bundle. Another version may produce other bytes."""
_SEVERITIES = {"low", "medium", "high", "critical"}
_FINDINGS = re.compile(r"^findings contains", re.MULTILINE)
_ID = re.compile(r'"id": "([^"\s]+)"')


def check_strict(policies: Path, tool: Path) -> str:
    """`opa check --strict`. Raises `errors.PolicyInvalid` with file and line."""
    opa_command.opa_output(tool, ["check", "--strict", "."], cwd=policies)
    return "no mistakes"


def check_format(policies: Path, tool: Path) -> str:
    """`opa fmt --list`. Raises `errors.PolicyInvalid` with the files that are not formatted."""
    files = opa_command.opa_output(tool, ["fmt", "--list", "."], cwd=policies).split()
    if files:
        raise PolicyInvalid(f"Not formatted: {', '.join(files)}. Run `opa fmt --write policies`.")
    return "every file"


def check_tests(policies: Path, tool: Path) -> str:
    """`opa test`, and again with coverage: tests must cover every line of every rule. Raises `errors.PolicyInvalid`."""
    # Not --verbose: it traces every test, which takes seven times as long.
    done = opa_command.run_opa(tool, ["test", "--timeout", opa_command.OPA_TEST_TIMEOUT, "."], cwd=policies)
    if done.returncode != 0:
        raise PolicyInvalid(f"The policies' tests fail:\n{done.stdout}{done.stderr}")
    covered: Mapping[str, Mapping[str, object]] = json.loads(
        opa_command.opa_output(
            tool, ["test", "--timeout", opa_command.OPA_TEST_TIMEOUT, "--coverage", "."], cwd=policies
        )
    )["files"]
    rules = [path.relative_to(policies).as_posix() for path in source_paths(policies) if path.suffix == ".rego"]
    uncovered = {name: covered.get(name, {}).get("not_covered", "all") for name in rules}
    uncovered = {
        name: lines for name, lines in uncovered.items() if name not in covered or "not_covered" in covered[name]
    }
    if uncovered:
        raise PolicyInvalid(f"Tests do not cover every rule: {json.dumps(uncovered)}.")
    passed = done.stdout.rpartition("PASS: ")[2].partition("/")[0]
    return f"{passed} tests pass and cover every line of {len(rules)} files"


def check_metadata(policies: Path, tool: Path) -> str:
    """Every findings rule has METADATA with a severity and the id of its finding, and ids are unique. Raises `errors.PolicyInvalid`."""
    del tool
    ids: list[str] = []
    for path in source_paths(policies):
        if path.suffix == ".rego":
            ids += _ids(path.relative_to(policies).as_posix(), path.read_text(encoding="utf-8"))
    if duplicates := sorted({each for each in ids if ids.count(each) > 1}):
        raise PolicyInvalid(f"Two rules have the id {', '.join(duplicates)}.")
    return f"{len(ids)} rules: {' '.join(sorted(ids))}"


def check_bundle(policies: Path, tool: Path) -> str:
    """The committed bundle is exactly what opa builds from the sources, and a gateway runs it. Raises `errors.PolicyInvalid`.

    The shipped bundle is built with the pinned opa, a bundle of your own with any; it must be the one at hand.
    """
    committed, sources = read_bundle(policies / SHIPPED), read_sources(policies)
    wanted = PINNED if policies == shipped() else committed.manifest.opa
    if (version := opa_command.opa_version(tool)) != wanted:
        raise PolicyInvalid(
            f"The bundle was built with opa {wanted}, so only opa {wanted} can check it, but this is opa {version}. "
            f"Install opa {wanted}; policies of your own can also be rebuilt with this one: `sentinel policy build`."
        )
    built = build(sources, tool)
    try_bundle(built, sources.files)
    for name, expected, actual in (
        ("manifest.json", (policies / SHIPPED / "manifest.json").read_bytes(), built.manifest_bytes),
        ("policy.wasm", committed.wasm, built.wasm),
        ("data.json", committed.data, built.data),
    ):
        if expected != actual:
            raise PolicyInvalid(f"policies/{SHIPPED}/{name} does not match the sources. Run `sentinel policy build`.")
    return f"byte for byte, revision {built.revision}"


CHECKS: tuple[tuple[str, Callable[[Path, Path], str]], ...] = (
    ("opa check --strict", check_strict),
    ("opa fmt --list", check_format),
    ("opa test --coverage", check_tests),
    ("metadata", check_metadata),
    ("shipped bundle", check_bundle),
)


def run_checks(policies: Path) -> bool:
    """Run every check and print its result; returns whether all passed."""
    tool = opa_command.find_opa()
    if tool is None:
        _print("policies: there is no `opa` on PATH or in .tools/bin; `make opa` builds it.")
        return False
    results = [_run_check(name, check, policies, tool) for name, check in CHECKS]
    return all(results)


def _run_check(name: str, check: Callable[[Path, Path], str], policies: Path, tool: Path) -> bool:
    try:
        _print(f"policies: {name}: ok: {check(policies, tool)}")
    except PolicyInvalid as error:
        _print(f"policies: {name}: FAILED: {error}")
        return False
    return True


def _ids(name: str, text: str) -> list[str]:
    """The ids of the findings rules in a file, each checked against the METADATA above it."""
    ids = []
    for match in _FINDINGS.finditer(text):
        rule = text[match.end() :].split("\n\n", 1)[0]
        literal = _ID.search(rule)
        above = text[: match.start()].rstrip("\n").rpartition("\n\n")[2]
        line = text.count("\n", 0, match.start()) + 1
        if literal is None:
            if "some finding in data.sentinel.rules" in rule:
                continue  # the rule that joins all packages has no id
            raise PolicyInvalid(f'{name}:{line}: this finding has no id, such as "id": "SEN-N001".')
        severity = re.search(r"^#   severity: (\w+)$", above, re.MULTILINE)
        stated = re.search(r"^#   id: (\S+)$", above, re.MULTILINE)
        if "# METADATA" not in above or severity is None or severity[1] not in _SEVERITIES:
            raise PolicyInvalid(f"{name}:{line}: {literal[1]} has no METADATA with a custom.severity.")
        if stated is None or stated[1] != literal[1]:
            raise PolicyInvalid(
                f"{name}:{line}: the finding's id is {literal[1]}, but that of its METADATA is {stated and stated[1]}."
            )
        ids.append(literal[1])
    return ids


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(0 if run_checks(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else shipped()) else 1)
