"""Memory that is nearly all in use becomes huge pages and keeps its content; what is nearly empty does not grow."""

import json
import subprocess
import sys
from pathlib import Path

from tests.kit.up import ROOT

_SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_PROGRAM = """
import json, mmap, re, sys
from pathlib import Path
from gateway.cli.resident_memory import give_back, use_huge_pages

def kilobytes(file, name):
    return sum(int(found) for found in re.findall(rf"^{name}: +(\\d+) kB$", Path(file).read_text(), re.MULTILINE))

BLOCK = 2 << 20
step = int(sys.argv[1])
places = range(0, 5 * BLOCK, step)  # so at least four whole blocks, wherever it begins
with mmap.mmap(-1, 5 * BLOCK, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
    for place in places:
        memory[place : place + 4] = place.to_bytes(4, "big")
    before = kilobytes("/proc/self/status", "RssAnon")
    give_back()
    moved = use_huge_pages()
    print(json.dumps({
        "moved": moved,
        "huge": kilobytes("/proc/self/smaps", "AnonHugePages"),
        "grown": kilobytes("/proc/self/status", "RssAnon") - before,
        "kept": all(int.from_bytes(memory[place : place + 4], "big") == place for place in places),
    }))
"""


def test_what_is_in_use_becomes_huge_pages_and_keeps_its_content() -> None:
    done = _done(every=4096)
    assert done["kept"]
    assert done["grown"] < 4096
    assert done["huge"] == done["moved"] * 2048
    assert done["moved"] >= 4 or not _SETTING.exists() or "[never]" in _SETTING.read_text()


def test_what_is_nearly_empty_does_not_grow() -> None:
    done = _done(every=1 << 19)
    assert done["kept"]
    assert done["grown"] < 4096
    assert done["huge"] == done["moved"] * 2048 <= 2048


def _done(*, every: int) -> dict[str, int]:
    """What becomes of 10 MB of which a byte in so many is written, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(every)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return dict(json.loads(run.stdout))
