"""Somebody with the key of a person or a pipeline sends Wasm for a replay that OPA never made.

It names addresses outside of its memory, which the gateway read: one request ended the process, and what lies beside the memory is the gateway's.
It brings memories and tables of its own, which no limit counted, or answers with more than the gateway can parse while others wait. What must
hold: every address is checked, everything that a module allocates is limited, and the gateway goes on.
"""

import hashlib
import json
from pathlib import Path

import httpx
import pytest
import wasmtime

from gateway.core.errors import PolicyInvalid, PolicyUnavailable
from gateway.policy.bundle import ENTRYPOINTS, SHIPPED, Bundle, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.replays import packed_bundle
from gateway.policy.sources import shipped
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

_MODULE = """
(module
  (import "env" "memory" (memory 2))
  (import "env" "opa_builtin2" (func $ask (param i32 i32 i32 i32) (result i32)))
  (global (export "opa_wasm_abi_version") i32 (i32.const 1))
  (global (export "opa_wasm_abi_minor_version") i32 (i32.const 3))
  (data (i32.const 1024) "%(entrypoints)s\\00")
  (data (i32.const 2048) "%(builtins)s\\00")
  (data (i32.const 4096) "[]\\00")
  (data (i32.const 5000) "[{\\"result\\": 7}]\\00")
  (func (export "entrypoints") (result i32) (i32.const 1024))
  (func (export "builtins") (result i32) (i32.const 2048))
  (func (export "opa_json_dump") (param i32) (result i32) (local.get 0))
  (global $heap (mut i32) (i32.const %(heap)s))
  (func (export "opa_json_parse") (param i32 i32) (result i32)
    (global.set $heap (i32.add (global.get $heap) (i32.const %(data)s)))
    (i32.const 4096))
  (func (export "opa_malloc") (param i32) (result i32) (i32.const %(allocated)s))
  (func (export "opa_heap_ptr_get") (result i32) (global.get $heap))
  (func (export "opa_heap_ptr_set") (param i32))
  (func $dump (export "opa_value_dump") (param i32) (result i32) (i32.const %(dumped)s))
  (func (export "opa_value_parse") (param i32 i32) (result i32) (i32.const 4096))
  (func (export "opa_eval") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (local $at i32)
    (drop (call $ask (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
    %(answer)s)
  %(more)s)
"""
_LONG_ANSWER = """
(drop (memory.grow (i32.const 100)))
(local.set $at (i32.const 140000))
(loop $blank
  (i64.store (local.get $at) (i64.const 0x2020202020202020))
  (br_if $blank (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 4440000))))
(i32.store8 (i32.const 4440000) (i32.const 49))
(i32.const 140000)
"""
"""A number after four megabytes of blanks."""


def bundle(**given: str) -> Bundle:
    """The shipped policies with Wasm that answers as a policy would, but for what is given."""
    texts = {
        "entrypoints": json.dumps(dict.fromkeys(ENTRYPOINTS, 0)).replace('"', '\\"'),
        "builtins": json.dumps({"sprintf": 0}).replace('"', '\\"'),
        "heap": "131072",
        "data": "0",
        "allocated": "8192",
        "dumped": "4096",
        "answer": "(i32.const 5000)",
        "more": "",
    }
    wasm = bytes(wasmtime.wat2wasm(_MODULE % (texts | given)))
    bundle = read_bundle(shipped() / SHIPPED)
    manifest = bundle.manifest.model_copy(update={"wasm_sha256": hashlib.sha256(wasm).hexdigest()})
    return Bundle(wasm=wasm, data=bundle.data, manifest=manifest)


async def asked(given: Bundle) -> object:
    """What the engine makes of it."""
    engine = Embedded(given, deadline_ms=10_000, memory_mb=64)
    try:
        return await engine.ask(ENTRYPOINTS[0], {})
    finally:
        await engine.close()


def test_the_gateway_goes_on(tmp_path: Path) -> None:
    with Gate(directory=tmp_path) as gate:
        gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=3)

        def replayed(given: Bundle) -> str:
            body = {"bundle": packed_bundle(given)}
            return httpx.post(f"{gate.url}/v1/replay", headers=gate.bearer("pipeline"), json=body, timeout=300).text

        assert "could not evaluate" in replayed(bundle(dumped="-100000000"))
        assert "policy_invalid" in replayed(bundle(heap="-8"))
        assert httpx.get(f"{gate.url}/readyz").status_code == httpx.codes.OK


async def test_what_does_nothing_wrong_is_answered() -> None:
    assert await asked(bundle()) == 7


@pytest.mark.parametrize("address", ["-8", "-100000000", "-2147483648", "0", "2000000000"])
async def test_nothing_outside_of_its_memory_is_read(address: str) -> None:
    for given in (bundle(dumped=address), bundle(answer=f"(i32.const {address})")):
        with pytest.raises(PolicyUnavailable):
            await asked(given)
    with pytest.raises((PolicyInvalid, PolicyUnavailable)):
        await asked(bundle(heap=address))


@pytest.mark.parametrize(
    "more",
    [
        "(memory $own 16384)",
        "(table 30000000 funcref)",
        "(table 1 externref) (table 1 externref) (table 1 externref)",
        "(rec (type $node (struct (field (ref null $node)))))",
        "(func (memory.fill (i32.const 135168) (i32.const 1) (i32.const 8)))",
        "(func (memory.copy (i32.const 135168) (i32.const 0) (i32.const 8)))",
    ],
)
async def test_it_brings_nothing_that_no_limit_counts(more: str) -> None:
    with pytest.raises(PolicyInvalid, match="cannot be run"):
        await asked(bundle(more=more))


@pytest.mark.parametrize("address", ["135168", "196600"])
async def test_it_does_not_change_its_data_for_the_next_evaluation(address: str) -> None:
    """Neither by itself nor by a built-in whose answer this process writes, which would end."""
    assert await asked(bundle(data="69632", answer=f"(i32.load (i32.const {address})) (drop) (i32.const 5000)")) == 7
    with pytest.raises(PolicyUnavailable):
        await asked(bundle(data="69632", answer=f"(i32.store (i32.const {address}) (i32.const 1)) (i32.const 5000)"))
    answered = {"builtins": '{\\"object.subset\\": 0}'}
    assert await asked(bundle(data="69632", **answered)) == 7
    with pytest.raises(PolicyUnavailable):
        await asked(bundle(data="69632", allocated=address, **answered))


async def test_its_table_does_not_grow_without_end() -> None:
    grown = "(i32.add (i32.const 5001) (table.grow $own (ref.null func) (i32.const 30000000)))"
    assert await asked(bundle(answer=grown, more="(table $own 1 funcref)")) == 7  # it did not: -1


async def test_an_answer_has_a_limit() -> None:
    with pytest.raises(PolicyUnavailable, match="more than 4194304 bytes"):
        await asked(bundle(answer=_LONG_ANSWER))


@pytest.mark.parametrize(
    "given",
    [{"entrypoints": '[\\"sentinel/guardrails/result\\"]'}, {"builtins": "7"}, {"entrypoints": "[" * 900}],
)
async def test_what_it_says_of_itself_is_read_as_nothing_else(given: dict[str, str]) -> None:
    with pytest.raises(PolicyInvalid):
        await asked(bundle(**given))
