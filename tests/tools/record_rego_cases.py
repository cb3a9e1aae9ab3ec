"""Records what OPA answers to its own published cases and to ours: `python -m tests.tools.record_rego_cases`.

Reads OPA's cases (`v1/test/cases`) from Go's module cache, where `make opa` leaves them, and takes those that call a built-in function
which OPA's Wasm expects from its host. Every answer is that of a running `opa`, without strict errors.
"""

import json
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml

from gateway.policy.builtins import REFUSED, SUPPLIED
from gateway.policy.ci import PINNED
from gateway.policy.opa_command import find_opa
from tests.kit.rego_cases import CASES, UNDEFINED, RegoCase, canonical_bindings, write_modules

_LICENCE = (
    "The cases in opa.json are from Open Policy Agent, Copyright The OPA Authors, Apache License 2.0 "
    "(https://www.apache.org/licenses/LICENSE-2.0): v1/test/cases of the Go module github.com/open-policy-agent/opa, "
    "those that call the functions of gateway/policy/builtins, with the answers of opa beside them."
)
_COMPILE_ERRORS = ("rego_parse_error", "rego_type_error", "rego_compile_error", "rego_unsafe_var_error")
_RANDOM = ("time.now_ns", "rand.intn", "uuid.rfc4122")
_CALLS = re.compile(r"(?<![\w.])(?:" + "|".join(map(re.escape, sorted(SUPPLIED))) + r")\(")
_ALL_DATA = re.compile(r"(?<![\w.\"])data(?![\w.\"])")
_ADDRESS = "127.0.0.1:18181"


def published() -> Path:
    """The directory of OPA's cases."""
    cache = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
    return Path(cache) / f"github.com/open-policy-agent/opa@v{PINNED}" / "v1/test/cases/testdata/v1"


def selected() -> Iterator[RegoCase]:
    """Those of OPA's cases that call a supplied function, and that are about evaluation, without documents of data."""
    return (case for case in _all() if _CALLS.search(_text(case)))


def in_wasm() -> Iterator[RegoCase]:
    """The others: about functions that OPA compiles to Wasm, and about the language.

    Without those that ask for all of `data`: that has the rule which asks.
    """
    return (case for case in _all() if not _CALLS.search(_text(case)) and not _ALL_DATA.search(_text(case)))


def excepted() -> set[str]:
    """The notes of cases that OPA itself does not expect of its Wasm."""
    listed = published().parents[4] / "internal/wasm/sdk/test/e2e/exceptions.yaml"
    return set(yaml.safe_load(listed.read_text()))


def _text(case: RegoCase) -> str:
    return "\n".join([case.query, *case.modules])


def _all() -> Iterator[RegoCase]:
    """Every case about evaluation, but those with documents of data, and those that call what is random or refused."""
    for path in sorted(published().glob("*/*.yaml")):
        for case in yaml.safe_load(path.read_text())["cases"]:
            text = "\n".join([case["query"], *(case.get("modules") or [])])
            if case.get("data") or case.get("want_error_code") in _COMPILE_ERRORS:
                continue
            if any(f"{name}(" in text for name in (*_RANDOM, *REFUSED)):
                continue  # what is random is held to properties by tests of its own
            names = sorted({name for bindings in case.get("want_result") or [] for name in bindings}) or _variables(
                case
            )
            yield RegoCase(
                note=case["note"],
                query=case["query"],
                modules=tuple(case.get("modules") or ()),
                input=case.get("input"),
                input_term=case.get("input_term", ""),
                names=tuple(names),
            )


def _variables(case: dict[str, Any]) -> list[str]:
    return ["x"] if re.search(r"(?<![\w.\"])x(?![\w.\"])", case["query"]) else []


def own() -> Iterator[RegoCase]:
    """Our own expressions, one a line."""
    for line in (CASES / "expressions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            yield RegoCase(note=line, query=f"x := {line}")


def answered(cases: Sequence[RegoCase]) -> list[RegoCase]:
    """The cases with OPA's answers."""
    with tempfile.TemporaryDirectory() as scratch:
        write_modules(cases, Path(scratch))
        arguments = [str(find_opa()), "run", "--server", "--addr", _ADDRESS, "--log-level", "error", scratch]
        with subprocess.Popen(arguments) as server:
            try:
                _wait(server)
                return [replace(case, want=_asked(number, case)) for number, case in enumerate(cases)]
            finally:
                server.terminate()


def _wait(server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{_ADDRESS}/health") as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    message = f"opa ended with {server.returncode}, so there are no answers; it says why above"
    raise RuntimeError(message)


def _asked(number: int, case: RegoCase) -> Any:
    body = json.dumps({"input": case.input}).encode()
    request = urllib.request.Request(f"http://{_ADDRESS}/v1/data/case_{number}/asked/result", data=body, method="POST")
    try:
        with urllib.request.urlopen(request) as reply:  # noqa: S310  the address is ours
            return canonical_bindings(json.load(reply).get("result", []))
    except urllib.error.HTTPError as error:
        if b"eval_conflict_error" in error.read():  # two rules contradict each other
            return UNDEFINED
        raise


def main() -> None:
    """Record."""
    CASES.mkdir(exist_ok=True)
    for name, cases, about in (
        ("opa.json", list(selected()), _LICENCE),
        ("own.json", list(own()), "Answers of opa to expressions.txt."),
    ):
        recorded = {"about": about, "opa": PINNED, "cases": [asdict(case) for case in answered(cases)]}
        (CASES / name).write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
        print(f"{name}: {len(cases)} cases")


if __name__ == "__main__":
    main()
