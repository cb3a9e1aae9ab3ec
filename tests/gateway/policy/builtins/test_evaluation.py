"""Built-ins know the decision's clock and no other, answer a replay as they answered, and end at the limits of the evaluation."""

import math
from typing import Any

import pytest

from gateway.policy.builtins import REFUSED, SUPPLIED, unsupplied
from gateway.policy.builtins.evaluation import LARGEST_VALUE, Evaluation, OutOfTime, TooMuch
from gateway.policy.rego_values import Term

NOW = 1_700_000_000_000_000_000


def evaluation(*, now_ns: int | None = NOW, deadline: float = math.inf, document: bytes = b"{}") -> Evaluation:
    return Evaluation(document=document, now_ns=now_ns, deadline=deadline)


def test_the_clock_is_that_of_the_decision() -> None:
    assert SUPPLIED["time.now_ns"](evaluation()) == NOW


def test_a_question_without_a_clock_is_a_denial_and_not_another_clock() -> None:
    with pytest.raises(TooMuch, match="this question has no `now_ns`"):
        SUPPLIED["time.now_ns"](evaluation(now_ns=None))
    with pytest.raises(TooMuch, match="this question has no `now_ns`"):
        SUPPLIED["io.jwt.decode_verify"](evaluation(now_ns=None), "a.b.c", {"secret": "s"})


@pytest.mark.parametrize(("name", "operands"), [("uuid.rfc4122", ("a",)), ("rand.intn", ("a", 10**6))])
def test_chance_is_that_of_the_decision(name: str, operands: tuple[Term, ...]) -> None:
    first = SUPPLIED[name](evaluation(), *operands)
    assert SUPPLIED[name](evaluation(), *operands) == first
    assert SUPPLIED[name](evaluation(document=b'{"x": 1}'), *operands) != first
    assert SUPPLIED[name](evaluation(), "b", *operands[1:]) != first


def test_a_random_number_is_below_its_limit() -> None:
    assert {SUPPLIED["rand.intn"](evaluation(), str(number), -3) for number in range(50)} == {0, 1, 2}
    assert SUPPLIED["rand.intn"](evaluation(), "a", 0) == 0


LONG = pytest.mark.long
"""Of what takes over ten seconds of a processor to its end."""
FULL_GRAPH: Term = {str(node): [str(other) for other in range(12)] for node in range(12)}
DOUBLING: Term = [{"op": "copy", "from": "a", "path": "a/-"} for _ in range(40)]
BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)
)
NESTED: Any = {"definitions": {"a": {"anyOf": [{"$ref": "#/definitions/b"}] * 9}} | {
    chr(98 + n): {"allOf": [{"$ref": f"#/definitions/{chr(99 + n)}"}] * 9} for n in range(8)
} | {"j": {}}, "$ref": "#/definitions/a"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("net.cidr_expand", ("10.0.0.0/8",)),
        ("numbers.range_step", (0, 10**15, 1)),
        ("regex.replace", ("a" * 5000, "a", "b" * 5000)),
        ("json.patch", ({"a": ["x" * 100]}, DOUBLING)),
        pytest.param("graph.reachable_paths", (FULL_GRAPH, ["0"]), marks=pytest.mark.slow),
        ("yaml.unmarshal", (BOMB,)),
        pytest.param("json.match_schema", ({}, NESTED), marks=LONG),
        ("units.parse", ("1e999999",)),
        ("object.subset", ([1] * 4000, [1] * 1999 + [2])),
        ("strings.any_prefix_match", (["a"] * 2000, ["b"] * 2000)),
        pytest.param("net.cidr_contains_matches", (["10.0.0.0/8"] * 2000, ["11.0.0.0/8"] * 2000), marks=LONG),
    ],
)
def test_work_that_grows_with_more_than_the_operands_ends(name: str, operands: tuple[Term, ...]) -> None:
    with pytest.raises(TooMuch):
        SUPPLIED[name](evaluation(), *operands)


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("strings.any_prefix_match", (["a"] * 500, ["b"] * 500)),
        ("graph.reachable_paths", (FULL_GRAPH, ["0"])),
        ("net.cidr_contains_matches", (["10.0.0.0/8"] * 100, ["11.0.0.0/8"] * 100)),
        ("regex.find_n", ("a", "a" * 1000, -1)),
    ],
)
def test_the_deadline_holds_within_a_function(name: str, operands: tuple[Term, ...]) -> None:
    with pytest.raises(OutOfTime):
        SUPPLIED[name](evaluation(deadline=-1.0), *operands)


def test_a_pattern_that_backtracks_elsewhere_takes_linear_time_here() -> None:
    steps = evaluation()
    assert SUPPLIED["regex.find_n"](steps, "^(a+)+$", "a" * 100_000 + "!", -1) == []
    assert SUPPLIED["regex.split"](steps, "(a|a)*b", "a" * 100_000) == ["a" * 100_000]


def test_a_pattern_that_would_be_compiled_to_a_large_program_is_no_pattern() -> None:
    with pytest.raises(ValueError, match="is not a regular expression"):
        SUPPLIED["regex.find_n"](evaluation(), "((a{100}){100}){100}", "a", -1)


def test_what_is_refused_has_a_reason_and_is_not_supplied() -> None:
    assert not set(REFUSED) & set(SUPPLIED)
    said = unsupplied({"http.send": 1, "time.now_ns": 2, "opa.runtime": 3})
    assert said == (
        "The policies use http.send, which the embedded engine does not supply: a decision depends only on what was recorded "
        "with it, so policies ask nobody; give them data, or a signal. The policies use opa.runtime, which the embedded engine "
        "does not supply: it would show policies the environment of the gateway, which holds secrets."
    )


@pytest.mark.slow
def test_a_result_has_a_ceiling() -> None:
    with pytest.raises(TooMuch, match=str(LARGEST_VALUE)):
        SUPPLIED["glob.quote_meta"](evaluation(), "*" * LARGEST_VALUE)
