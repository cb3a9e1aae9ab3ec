"""The embedded policy engine: OPA's Wasm in wasmtime, in this process, with a deadline and a memory ceiling."""

import json
import threading
import time
import weakref
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import structlog
import wasmtime

from gateway.errors import PolicyInvalid, PolicyUnavailable
from gateway.model.json import Json, canonical
from gateway.policy.abi import HEADROOM, PolicyAborted, WasmInstance
from gateway.policy.builtins import UnsupportedFormat
from gateway.policy.bundle import ENTRYPOINTS, Bundle

LARGEST_INPUT = HEADROOM // 8
"""Bytes of JSON. What is larger is refused before it is evaluated."""
_TICKS = 5
"""Epochs in a deadline: it is kept to within a fifth of itself, and never early."""
_LOADING_TICKS = 1000
_BROKEN = (
    wasmtime.WasmtimeError,
    wasmtime.Trap,
    PolicyAborted,
    UnsupportedFormat,
    ValueError,
    KeyError,
    RecursionError,
)

log = structlog.get_logger()


class Embedded:
    """Runs one bundle. Thread-safe; a decision takes well under a millisecond, so it runs where it is asked for."""

    def __init__(self, bundle: Bundle, *, deadline_ms: int, memory_mb: int) -> None:
        """Compiles the bundle. Raises `errors.PolicyInvalid` for one that cannot run here."""
        config = wasmtime.Config()
        config.epoch_interruption = True
        self._engine = wasmtime.Engine(config)
        self._bundle = bundle
        self._deadline = deadline_ms / 1000
        self._memory_bytes = memory_mb * 1024 * 1024
        self._lock = threading.Lock()
        self._revision = bundle.revision
        self._stop = threading.Event()
        self._end = weakref.finalize(self, self._stop.set)
        arguments = (self._engine, self._stop, self._deadline / _TICKS)
        threading.Thread(target=_tick, args=arguments, name="policy-deadline", daemon=True).start()
        try:
            self._module = wasmtime.Module(self._engine, bundle.wasm)
            instance = self._fresh()
        except (wasmtime.WasmtimeError, wasmtime.Trap, PolicyAborted, ValueError, KeyError) as error:
            self._end()
            raise PolicyInvalid(f"The policy bundle cannot be run: {error}") from error
        except PolicyInvalid:
            self._end()
            raise
        if missing := set(ENTRYPOINTS) - set(instance.entrypoints):
            self._end()
            raise PolicyInvalid(f"The policy bundle has no {', '.join(sorted(missing))}.")
        self._instance: WasmInstance | None = instance
        self._flip_window = bundle.flip_window

    @property
    def revision(self) -> str:
        """Digest of the bundle in force, 64 hex digits."""
        return self._revision

    @property
    def flip_window(self) -> timedelta:
        """How far back changes of an attribute's holder are counted, from the data of the bundle in force."""
        return self._flip_window

    def packages(self) -> frozenset[str]:
        """The guardrail packages of the bundle in force, each of which must answer."""
        return self._bundle.packages

    @property
    def problem(self) -> str:
        """Nothing can be wrong with what runs: a fixed bundle."""
        return ""

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The value of a rule, every list in it in canonical order (they are sets).

        Raises `errors.PolicyUnavailable` for whatever is not a defined value in time.
        """
        try:
            text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise PolicyUnavailable("The policies cannot be shown this change: it has no JSON form.") from error
        if len(text) > LARGEST_INPUT:
            raise PolicyUnavailable(
                f"The policies cannot be shown this change: its description is {len(text)} bytes long, more than {LARGEST_INPUT}."
            )
        return _defined(entrypoint, self._evaluate(entrypoint, text))

    async def close(self) -> None:
        """Stop the deadline's clock. The engine answers no more."""
        self._end()

    def _evaluate(self, entrypoint: str, text: bytes) -> Any:
        with self._lock:
            if not self._end.alive:
                raise PolicyUnavailable("The policy engine has been closed.")
            # Our own time, not the clock's: a machine that stood still for a second is not the policies' doing.
            started = time.thread_time()
            try:
                instance = self._fresh() if self._instance is None else self._instance
                self._instance = None  # until it has answered: after any exception it is not to be trusted
                found = instance.evaluate(instance.entrypoints[entrypoint], text, _TICKS + 1)
            except (*_BROKEN, PolicyInvalid) as error:
                log.warning("policy_broke", entrypoint=entrypoint, error=f"{type(error).__name__}: {error}"[:500])
                raise PolicyUnavailable(f"The policies gave no answer to {entrypoint}: {_reason(error)}.") from error
            if not instance.grown:
                self._instance = instance
            if time.thread_time() - started > self._deadline:
                raise PolicyUnavailable(
                    f"The policies took longer than {self._deadline * 1000:.0f} ms over {entrypoint}."
                )
            return found

    def _fresh(self) -> WasmInstance:
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


def _reason(error: Exception) -> str:
    """Why, without the policy's own words, which may hold what it was shown."""
    if isinstance(error, wasmtime.Trap) and error.trap_code is wasmtime.TrapCode.INTERRUPT:
        return "they took too long"
    if isinstance(error, PolicyAborted):
        return "they gave up (out of memory, or two rules contradict each other)"
    return "they broke"


def _defined(entrypoint: str, found: Any) -> Json:
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], Mapping) or "result" not in found[0]:
        raise PolicyUnavailable(f"The policies have no answer to {entrypoint}: it is undefined.")
    return in_order(found[0]["result"])


def in_order(value: Json) -> Json:
    """The value with every list sorted by its members' canonical form. Sets come from each engine in an order of its own."""
    if isinstance(value, Mapping):
        return {key: in_order(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((in_order(item) for item in value), key=canonical)
    return value
