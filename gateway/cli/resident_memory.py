"""The memory of a gateway that has started: it gives back what only its start needed, and keeps the rest in huge pages.

A mutation runs some thousand functions of Python once each, whose objects lie all over the memory, so the processor spends a part of its time on
translating addresses. With huge pages a mutation takes 7 % less processor time and a read 4 % (`tests/bench/README.md`).
"""

import contextlib
import ctypes
import gc
import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_COLLECTED: Final = (700, 10, 10)
"""How often Python by itself looks for garbage, which a command does seldom."""
_HUGE: Final = 2 << 20
"""Bytes of a huge page, on x86-64 and on AArch64 with pages of 4 KB."""
_IN_USE: Final = 0.8
"""A block becomes a huge page if this part of it is in memory already: what it adds is at most a quarter of itself, and 1 MB of 100 was measured."""
_COLLAPSE: Final = 25
"""`MADV_COLLAPSE` of Linux 6.1 (madvise(2)): a copy into a huge page, at once; the content stays. Python has no name for it."""
_DONTNEED: Final = 4
"""`MADV_DONTNEED` of madvise(2)."""
_LIBRARY: Final = re.compile(
    r"([0-9a-f]+)-([0-9a-f]+) r-[x-]p [0-9a-f]+ \S+ \d+ +/\S+(?:\.so|\.so\.[\d.]+|/python[\d.]*)\n"
)
"""The head of a mapping of a library or of the interpreter that nobody can write, in `/proc/self/smaps`. Neither is unmapped before the process ends."""
_NOTHING_OWN: Final = re.compile(r"^Anonymous: +0 kB$", re.MULTILINE)


def forget_start() -> None:
    """Forget what only the start needed. Call it once; garbage collections are on afterwards, and leave out all that is there now."""
    from gateway.policy.embedded import forget_code
    from gateway.terraform.contracts.text import forget_grammar

    forget_code()  # the modules in use have it as their own
    forget_grammar()
    # Objects that live as long as the gateway are excluded from later garbage collections.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTED)
    gc.enable()


def give_back() -> None:
    """Give the system back what is free, and what is still in files."""
    with contextlib.suppress(OSError, AttributeError):  # a C library other than glibc has no such function
        # Compiling the policies and reading the code took 20 MB that nothing else will need at once.
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError, AttributeError):  # a system other than Linux says nothing of its mappings
        _unmap_libraries()


def _unmap_libraries() -> None:
    """Take the pages of libraries out of this process. They stay in the system's page cache, and those that are used come back by themselves:
    of the 43 MB that the start touches, wasmtime's compiler among them, 16 do after traffic of all kinds, with 20 page faults more.
    """
    smaps = Path("/proc/self/smaps").read_text()
    library = ctypes.CDLL(None)
    for start, end in clean_mappings(smaps):
        library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _DONTNEED)


def clean_mappings(smaps: str) -> Iterator[tuple[int, int]]:
    """Start and end of the mappings in such a text whose every page is as it is in the file, and stays so: what is not could not be read again."""
    heads = list(_LIBRARY.finditer(smaps))
    for head in heads:
        details = smaps[head.end() : smaps.find("VmFlags:", head.end())]
        if _NOTHING_OWN.search(details):
            yield int(head[1], 16), int(head[2], 16)


def use_huge_pages() -> int:
    """Move each block of this process's own memory that is nearly all in use into a huge page; how many were moved.

    Whatever the system does not offer stays as it is: an older kernel, huge pages that are switched off, or none that is free.
    It takes 50 to 300 ms, during which other threads run.
    """
    try:
        library = ctypes.CDLL(None)
        blocks = list(_blocks(Path("/proc/self/maps").read_text()))
        return sum(_is_in_use(library, block) and _is_moved(library, block) for block in blocks)
    except (OSError, AttributeError, ValueError):
        return 0


def _blocks(maps: str) -> Iterator[int]:
    """The addresses of whole blocks in the anonymous memory that `/proc/self/maps` (proc(5)) lists, stacks of first threads left out."""
    for line in maps.splitlines():
        addresses, permissions, _offset, _device, inode, *name = line.split(maxsplit=5)
        if inode == "0" and name in ([], ["[heap]"]) and permissions[0] + permissions[3] == "rp":
            start, end = (int(address, 16) for address in addresses.split("-"))
            yield from range(-(-start // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE)


def _is_in_use(library: ctypes.CDLL, block: int) -> bool:
    pages = (ctypes.c_ubyte * (_HUGE // mmap.PAGESIZE))()
    if library.mincore(ctypes.c_void_p(block), ctypes.c_size_t(_HUGE), pages):
        return False  # given back since the list was made
    return bytes(pages).count(1) >= _IN_USE * len(pages)


def _is_moved(library: ctypes.CDLL, block: int) -> bool:
    return not library.madvise(ctypes.c_void_p(block), ctypes.c_size_t(_HUGE), _COLLAPSE)
