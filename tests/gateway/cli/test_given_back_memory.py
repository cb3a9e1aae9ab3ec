"""What is given back at the end of a start is only what can be read again: a page that somebody wrote would be lost."""

import subprocess
import sys
from pathlib import Path

from gateway.cli.resident_memory import clean_mappings

ROOT = Path(__file__).parents[3]

DETAILS = """Size:                 16 kB
Rss:                  16 kB
Anonymous:      {anonymous:>8} kB
AnonHugePages:         0 kB
VmFlags: rd ex mr mw me
"""


def _mapping(path: str, *, rights: str = "r-xp", anonymous: int = 0) -> str:
    return f"1000-5000 {rights} 00001000 fe:00 4711                       {path}\n" + DETAILS.format(
        anonymous=anonymous
    )


def test_pages_of_a_library_that_are_as_in_its_file_are_given_back() -> None:
    for path in (
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
        "/usr/lib/python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so",
        "/venv/cryptography/hazmat/bindings/_rust.abi3.so",
        "/usr/bin/python3.11",
    ):
        assert list(clean_mappings(_mapping(path))) == [(0x1000, 0x5000)], path
        assert list(clean_mappings(_mapping(path, rights="r--p"))) == [(0x1000, 0x5000)], path


def test_nothing_else_is_given_back() -> None:
    library = "/usr/lib/libcrypto.so.3"
    for other in (
        _mapping(library, anonymous=4),  # relocated when it was loaded
        _mapping(library, rights="rw-p"),
        _mapping(library, rights="r-xs"),
        _mapping(f"{library} (deleted)"),  # what is in its place now is another file
        _mapping(""),
        _mapping("[heap]", rights="rw-p"),
        _mapping("/home/ann/data.so.txt"),
        _mapping("/usr/lib/locale/C.utf8/LC_CTYPE", rights="r--p"),  # may be unmapped meanwhile
    ):
        assert list(clean_mappings(other)) == [], other
    # The details of the next mapping are not those of one before it.
    both = _mapping(library, anonymous=4) + _mapping(library, anonymous=0)
    assert len(list(clean_mappings(both))) == 1


_PROGRAM = """
import gc, hashlib, sqlite3, ssl, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
import gateway.policy.embedded as embedded
from gateway.cli.resident_memory import forget_start, give_back

def resident():
    return int(open("/proc/self/status").read().partition("RssFile:")[2].split()[0])

def work():
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    code = embedded.compiled(b"\\0asm\\1\\0\\0\\0")
    assert len(code) > 100
    rows = sqlite3.connect(":memory:").execute("select 6 * 7").fetchall()
    return hashlib.sha256(key.sign(b"x")).hexdigest(), rows, len(ssl.create_default_context().get_ciphers())

gc.disable()
gc.set_threshold(50_000)
before, had = work(), resident()
forget_start()
give_back()
assert gc.isenabled()
assert gc.get_threshold() == (700, 10, 10)
left = resident()
assert left < had / 2, (had, left)
assert work() == before
"""


def test_what_was_given_back_is_read_again_when_it_is_used() -> None:
    subprocess.run([sys.executable, "-c", _PROGRAM], cwd=ROOT, timeout=300, check=True)
