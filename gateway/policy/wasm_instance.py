"""One instance of a compiled policy in wasmtime, called through OPA's Wasm ABI (1.2 or later).

A replay runs modules that a caller sent, and nothing says that OPA made them. So every address is checked against the memory before it is
read or written, and everything that a module can allocate has a limit.

Source of the ABI: https://www.openpolicyagent.org/docs/wasm (`opa_eval`, the one-shot evaluation).
"""

import ctypes
import json
import math
import mmap
import struct
import weakref
from collections.abc import Mapping
from dataclasses import replace
from types import MethodType
from typing import Any

import msgspec
import wasmtime

from gateway.core.errors import PolicyInvalid
from gateway.policy.builtins import SUPPLIED, Builtin, unsupplied
from gateway.policy.builtins.evaluation import LARGEST_VALUE, BuiltinError, Evaluation, TooMuch
from gateway.policy.rego_values import Term, parse, to_text

PAGE = 65536
HEADROOM = 4 * 1024 * 1024
"""Bytes of memory that an instance has from the start in addition to its data, for the input and its evaluation."""
LARGEST_ANSWER = HEADROOM
"""Bytes of an answer as JSON. Its parser takes many times as much memory, and nothing else runs meanwhile."""
_MOST_TABLE_ELEMENTS = 1 << 16
"""Of all tables; each element takes eight bytes. OPA's table has a few thousand functions."""
_INSTANCES = 2
"""The policy and the shim."""
_JSON_FORMAT = 0
_I32 = wasmtime.ValType.i32
_ABI = (1, 2)
_MAX_ARGUMENTS = 4
_TEXT = 4096
"""Bytes of a text that are read at first: most texts end before."""
_HEADER = 8
"""Bytes before the input: the number of the entrypoint and the length of the input."""
_ANSWER_HAS = "the policies' answer has"
_SHIM = """
(module
  (import "env" "memory" (memory 2))
  (import "policy" "opa_eval" (func $eval (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (func (export "eval")
    (i32.store (i32.const {base})
      (call $eval
        (i32.const 0)
        (i32.load (i32.const {base}))
        (i32.const {data})
        (i32.const {input})
        (i32.load offset=4 (i32.const {base}))
        (i32.and (i32.add (i32.add (i32.const {input}) (i32.load offset=4 (i32.const {base}))) (i32.const 7)) (i32.const -8))
        (i32.const {format})))))
"""
"""Calls `opa_eval` with the header as arguments, and puts the address of the answer in their place: passing seven arguments from Python takes as
long as a small policy, and one result 15 more calls of Python.
"""


class _Nothing:
    """The type of a function that takes and returns nothing, as far as a call asks for it."""

    params = results = ()


_NOTHING = _Nothing()


class PolicyAborted(Exception):
    """The policy called `opa_abort`, e.g. because its memory was full or two rules conflict."""


