"""The embedded policy engine: OPA's Wasm in wasmtime, in this process, with a deadline and a memory limit."""

import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping
from typing import Any

import structlog
import wasmtime

from gateway.core.errors import PolicyInvalid, PolicyUnavailable
from gateway.core.model.json import Json, canonical, written_once
from gateway.policy.builtins.evaluation import Evaluation, OutOfTime, TooMuch
from gateway.policy.bundle import ENTRYPOINTS, Bundle, RunningEngine
from gateway.policy.kept_code import KeptCode, code_of
from gateway.policy.wasm_instance import HEADROOM, PolicyAborted, WasmInstance

_KNOWN_CODE = 4
"""Modules whose machine code stays in memory; that of one has one to two megabytes."""
_known_code: dict[bytes, bytes] = {}


_WITHOUT = (
    "wasm_bulk_memory",
    "gc_support",
    "wasm_gc",
    "wasm_function_references",
    "wasm_memory64",
    "wasm_multi_memory",
    "wasm_tail_call",
    "wasm_threads",
)
"""What OPA's modules do not use. What a caller sent might: to allocate what no limit of the memory counts, or to run on. To fill or copy memory is done by
the runtime, so a write to the read-only data (`wasm_instance`) would end this process, where a store of the module ends its evaluation.
"""


def new_engine() -> wasmtime.Engine:
    """An engine whose evaluations can be stopped. Each has epochs of its own."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    for without in _WITHOUT:
        setattr(config, without, False)
    return wasmtime.Engine(config)


def native_module(engine: wasmtime.Engine, wasm: bytes, kept: KeptCode | None = None) -> wasmtime.Module:
    """The module for an engine of `new_engine`. Raises wasmtime's errors if it is not valid Wasm."""
    return wasmtime.Module.deserialize(engine, native_code(wasm, kept))


def native_code(wasm: bytes, kept: KeptCode | None = None) -> bytes:
    """The machine code of a module, compiled once; `kept` keeps it between starts. Raises wasmtime's errors if it is not valid Wasm."""
    code = _known_code.get(wasm)
    if code is None:
        code = code_of(wasm, kept, compiled, _runs)
    _known_code.pop(wasm, None)
    _known_code[wasm] = code  # as the latest one: drafts that come and go do not drive out what is in force
    for oldest in list(_known_code)[:-_KNOWN_CODE]:
        _known_code.pop(oldest, None)
    return code


def forget_code() -> None:
    """Give back the machine code in memory, which `kept` has as well: the modules in use have their own."""
    _known_code.clear()


def compiled(wasm: bytes) -> bytes:
    """The machine code of a module. Raises wasmtime's errors if it is not valid Wasm."""
    return bytes(wasmtime.Module(new_engine(), wasm).serialize())


def _runs(code: bytes) -> bool:
    """Whether this runtime and this processor can run the machine code."""
    try:
        wasmtime.Module.deserialize(new_engine(), code)
    except wasmtime.WasmtimeError:
        return False
    return True


LARGEST_INPUT = HEADROOM // 8
"""Bytes of JSON. A larger input is refused without evaluation."""
_TICKS = 5
"""Epochs per deadline. An evaluation is stopped at most a fifth of the deadline late, and never early."""
_LOADING_TICKS = 1000
_ATTEMPTS = 2
_EVALUATION_ERRORS = (
    wasmtime.WasmtimeError,
    wasmtime.Trap,
    PolicyAborted,
    TooMuch,
    ValueError,
    KeyError,
    RecursionError,
    MemoryError,
)

log = structlog.get_logger()


class _TooSlow(PolicyUnavailable):
    """The evaluation exceeded its deadline."""


