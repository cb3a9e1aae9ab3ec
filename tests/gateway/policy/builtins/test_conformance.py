"""Every built-in answers as OPA does: to OPA's own published cases, and to expressions of ours, all in the embedded engine's Wasm."""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
import wasmtime

from gateway.policy.builtins import REFUSED, SUPPLIED
from gateway.policy.opa_command import find_opa, opa_output
from gateway.policy.wasm_instance import PolicyAborted
from tests.kit.rego_cases import CASES, UNDEFINED, EmbeddedCases, RegoCase, read_cases
from tests.tools import record_rego_cases

ONE_MODULE = 150
"""Cases that are built into one module."""
IN_WASM = {
    "abs", "all", "and", "any", "array.concat", "array.flatten", "array.reverse", "array.slice", "assign", "base64.decode",
    "base64.encode", "base64.is_valid", "base64url.decode", "base64url.encode", "bits.and", "bits.lsh", "bits.negate",
    "bits.or", "bits.rsh", "bits.xor", "ceil", "concat", "contains", "count", "div", "endswith", "eq", "equal", "floor",
    "format_int", "glob.match", "graph.reachable", "gt", "gte", "indexof", "internal.member_2", "internal.member_3",
    "internal.template_string", "intersection", "is_array", "is_boolean", "is_null", "is_number", "is_object", "is_set",
    "is_string", "json.filter", "json.is_valid", "json.marshal", "json.remove", "json.unmarshal", "lower", "lt", "lte",
    "max", "min", "minus", "mul", "neq", "net.cidr_contains", "net.cidr_intersects", "net.cidr_overlap", "numbers.range",
    "object.filter", "object.get", "object.keys", "object.remove", "object.union", "object.union_n", "or", "plus", "product",
    "re_match", "regex.find_all_string_submatch_n", "regex.is_valid", "regex.match", "rem", "replace", "round", "set_diff",
    "sort", "split", "startswith", "strings.replace_n", "strings.reverse", "substring", "sum", "to_number", "trim",
    "trim_left", "trim_prefix", "trim_right", "trim_space", "trim_suffix", "type_name", "union", "upper", "walk",
}  # fmt: skip
"""What OPA's compiler has in Wasm itself, or resolves."""
BY_THE_COMPILER = {
    "cast_array", "cast_boolean", "cast_null", "cast_object", "cast_set", "cast_string", "internal.print",
    "internal.test_case", "print", "rego.metadata.chain", "rego.metadata.rule",
}  # fmt: skip
"""What never reaches an engine: the compiler resolves it, erases it, or refuses it in Rego v1."""
RANDOM = {"time.now_ns", "rand.intn", "uuid.rfc4122"}
"""Held to their properties in test_evaluation.py."""


@pytest.mark.opa
@pytest.mark.parametrize("name", ["opa.json", "own.json"])
def test_each_answer_is_opas(name: str) -> None:
    tool = find_opa()
    assert tool is not None
    differences = [found for some in _batches(read_cases(CASES / name)) for found in _differences(some, tool).items()]
    assert differences == []


@pytest.mark.opa
@pytest.mark.long
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_each_published_case_that_needs_no_host_has_opas_answer_but_those_that_opa_excepts() -> None:
    tool = find_opa()
    assert tool is not None
    cases = list(record_rego_cases.in_wasm())
    # Each batch is asked alone: an answer may name the package of its case, which has the case's number.
    batches = [record_rego_cases.answered(some) for some in _batches(cases)]
    differences = {note: said for some in batches for note, said in _differences(some, tool).items()}
    excepted = record_rego_cases.excepted()
    assert len(cases) > 900
    assert {note: said for note, said in differences.items() if note not in excepted} == {}


def _batches(cases: Sequence[RegoCase]) -> list[Sequence[RegoCase]]:
    return [cases[begin : begin + ONE_MODULE] for begin in range(0, len(cases), ONE_MODULE)]


def _differences(cases: Sequence[RegoCase], tool: Path) -> dict[str, str]:
    """The cases that have another answer, by their notes."""
    embedded = EmbeddedCases(cases, tool)
    answers = [(case, _answer(embedded, number)) for number, case in enumerate(cases)]
    return {case.note: f"{answer}, not {case.want}" for case, answer in answers if answer != case.want}


def test_every_supplied_function_has_cases() -> None:
    text = "".join(
        case.query + "".join(case.modules) for name in ("opa.json", "own.json") for case in read_cases(CASES / name)
    )
    assert {name for name in SUPPLIED if f"{name}(" not in text} == RANDOM


@pytest.mark.opa
def test_every_builtin_of_opa_is_in_wasm_or_supplied_or_refused_with_a_reason() -> None:
    tool = find_opa()
    assert tool is not None
    known = json.loads(opa_output(tool, ["capabilities", "--current"], cwd=Path()))["builtins"]
    answered = set(SUPPLIED) | set(REFUSED)
    assert {each["name"] for each in known} - answered == IN_WASM | BY_THE_COMPILER


def _answer(embedded: EmbeddedCases, number: int) -> object:
    """The answer; UNDEFINED where the evaluation ends because two rules contradict each other, which is an error in OPA too.

    An evaluation that ends by a fault of OPA's Wasm, or with a number that no float holds, is an answer that no case wants: the gateway takes it for
    a denial.
    """
    try:
        return embedded.answer(number)
    except PolicyAborted:
        return UNDEFINED
    except wasmtime.Trap as error:
        return f"a fault: {error.trap_code!s}"
    except msgspec.ValidationError as error:
        return f"an answer that cannot be read: {error}"
