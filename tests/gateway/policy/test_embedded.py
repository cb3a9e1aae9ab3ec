"""The embedded engine: whatever a policy does, the gateway gets an answer in time or a denial, and the next one works."""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import wasmtime

from gateway.core.errors import PolicyInvalid, PolicyUnavailable
from gateway.core.model.json import Json
from gateway.policy import embedded
from gateway.policy.bundle import Bundle, build
from gateway.policy.embedded import (
    LARGEST_INPUT,
    Embedded,
    compiled,
    native_code,
    native_module,
    new_engine,
    sort_lists,
)
from gateway.policy.opa_command import find_opa
from gateway.policy.sources import read_sources, shipped

GUARDRAILS = "sentinel/guardrails/result"
ARBITRATION = "sentinel/arbitration/result"
QUIET: Json = {
    "caller": {"actor": "a", "kind": "human"},
    "motive": None,
    "mutation": {"service": "ec2", "operation": "X", "class": "mutation", "understood": True, "effects": [{"action": "invoke", "resource_type": "aws_x", "attribute": "*", "changes": True}]},
    "claims": [],
    "flips": {},
    "now_ns": 1,
}  # fmt: skip
RUNAWAY = """findings contains "x" if {
	input.flips.runaway
	some a in numbers.range(1, 5000)
	some b in numbers.range(1, 5000)
	a * b == 0 - 1
}"""
GREEDY = """findings contains "x" if {
	input.flips.greedy
	count(numbers.range(1, 50000000)) == 1
}"""
CONTRADICTION = """findings contains "x" if verdict == 3

verdict := 1 if input.flips.contradiction

verdict := 2 if input.flips.contradiction"""
UNKNOWN_VERB = """findings contains sprintf("%#x", [input.flips.verb]) if input.flips.verb"""

WITHIN_A_BUILT_IN = """findings contains "x" if {
	input.flips.within
	count(net.cidr_expand("10.0.0.0/8")) == 1
}"""
SLOW_BUILT_INS = """findings contains "x" if {
	input.flips.many
	some a in numbers.range(1, 5000)
	some b in numbers.range(1, 5000)
	time.add_date(a, b, 0, 0) == 0 - 1
}"""


@pytest.fixture
async def engine(shipped_bundle: Bundle) -> AsyncIterator[Embedded]:
    opened = Embedded(shipped_bundle, deadline_ms=250, memory_mb=64)
    yield opened
    await opened.close()


async def test_a_quiet_mutation_is_answered(engine: Embedded) -> None:
    answer = await engine.ask(GUARDRAILS, QUIET)
    assert answer == {"evaluated": dict.fromkeys(engine.packages(), True), "findings": [], "warned": []}
    assert engine.problem == ""
    assert len(engine.revision) == 64


BREAKING = {
    "runaway": RUNAWAY,
    "greedy": GREEDY,
    "contradiction": CONTRADICTION,
    "verb": UNKNOWN_VERB,
    "within": WITHIN_A_BUILT_IN,
    "many": SLOW_BUILT_INS,
}
"""Rules that break, each once `input.flips` has its name."""