class WasmInstance:
    """A policy with its data in its own memory. Not thread-safe. Must not be used after an exception from `evaluate`."""

    def __init__(
        self, module: wasmtime.Module, *, engine: wasmtime.Engine, data: bytes, memory_bytes: int, ticks: int
    ) -> None:
        """`data` is the JSON of the bundle's data, `ticks` the number of epochs that loading may take.

        Raises `errors.PolicyInvalid` if the module needs a built-in that is not supplied or has another ABI version, and
        wasmtime's errors if it traps or does not fit into the memory.
        """
        self._store = wasmtime.Store(engine)
        self._store.set_epoch_deadline(ticks)
        self._store.set_limits(
            memory_size=memory_bytes,
            table_elements=_MOST_TABLE_ELEMENTS,
            instances=_INSTANCES,
            tables=_INSTANCES,
            memories=1,
        )
        self._evaluation = _WITHOUT_INPUT
        self._builtins: Mapping[int, Builtin] = {}
        limits = wasmtime.Limits(_first_pages(module, memory_bytes // PAGE), memory_bytes // PAGE)
        self._memory = wasmtime.Memory(self._store, wasmtime.MemoryType(limits))
        self._engine = engine
        self._exports = self._link(module)
        self._check_abi()
        self._builtins = self._bind_builtins()
        self.entrypoints = self._read_numbers("entrypoints")
        self._protected = range(0)
        data_begins = self._number("opa_heap_ptr_get")
        self._data = self._number("opa_json_parse", self._write(data), len(data))
        if not self._data:
            raise PolicyInvalid("The policy bundle's data is not JSON, so the bundle was not loaded.")
        self._base = -(-self._number("opa_heap_ptr_get") // 8) * 8
        # Allocate and release once, so that the saved heap already has room for an input and its evaluation.
        self._call("opa_malloc", HEADROOM)
        self._call("opa_heap_ptr_set", self._base)
        self._size = self._memory.data_len(self._store)
        self._check_room(self._base, 0)
        # Where the memory is and how long: both change only when an evaluation enlarges it, and to ask takes three calls of Python each.
        self._start, self._length = self._address(), self._size
        self._eval = self._shim()
        self._protected = _read_only(self._start, data_begins, self._base)
        # What an evaluation may change: all below the data, and the end of the data, which shares a page with the input.
        self._pristine = [
            (start, bytes(self._memory.read(self._store, start, stop)))
            for start, stop in ((0, self._protected.start), (self._protected.stop, self._base))
        ]

    def evaluate(self, entrypoint: int, document: bytes, ticks: int, evaluation: Evaluation | None = None) -> Any:
        """OPA's result set for `document`, as parsed JSON: `[{"result": …}]`, or `[]` if it is undefined.

        Each evaluation starts with the memory as it was after loading, so evaluations cannot affect each other. `evaluation` is what the
        built-ins may know and use; without it they have no clock and no deadline of their own. Raises `TooMuch` for a built-in that needs more.
        """
        self._evaluation = evaluation or replace(_WITHOUT_INPUT, document=document)
        self._store.set_epoch_deadline(ticks)
        content = struct.pack("<II", entrypoint, len(document)) + document
        _check_room(self._base, len(content) + 8, self._length)
        for start, pristine in self._pristine:
            ctypes.memmove(self._start + start, pristine, len(pristine))
        ctypes.memmove(self._start + self._base, content, len(content))
        self._eval(self._store)
        length = self._memory.data_len(self._store)
        if length != self._length:
            self._start, self._length = self._address(), length
        answer = int.from_bytes(ctypes.string_at(self._start + self._base, 4), "little")
        return msgspec.json.decode(_text(_until_zero(self._start, answer, length, LARGEST_ANSWER, _ANSWER_HAS)))

    @property
    def grown(self) -> bool:
        """Whether an evaluation enlarged the memory. Memory never shrinks, so the instance should be replaced."""
        return self._length > self._size

    def close(self) -> None:
        """Give its memory back now, also where something still refers to it."""
        self._store.close()

    def _link(self, module: wasmtime.Module) -> Mapping[str, object]:
        # The library keeps these outside of Python, where the collector cannot see that only this instance needs them.
        itself = weakref.proxy(self)
        builtin, abort = (MethodType(getattr(type(self), name), itself) for name in ("_builtin", "_abort"))
        linker = wasmtime.Linker(self._engine)
        linker.define(self._store, "env", "memory", self._memory)
        for count in range(_MAX_ARGUMENTS + 1):
            kind = wasmtime.FuncType([_I32()] * (count + 2), [_I32()])
            linker.define(self._store, "env", f"opa_builtin{count}", wasmtime.Func(self._store, kind, builtin))
        takes_text = wasmtime.FuncType([_I32()], [])
        linker.define(self._store, "env", "opa_abort", wasmtime.Func(self._store, takes_text, abort))
        linker.define(self._store, "env", "opa_println", wasmtime.Func(self._store, takes_text, _ignore))
        return dict(linker.instantiate(self._store, module).exports(self._store).items())

    def _shim(self) -> wasmtime.Func:
        text = _SHIM.format(base=self._base, data=self._data, input=self._base + _HEADER, format=_JSON_FORMAT)
        linker = wasmtime.Linker(self._engine)
        linker.define(self._store, "env", "memory", self._memory)
        linker.define(self._store, "policy", "opa_eval", _function(self._exports, "opa_eval"))
        instance = linker.instantiate(self._store, wasmtime.Module(self._engine, text))
        shim = _function(dict(instance.exports(self._store).items()), "eval")
        # A call asks for the type each time, which takes a dozen calls of Python, and the shim's is known: it takes and returns nothing.
        setattr(shim, "type", lambda _store: _NOTHING)  # noqa: B010  a method of the library's class
        return shim

    def _check_abi(self) -> None:
        version = tuple(self._global(name) for name in ("opa_wasm_abi_version", "opa_wasm_abi_minor_version"))
        if version[0] != _ABI[0] or version < _ABI:
            raise PolicyInvalid(
                f"The policy bundle has version {version} of OPA's Wasm ABI, not {_ABI}; build it with a current opa."
            )

    def _bind_builtins(self) -> Mapping[int, Builtin]:
        """The host functions by the numbers that the module assigns to them."""
        required = self._read_numbers("builtins")
        if missing := unsupplied(required):
            raise PolicyInvalid(f"{missing} The bundle was not loaded.")
        return {number: SUPPLIED[name] for name, number in required.items()}

    def _builtin(self, number: int, _context: int, *arguments: int) -> int:
        """The address of a built-in's answer; 0, which is undefined, where it has none for these arguments."""
        try:
            answer = self._builtins[number](self._evaluation, *(self._read_term(argument) for argument in arguments))
            text = _notation(answer)
        except BuiltinError:
            return 0
        return self._number("opa_value_parse", self._write(text), len(text))

    def _read_term(self, address: int) -> Term:
        text = self._bytes_at(self._number("opa_value_dump", address), LARGEST_VALUE, "a built-in function got")
        return parse(text.decode(errors="surrogateescape"))

    def _abort(self, address: int) -> None:
        raise PolicyAborted(self._read_text(address)[:500])

    def _read_numbers(self, name: str) -> Mapping[str, int]:
        """The numbers by name that the module exports as JSON. Raises `errors.PolicyInvalid` if they are something else."""
        found = json.loads(self._read_text(self._number("opa_json_dump", self._number(name))))
        if not isinstance(found, dict) or not all(type(number) is int for number in found.values()):
            raise PolicyInvalid(f"The policy bundle's {name} are no numbers by name, so it was not built by opa.")
        return found

    def _write(self, content: bytes) -> int:
        address = self._number("opa_malloc", len(content))
        self._check_room(address, len(content))
        if address < self._protected.stop and address + len(content) > self._protected.start:
            # Only a module that OPA did not make allocates there, and this process may not write there either.
            raise PolicyAborted("the policy allocated read-only memory")
        ctypes.memmove(self._address() + address, content, len(content))
        return address

    def _check_room(self, address: int, length: int) -> None:
        _check_room(address, length, self._memory.data_len(self._store))

    def _read_text(self, address: int) -> str:
        """The zero-terminated text at an address. Raises PolicyAborted if the address is outside the memory."""
        return _text(self._bytes_at(address, LARGEST_ANSWER, _ANSWER_HAS))

    def _bytes_at(self, address: int, most: int, what: str) -> bytes:
        """As `_until_zero`, wherever the memory is now: a built-in may be called when an evaluation has enlarged it."""
        return _until_zero(self._address(), address, self._memory.data_len(self._store), most, what)

    def _address(self) -> int:
        return ctypes.addressof(self._memory.data_ptr(self._store).contents)

    def _global(self, name: str) -> int:
        export = self._exports.get(name)
        if not isinstance(export, wasmtime.Global):
            raise PolicyInvalid(f"The policy bundle has no {name}, so it was not built by opa.")
        return int(export.value(self._store))

    def _call(self, name: str, *arguments: int) -> Any:
        return _function(self._exports, name)(self._store, *arguments)

    def _number(self, name: str, *arguments: int) -> int:
        return _integer(name, self._call(name, *arguments))


_WITHOUT_INPUT = Evaluation(document=b"", now_ns=None, deadline=math.inf)
"""What built-ins know while a module is loaded, when OPA's call none."""


def _read_only(start: int, begin: int, end: int) -> range:
    """Make the pages between two addresses of the memory that is at `start` read-only, and say which addresses that are; none if the system refuses.

    OPA's modules never change their data, and an evaluation that writes there ends with a trap. So the data need not be restored before the next one,
    which takes 10 to 30 µs and drives all else out of the processor's caches.
    """
    page = mmap.PAGESIZE
    kept = range(-(-begin // page) * page, end // page * page)
    try:
        if not 0 <= begin <= end or start % page or not kept:
            return range(0)
        where, length = ctypes.c_void_p(start + kept.start), ctypes.c_size_t(len(kept))
        failed = ctypes.CDLL(None).mprotect(where, length, mmap.PROT_READ)
    except (OSError, AttributeError):
        return range(0)
    return range(0) if failed else kept


def _check_room(address: int, length: int, memory: int) -> None:
    """Raises PolicyAborted unless a memory of `memory` bytes has `length` bytes at the address."""
    if not 0 < address <= memory - length:
        raise PolicyAborted("the policy returned an address outside its memory")


def _until_zero(start: int, address: int, memory: int, most: int, what: str) -> bytes:
    """The bytes from an address to the next zero, in a memory of `memory` bytes that is at `start`.

    Raises `TooMuch` for more than `most`; `what` says what has them. Raises PolicyAborted if they do not begin in the memory: what is beside
    it is the gateway's. A text without an end ends with the memory.
    """
    _check_room(address, 1, memory)
    room = memory - address
    size = _TEXT
    while True:
        text = ctypes.string_at(start + address, min(size, room))
        end = text.find(0)
        if end > most or (end < 0 and len(text) > most):
            raise TooMuch(f"{what} more than {most} bytes")
        if end >= 0:
            return text[:end]
        if size >= room:
            return text
        size *= 16


def _text(content: bytes) -> str:
    """Text as OPA writes JSON: policies can make strings that are not UTF-8."""
    return content.decode(errors="replace")


def _integer(name: str, returned: object) -> int:
    """What a function returned. Raises `errors.PolicyInvalid` if that is no number: the module's author says what each function returns."""
    if not isinstance(returned, int):
        raise PolicyInvalid(f"The policy bundle's {name} returns no number, so it was not built by opa.")
    return returned


def _function(exports: Mapping[str, object], name: str) -> wasmtime.Func:
    function = exports.get(name)
    if not isinstance(function, wasmtime.Func):
        raise PolicyInvalid(f"The policy bundle has no {name}, so it was not built by opa.")
    return function


def _notation(value: Term) -> bytes:
    """The value in OPA's notation. Raises `TooMuch` for one that is larger than a built-in may return."""
    # What is not UTF-8 becomes the replacement character: OPA's Wasm parses nothing else.
    text = to_text(value).encode(errors="surrogateescape").decode(errors="replace").encode()
    if len(text) > LARGEST_VALUE:
        raise TooMuch(f"a built-in function would return more than {LARGEST_VALUE} bytes")
    return text


def _ignore(_address: int) -> None:
    """Discard what policies print, because it may contain a secret."""


def _first_pages(module: wasmtime.Module, most: int) -> int:
    """The pages of memory to start with: more policies have more constants, so the module says how many it needs.

    OPA says so before it adds the names of entrypoints and built-ins, which then may lie beyond. `HEADROOM` is taken later anyway.
    """
    kinds = [wanted.type for wanted in module.imports if wanted.name == "memory"]
    least = max((kind.limits.min for kind in kinds if isinstance(kind, wasmtime.MemoryType)), default=2)
    return max(least, min(most, least + HEADROOM // PAGE))
