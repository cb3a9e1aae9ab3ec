"""One instance: each evaluation begins with the memory as it was loaded."""

import wasmtime

from gateway.policy.bundle import Bundle
from gateway.policy.wasm_instance import HEADROOM, WasmInstance


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
