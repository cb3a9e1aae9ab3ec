"""The AWS operations that the provider's own code calls, read from the machine code of its executable: the denominator of the figures.

A call of the Go SDK's client is a direct call of a function whose name the executable keeps (`.gopclntab`). So the targets of all call
instructions in the functions of the provider's own packages tell exactly which operations it can send. Works for Linux on x86-64.
"""

import mmap
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from botocore.loaders import Loader

_CLIENT: Final = re.compile(rb"aws-sdk-go-v2/service/([a-z0-9]+)\.\(\*Client\)\.([A-Z][A-Za-z0-9]*)$")
_OWN: Final = b"hashicorp/terraform-provider-aws/internal"
_CALL: Final = re.compile(rb"\xe8")
"""The x86-64 instruction CALL with a relative address of four bytes."""
_MAGIC: Final = 0xFFFFFFF1
"""The start of `.gopclntab` since Go 1.20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    address: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Functions:
    """The functions of an executable: where each begins, relative to `text`, in order, and its name."""

    text: int
    entries: Sequence[int]
    names: Sequence[bytes]

    def at(self, address: int) -> bytes:
        """The name of the function that an address is in."""
        return self.names[bisect_right(self.entries, address - self.text) - 1]


def called_operations(executable: Path) -> frozenset[tuple[str, str]]:
    """(botocore's service, operation) of each operation that the provider's own code calls.

    Operations of services that botocore does not have are left out. Raises `ValueError` for an executable of another kind.
    """
    services = _services_by_package()
    with executable.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        return frozenset((services[package], name) for package, name in _called(image) if package in services)


def _services_by_package() -> Mapping[str, str]:
    """The Go SDK's package of a service → botocore's name of it: the package is the service id without blanks."""
    loader = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])
    found = {}
    for service in loader.list_available_services("service-2"):
        identifier = loader.load_service_model(service, "service-2")["metadata"].get("serviceId", "")
        found[re.sub(r"[^a-z0-9]", "", identifier.lower())] = service
    return found


def _called(image: mmap.mmap) -> Iterator[tuple[str, str]]:
    sections = _sections(image)
    functions = _functions(image, sections[".gopclntab"])
    targets = {
        functions.text + entry: (found[1].decode(), found[2].decode())
        for entry, name in zip(functions.entries, functions.names, strict=True)
        if (found := _CLIENT.search(name)) is not None
    }
    text = sections[".text"]
    code = image[text.offset : text.offset + text.size]
    relative = struct.Struct("<i").unpack_from
    for found in _CALL.finditer(code, 0, text.size - 5):
        place = found.start()
        target = targets.get(text.address + place + 5 + relative(code, place + 1)[0])
        if target is not None and _OWN in functions.at(text.address + place):
            yield target


def _sections(image: mmap.mmap) -> Mapping[str, _Section]:
    """The sections of an ELF file of 64 bits."""
    if image[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", image, 18)[0] != 62:
        raise ValueError("The provider is no Linux executable for x86-64.")
    (headers,) = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    entries = [struct.unpack_from("<IIQQQQ", image, headers + place * size) for place in range(count)]
    start = entries[names][4]
    return {
        _text(image, start + name).decode(): _Section(address=address, offset=offset, size=length)
        for name, _, _, address, offset, length in entries
    }


def _functions(image: mmap.mmap, section: _Section) -> _Functions:
    start = section.offset
    if struct.unpack_from("<I", image, start)[0] != _MAGIC:
        raise ValueError("The provider was built by a version of Go whose table of functions is not known.")
    count, _, text, names, _, _, _, table = struct.unpack_from("<8Q", image, start + 8)
    pairs = struct.unpack_from(f"<{2 * count}I", image, start + table)
    offsets = (struct.unpack_from("<i", image, start + table + place + 4)[0] for place in pairs[1::2])
    return _Functions(
        text=text, entries=pairs[0::2], names=[_text(image, start + names + offset) for offset in offsets]
    )


def _text(image: mmap.mmap, start: int) -> bytes:
    return image[start : image.find(b"\0", start)]