@pytest.fixture(scope="module")
def breaking(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The shipped policies with all of them: to build a bundle takes two seconds."""
    policies, tool = Path(shutil.copytree(shipped(), tmp_path_factory.mktemp("breaking") / "policies")), find_opa()
    assert tool is not None
    for name, body in BREAKING.items():
        text = f"package sentinel.rules.{name}\n\nevaluated := true\n\n{body}\n"
        (policies / "guardrails" / f"{name}.rego").write_text(text)
    return build(read_sources(policies), tool)


@pytest.mark.opa
@pytest.mark.parametrize("broken", BREAKING)
async def test_a_policy_that_breaks_is_a_denial_and_the_next_answer_is_right(breaking: Bundle, broken: str) -> None:
    engine = Embedded(breaking, deadline_ms=100, memory_mb=32)
    try:
        before = await engine.ask(GUARDRAILS, QUIET)
        assert isinstance(QUIET, dict)
        with pytest.raises(PolicyUnavailable):
            await engine.ask(GUARDRAILS, {**QUIET, "flips": {broken: 1.5}})
        assert await engine.ask(GUARDRAILS, QUIET) == before
    finally:
        await engine.close()


@pytest.mark.parametrize(("late", "answered"), [(1, True), (2, False)])
async def test_an_evaluation_that_was_late_once_is_tried_again(
    shipped_bundle: Bundle, monkeypatch: pytest.MonkeyPatch, late: int, answered: bool
) -> None:
    """A virtual machine that is paused is charged with the pause as CPU time."""
    engine = Embedded(shipped_bundle, deadline_ms=100, memory_mb=32)
    spent, passed = iter([*(0.0, 0.2) * late, 0.0]), iter([*(0.0, 0.2) * late, 0.0, 0.0])
    clocks = SimpleNamespace(thread_time=lambda: next(spent), monotonic=lambda: next(passed))
    monkeypatch.setattr("gateway.policy.embedded.time", clocks)
    with nullcontext() if answered else pytest.raises(PolicyUnavailable, match="longer than 100 ms"):
        assert await engine.ask(GUARDRAILS, QUIET)
    assert (len(list(spent)), len(list(passed))) == ((0, 0) if answered else (1, 2))
    await engine.close()


async def test_what_passed_while_others_used_the_processor_is_no_time_of_the_policies(
    shipped_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Embedded(shipped_bundle, deadline_ms=100, memory_mb=32)
    spent, passed = iter([0.0, 0.1]), iter([0.0, 9.0])
    clocks = SimpleNamespace(thread_time=lambda: next(spent), monotonic=lambda: next(passed))
    monkeypatch.setattr("gateway.policy.embedded.time", clocks)
    assert await engine.ask(GUARDRAILS, QUIET)
    await engine.close()


@pytest.mark.opa
async def test_a_built_in_we_do_not_supply_is_refused_by_name(with_rule: Callable[[str], Bundle]) -> None:
    bundle = with_rule(
        'evaluated := true\n\nfindings contains "x" if http.send({"method": "GET", "url": input.flips.u}).status_code == 1'
    )
    with pytest.raises(PolicyInvalid, match=r"http\.send"):
        Embedded(bundle, deadline_ms=100, memory_mb=32)


@pytest.mark.parametrize("wasm", [b"", b"\0asm\1\0\0\0", b"not wasm"])
async def test_what_opa_did_not_build_is_refused(shipped_bundle: Bundle, wasm: bytes) -> None:
    with pytest.raises(PolicyInvalid):
        Embedded(replace(shipped_bundle, wasm=wasm), deadline_ms=100, memory_mb=32)


async def test_data_that_is_not_json_is_refused(shipped_bundle: Bundle) -> None:
    with pytest.raises(PolicyInvalid):
        Embedded(replace(shipped_bundle, data=b"{"), deadline_ms=100, memory_mb=32)


def nested(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "document", [float("nan"), {"x": float("inf")}, "x" * LARGEST_INPUT, nested(100_000), b"bytes"], ids=["nan", "inf", "large", "deep", "bytes"]
)  # fmt: skip
async def test_odd_input_is_a_denial(engine: Embedded, document: Json) -> None:
    with pytest.raises(PolicyUnavailable):
        await engine.ask(GUARDRAILS, document)
    assert await engine.ask(GUARDRAILS, QUIET)


async def test_deep_input_neither_kills_nor_spoils(engine: Embedded) -> None:
    """Deeper than anything the line makes; parsed or refused, the process lives and the next answer is right."""
    before = await engine.ask(GUARDRAILS, QUIET)
    for depth in (64, 500, 900):
        try:
            await engine.ask(GUARDRAILS, {"deep": nested(depth)})
        except PolicyUnavailable:
            continue
    assert await engine.ask(GUARDRAILS, QUIET) == before


async def test_what_it_cannot_rank_is_undefined_and_so_refused(engine: Embedded) -> None:
    assert isinstance(QUIET, dict)
    with pytest.raises(PolicyUnavailable, match="undefined"):
        await engine.ask(ARBITRATION, {name: value for name, value in QUIET.items() if name != "motive"})


async def test_large_inputs_leave_no_growth(engine: Embedded) -> None:
    assert isinstance(QUIET, dict)
    large = {**QUIET, "signals": ["x" * 1000] * 400}
    for _ in range(50):
        await engine.ask(GUARDRAILS, large)
    assert await engine.ask(GUARDRAILS, QUIET)


def test_threads_may_share_it(engine: Embedded) -> None:
    answers: list[object] = []

    def ask() -> None:
        answers.extend(asyncio.run(engine.ask(GUARDRAILS, QUIET)) == expected for _ in range(50))

    expected = asyncio.run(engine.ask(GUARDRAILS, QUIET))
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 200


async def test_a_closed_engine_answers_no_more(shipped_bundle: Bundle) -> None:
    engine = Embedded(shipped_bundle, deadline_ms=100, memory_mb=32)
    await engine.close()
    with pytest.raises(PolicyUnavailable):
        await engine.ask(GUARDRAILS, QUIET)


def test_order_is_canonical() -> None:
    assert sort_lists([{"b": [3, 1]}, {"a": 1}, "x", 2]) == ["x", 2, {"a": 1}, {"b": [1, 3]}]


LOOP = bytes(wasmtime.wat2wasm('(module (func (export "run") (loop)))'))


@pytest.mark.slow
async def test_a_bundle_that_is_opened_again_is_not_compiled_again(
    shipped_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    compilations: list[int] = []

    def counted(wasm: bytes) -> bytes:
        compilations.append(len(wasm))
        return compiled(wasm)

    monkeypatch.setattr(embedded, "compiled", counted)
    monkeypatch.setattr(embedded, "_known_code", {})
    for _ in range(3):
        await Embedded(shipped_bundle, deadline_ms=100, memory_mb=32).close()
    assert len(compilations) == 1


def test_no_more_machine_code_is_kept_in_memory_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[bytes, bytes] = {}
    monkeypatch.setattr(embedded, "_known_code", known)
    modules = [bytes(wasmtime.wat2wasm(f'(module (func (export "f{number}")))')) for number in range(6)]
    for module in modules:
        native_code(module)
    assert list(known) == modules[2:]


def test_an_epoch_of_one_engine_stops_nothing_in_another() -> None:
    engine, other = new_engine(), new_engine()
    store = wasmtime.Store(engine)
    run = wasmtime.Instance(store, native_module(engine, LOOP), []).exports(store)["run"]
    assert isinstance(run, wasmtime.Func)
    store.set_epoch_deadline(1)
    other.increment_epoch()
    assert run(store) is None
    engine.increment_epoch()
    with pytest.raises(wasmtime.Trap, match="interrupt"):
        run(store)


def test_what_is_no_module_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(wasmtime.WasmtimeError):
            native_module(new_engine(), b"not wasm")
