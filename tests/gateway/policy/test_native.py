"""Compiled policies: one compilation for each module, and engines with epochs of their own."""

import pytest
import wasmtime

from gateway.policy.bundle import Bundle
from gateway.policy.embedded import Embedded
from gateway.policy.native import native_code, native_module, new_engine

LOOP = bytes(wasmtime.wat2wasm('(module (func (export "run") (loop)))'))


async def test_a_bundle_that_is_opened_again_is_not_compiled_again(shipped_bundle: Bundle) -> None:
    native_code.cache_clear()
    for _ in range(3):
        await Embedded(shipped_bundle, deadline_ms=100, memory_mb=32).close()
    assert native_code.cache_info().misses == 1


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
