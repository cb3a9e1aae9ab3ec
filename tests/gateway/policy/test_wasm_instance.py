"""One instance: each evaluation begins with the memory as it was loaded."""

import gc
import weakref

import pytest
import wasmtime

from gateway.core.errors import PolicyInvalid
from gateway.policy.bundle import Bundle
from gateway.policy.wasm_instance import HEADROOM, WasmInstance

BEYOND = '(module (import "env" "memory" (memory 2)) (data (i32.const 131072) "names of entrypoints"))'
"""As OPA builds it if the names of the entrypoints pass the last page that it has counted."""


@pytest.mark.slow
def test_evaluations_leave_nothing_and_growth_is_noticed(shipped_bundle: Bundle) -> None:
    config = wasmtime.Config()
    config.epoch_interruption = True
    engine = wasmtime.Engine(config)
    module = wasmtime.Module(engine, shipped_bundle.wasm)
    instance = WasmInstance(module, engine=engine, data=shipped_bundle.data, memory_bytes=8 * HEADROOM, ticks=10)
    entrypoint = instance.entrypoints["sentinel/guardrails/result"]
    first = instance.evaluate(entrypoint, b"{}", 10)
    grown = [instance.grown]
    instance.evaluate(entrypoint, b'{"x": [' + b"1," * 150_000 + b"1]}", 10)
    grown.append(instance.grown)
    assert grown == [False, True]
    assert instance.evaluate(entrypoint, b"{}", 10) == first


@pytest.mark.slow
def test_the_memory_of_an_instance_that_nobody_needs_is_given_back(shipped_bundle: Bundle) -> None:
    engine = wasmtime.Engine()
    module = wasmtime.Module(engine, shipped_bundle.wasm)
    instance = WasmInstance(module, engine=engine, data=shipped_bundle.data, memory_bytes=8 * HEADROOM, ticks=10)
    instance.evaluate(instance.entrypoints["sentinel/guardrails/result"], b"{}", 10)
    memory = weakref.ref(instance._store)
    del instance
    gc.collect()
    assert memory() is None


def test_constants_beyond_the_pages_that_the_module_asks_for_have_room() -> None:
    engine = wasmtime.Engine()
    with pytest.raises(PolicyInvalid, match="no opa_wasm_abi_version"):
        WasmInstance(wasmtime.Module(engine, BEYOND), engine=engine, data=b"{}", memory_bytes=8 * HEADROOM, ticks=10)