class Embedded(RunningEngine):
    """Evaluates one bundle in the calling thread: an evaluation usually takes less than a millisecond.

    Thread-safe. Each evaluation has an instance to itself, so that one of a large input holds up nobody else's. As many are kept as were
    used at once; each has 2 MB.
    """

    def __init__(
        self, bundle: Bundle, *, deadline_ms: int, memory_mb: int, native: bytes = b"", kept: KeptCode | None = None
    ) -> None:
        """Compiles the bundle, unless its machine code is given (`native`) or `kept` has it. Raises `errors.PolicyInvalid` if it cannot run in this engine."""
        self._engine = new_engine()
        self._bundle = bundle
        self._deadline = deadline_ms / 1000
        self._memory_bytes = memory_mb * 1024 * 1024
        self._idle: deque[WasmInstance] = deque()
        self._stop = threading.Event()
        self._end = weakref.finalize(self, self._stop.set)
        arguments = (self._engine, self._stop, self._deadline / _TICKS)
        threading.Thread(target=_tick, args=arguments, name="policy-deadline", daemon=True).start()
        try:
            self._module = (
                wasmtime.Module.deserialize(self._engine, native)
                if native
                else native_module(self._engine, bundle.wasm, kept)
            )
            instance = self._new_instance()
        except _EVALUATION_ERRORS as error:
            self._end()
            raise PolicyInvalid(f"The policy bundle cannot be run: {error}") from error
        except PolicyInvalid:
            self._end()
            raise
        if missing := set(ENTRYPOINTS) - set(instance.entrypoints):
            self._end()
            raise PolicyInvalid(f"The policy bundle has no {', '.join(sorted(missing))}.")
        self._idle.append(instance)

    @property
    def bundle(self) -> Bundle:
        """The one bundle that it was opened with."""
        return self._bundle

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The value of a rule, with every list in canonical order (lists stand for sets).

        Raises `errors.PolicyUnavailable` unless the value is defined and available in time.
        """
        try:
            text = written_once(document)
        except (TypeError, ValueError, RecursionError) as error:
            raise PolicyUnavailable(
                "The policies cannot evaluate this change: its description is not valid JSON."
            ) from error
        if len(text) > LARGEST_INPUT:
            raise PolicyUnavailable(
                f"The policies cannot evaluate this change: its description has {len(text)} bytes, more than {LARGEST_INPUT}."
            )
        if entrypoint not in self._bundle.manifest.entrypoints:
            raise PolicyUnavailable(f"The policies have no result for {entrypoint}: it is not an entrypoint.")
        now_ns = document.get("now_ns") if isinstance(document, Mapping) else None
        return _defined_result(
            entrypoint, self._evaluate(entrypoint, text, now_ns if isinstance(now_ns, int) else None)
        )

    async def close(self) -> None:
        """Stop the deadline's thread. The engine cannot be used afterwards."""
        self._end()

    def _evaluate(self, entrypoint: str, text: bytes, now_ns: int | None) -> Any:
        """The result set. Asks a second time if the first took too long: a machine that stands still for a moment counts as slow policies."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._evaluate_once(entrypoint, text, now_ns)
            except _TooSlow:
                log.info("policy_asked_again", entrypoint=entrypoint)
        return self._evaluate_once(entrypoint, text, now_ns)

    def _evaluate_once(self, entrypoint: str, text: bytes, now_ns: int | None) -> Any:
        if not self._end.alive:
            raise PolicyUnavailable("The policy engine has been closed.")
        instance = None
        try:
            # Taken away until it has returned: after an exception the instance must not be used again.
            instance = self._idle_instance() or self._new_instance()
            # CPU time of this thread, not wall-clock time, so that a busy machine does not exceed the policies' deadline.
            began, started = time.monotonic(), time.thread_time()
            evaluation = Evaluation(document=text, now_ns=now_ns, deadline=started + self._deadline)
            result_set = instance.evaluate(instance.entrypoints[entrypoint], text, _TICKS + 1, evaluation)
        except (*_EVALUATION_ERRORS, PolicyInvalid) as error:
            if instance is not None:
                instance.close()
            log.warning("policy_failed", entrypoint=entrypoint, error=f"{type(error).__name__}: {error}"[:500])
            raise (_TooSlow if _is_interruption(error) else PolicyUnavailable)(
                f"The policies could not evaluate {entrypoint}: {_reason(error)}."
            ) from error
        if instance.grown:
            instance.close()
        else:
            self._idle.append(instance)
        # To ask for the thread's time is a call of the system, and it is at most what has passed by the clock.
        if time.monotonic() - began > self._deadline and time.thread_time() - started > self._deadline:
            raise _TooSlow(f"The policies took longer than {self._deadline * 1000:.0f} ms to evaluate {entrypoint}.")
        return result_set

    def _idle_instance(self) -> WasmInstance | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _new_instance(self) -> WasmInstance:
        return WasmInstance(
            self._module,
            engine=self._engine,
            data=self._bundle.data,
            memory_bytes=self._memory_bytes,
            ticks=_LOADING_TICKS,
        )


def _tick(engine: wasmtime.Engine, stop: threading.Event, seconds: float) -> None:
    while not stop.wait(seconds):
        engine.increment_epoch()


def _is_interruption(error: Exception) -> bool:
    """Whether the deadline passed, within Wasm or within a built-in."""
    return isinstance(error, OutOfTime) or (
        isinstance(error, wasmtime.Trap) and error.trap_code is wasmtime.TrapCode.INTERRUPT
    )


def _reason(error: Exception) -> str:
    """The reason, without the policy's error text, which may contain its input."""
    if _is_interruption(error):
        return "they took too long"
    if isinstance(error, TooMuch):
        return str(error)
    if isinstance(error, PolicyAborted):
        return "they were aborted (out of memory, or two rules contradict each other)"
    return "they failed"


def _defined_result(entrypoint: str, results: Any) -> Json:
    """The value in OPA's result set. Raises `errors.PolicyUnavailable` if there is none."""
    if (
        not isinstance(results, list)
        or len(results) != 1
        or not isinstance(results[0], Mapping)
        or "result" not in results[0]
    ):
        raise PolicyUnavailable(f"The policies have no result for {entrypoint}: it is undefined.")
    return sort_lists(results[0]["result"])


def sort_lists(value: Json) -> Json:
    """The value with every list sorted by its members' canonical JSON, because each engine returns sets in a different order."""
    if isinstance(value, dict):  # not `Mapping`: JSON was read, and to ask for that takes longer than all else
        return {
            key: sort_lists(item) if type(item) is dict or type(item) is list else item for key, item in value.items()
        }
    if isinstance(value, list):
        items = [sort_lists(item) for item in value]
        return sorted(items, key=canonical) if len(items) > 1 else items
    return value
