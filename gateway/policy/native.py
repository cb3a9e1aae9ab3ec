"""The native code of a compiled policy. Compiling takes about a second, so code that this process compiled before is kept in its memory."""

import functools

import wasmtime

_KEPT = 4
"""Modules; one has one to two megabytes. Nothing is stored on disk: native code is not checked when it is loaded."""


def new_engine() -> wasmtime.Engine:
    """An engine whose evaluations can be stopped. Each has epochs of its own."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    return wasmtime.Engine(config)


def native_module(engine: wasmtime.Engine, wasm: bytes) -> wasmtime.Module:
    """The module for an engine of `new_engine`. Raises wasmtime's errors if it is not valid Wasm."""
    return wasmtime.Module.deserialize(engine, native_code(wasm))


@functools.lru_cache(maxsize=_KEPT)
def native_code(wasm: bytes) -> bytes:
    """The machine code of a module, compiled once. Raises wasmtime's errors if it is not valid Wasm."""
    return bytes(wasmtime.Module(new_engine(), wasm).serialize())
