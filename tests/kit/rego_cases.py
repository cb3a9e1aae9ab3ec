"""OPA's published cases of built-in functions, as modules that are built into one bundle: each case has a package and a rule `result` of its own."""

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wasmtime

from gateway.core.model.json import Json
from gateway.policy.builtins.evaluation import Evaluation
from gateway.policy.embedded import new_engine
from gateway.policy.wasm_instance import HEADROOM, WasmInstance

CASES = Path(__file__).parents[1] / "cases" / "rego"
NOW_NS = 1_700_000_000_123_456_789
UNDEFINED: Json = []


@dataclass(frozen=True, slots=True, kw_only=True)
class RegoCase:
    """One query over some modules."""

    note: str
    query: str
    modules: tuple[str, ...] = ()
    input: Any = None
    input_term: str = ""
    names: tuple[str, ...] = field(default=("x",))
    """The variables of the query that are compared."""
    want: Any = None
    """What OPA answers: a list of bindings, in canonical order."""

    def texts(self, number: int) -> Sequence[str]:
        """The modules, with packages of their own, and one whose `result` is the set of the query's bindings."""
        renamed = [self._renamed(text, number) for text in self.modules]
        bound = ", ".join(f'"{name}": {name}' for name in self.names)
        asked = self._renamed(f"{self.query}", number)
        given = f" with input as {self.input_term}" if self.input_term else ""
        return [*renamed, f"package case_{number}.asked\n\nresult contains {{{bound}}} if {{\n\t{asked}{given}\n}}\n"]

    def _renamed(self, text: str, number: int) -> str:
        roots = {match[1] for each in self.modules for match in re.finditer(r"^package (\w+)", each, re.MULTILINE)}
        for root in roots:
            text = re.sub(rf"^package {root}\b", f"package case_{number}.{root}", text, flags=re.MULTILINE)
            text = re.sub(rf"\bdata\.{root}\b", f"data.case_{number}.{root}", text)
        return text


def read_cases(path: Path) -> list[RegoCase]:
    """The cases of a file that was recorded."""
    return [
        RegoCase(**{**each, "modules": tuple(each["modules"]), "names": tuple(each["names"])})
        for each in json.loads(path.read_text())["cases"]
    ]


def write_modules(cases: Iterable[RegoCase], directory: Path) -> None:
    """Write every case's modules."""
    for number, case in enumerate(cases):
        for place, text in enumerate(case.texts(number)):
            (directory / f"case_{number}_{place}.rego").write_text(text)


def built(cases: Sequence[RegoCase], tool: Path) -> bytes:
    """One Wasm module with an entrypoint for each case, built by opa."""
    with tempfile.TemporaryDirectory() as scratch:
        modules = Path(scratch) / "modules"
        modules.mkdir()
        write_modules(cases, modules)
        entrypoints = [part for number in range(len(cases)) for part in ("-e", f"case_{number}/asked/result")]
        archive = Path(scratch) / "bundle.tar.gz"
        arguments = [str(tool), "build", "-t", "wasm", *entrypoints, "-o", str(archive), str(modules)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
        unpacked = subprocess.run(
            ["tar", "-xzOf", str(archive), "/policy.wasm"], capture_output=True, check=True, cwd=scratch
        )
        return unpacked.stdout


class EmbeddedCases:
    """The cases in the embedded engine's Wasm."""

    def __init__(self, cases: Sequence[RegoCase], tool: Path) -> None:
        self._engine = new_engine()
        self._module = wasmtime.Module(self._engine, built(cases, tool))
        self._cases = cases
        self._instance = self._new()

    def _new(self) -> WasmInstance:
        return WasmInstance(self._module, engine=self._engine, data=b"{}", memory_bytes=16 * HEADROOM, ticks=10**6)

    def answer(self, number: int) -> Json:
        """The bindings of a case, in canonical order. Raises what the evaluation does; the next one has an instance of its own."""
        asked = self._cases[number].input
        document = b"" if asked is None else json.dumps(asked).encode()  # without one, `input` is undefined
        evaluation = Evaluation(document=document, now_ns=NOW_NS, deadline=1e18)
        entrypoint = self._instance.entrypoints[f"case_{number}/asked/result"]
        try:
            results = self._instance.evaluate(entrypoint, document, 10**6, evaluation)
        except Exception:
            self._instance = self._new()
            raise
        return canonical_bindings(results[0]["result"] if results else [])


def canonical_bindings(bindings: Any) -> Json:
    """Bindings with every list sorted, because each engine returns sets in another order; equal numbers are the same number."""
    found: Json = _sorted(bindings)
    return found


def _sorted(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _sorted(value[key]) for key in sorted(value)}
        case list():
            return sorted((_sorted(each) for each in value), key=lambda each: json.dumps(each, sort_keys=True))
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case _:
            return value
