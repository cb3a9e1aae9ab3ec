"""Gives back the memory that only the start of a gateway needs, so that what is resident is what its requests use."""

import contextlib
import ctypes
import gc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MADV_DONTNEED: Final = 4
_MAPPING: Final = re.compile(
    r"([0-9a-f]+)-([0-9a-f]+) r-([x-])p [0-9a-f]+ \S+ \d+ +/\S+(?:\.so|\.so\.[\d.]+|/python[\d.]*)\n"
)
"""The head of a mapping of a library or of the interpreter that nobody can write, in `/proc/self/smaps`. Neither is unmapped before the process ends."""
_NOTHING_OWN: Final = re.compile(r"^Anonymous: +0 kB$", re.MULTILINE)


def give_back_memory() -> None:
    """Call it once, when the gateway is ready. Garbage collections are on afterwards, and leave out all that is there now."""
    _forget_what_was_read()
    # Objects that live as long as the gateway are excluded from later garbage collections.
    gc.collect()
    gc.freeze()
    gc.enable()
    with contextlib.suppress(OSError, AttributeError):  # a C library other than glibc has no such function
        ctypes.CDLL(None).malloc_trim(0)  # the start took 20 MB that nothing else will need at once
    with contextlib.suppress(OSError, AttributeError):  # a system other than Linux says nothing of its mappings
        _unmap_libraries()


def _forget_what_was_read() -> None:
    """The machine code of the policies, which the modules in use have as their own, and the parser of contracts: together 8 MB."""
    from gateway.policy.embedded import forget_code
    from gateway.terraform.contracts.text import forget_grammar

    forget_code()
    forget_grammar()


def _unmap_libraries() -> None:
    """Take the pages of libraries out of this process. They stay in the system's page cache, and those that are used come back by themselves:
    of the 43 MB that the start touches, wasmtime's compiler among them, 16 do after traffic of all kinds, with 20 page faults more.
    """
    smaps = Path("/proc/self/smaps").read_text()
    library = ctypes.CDLL(None)
    for start, end in clean_mappings(smaps):
        library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_DONTNEED)


def clean_mappings(smaps: str) -> Iterator[tuple[int, int]]:
    """Start and end of the mappings in such a text whose every page is as it is in the file, and stays so: what is not could not be read again."""
    heads = list(_MAPPING.finditer(smaps))
    for head in heads:
        details = smaps[head.end() : smaps.find("VmFlags:", head.end())]
        if _NOTHING_OWN.search(details):
            yield int(head[1], 16), int(head[2], 16)
