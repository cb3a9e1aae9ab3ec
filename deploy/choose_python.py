"""Prints the path of the Python to build the environment with: `python3`, unless another one on PATH that suits is clearly faster.

One machine may have several builds of the same Python, and one without profile-guided optimisation takes about twice the time.
What a build says of its own flags is not enough to tell (Debian's optimised one states none), so a fixed loop is measured in each.
Needs nothing but the standard library. What was chosen, and why, goes to standard error.
"""

import json
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

OLDEST = (3, 11)
NAMES = ("python3", "python3.11", "python3.12", "python3.13")
CLEARLY = 0.75
"""Another Python is taken if it needs less than this part of the time that `python3` needs, or less at all if only it is an optimised build."""
_PROBE_SECONDS = 60
_MORE_ROUNDS = 3
"""Where several suit, each is measured this often again, in turn: what else the machine does at one moment must not decide."""


def main(arguments: list[str]) -> int:
    """Print the choice; with `--probe`, what this interpreter is, as JSON. 1 if no Python suits."""
    if arguments == ["--probe"]:
        described = describe()
        sys.stdout.write(json.dumps({**described, "build": optimisation(described)}) + "\n")
        return 0
    first = [described for path in candidates(os.environ.get("PATH", "")) if (described := probed(path))]
    paths = [str(each["executable"]) for each in fastest_of(first)]
    again = (
        [described for _ in range(_MORE_ROUNDS) for path in paths if (described := probed(path))]
        if len(paths) > 1
        else []
    )
    found = fastest_of(first + again)
    if not found:
        sys.stderr.write("Python 3.11 or newer is needed, and there is none on PATH.\n")
        return 1
    taken = choose(found)
    others = "".join(f"; {each['executable']} {each['loop_ms']} ms" for each in found if each is not taken)
    sys.stderr.write(
        f"Python {taken['version']} of {taken['executable']} ({optimisation(taken)}; a fixed loop in {taken['loop_ms']} ms{others})\n"
    )
    sys.stdout.write(f"{taken['executable']}\n")
    return 0


def candidates(path: str) -> list[str]:
    """The interpreters on PATH, in the order of PATH for each name."""
    places = [Path(folder) / name for name in NAMES for folder in path.split(os.pathsep) if folder]
    return list(dict.fromkeys(str(place) for place in places if os.access(place, os.X_OK)))


def probed(path: str) -> "dict[str, object] | None":
    """What the interpreter at a path is; None if it does not run, is too old, or is one of a virtual environment."""
    command = [path, str(Path(__file__).resolve()), "--probe"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=True)
        described: dict[str, object] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return described if described["suits"] else None


def fastest_of(probes: "list[dict[str, object]]") -> "list[dict[str, object]]":
    """One probe for each interpreter, its fastest, in the order in which they were first found."""
    found: dict[str, dict[str, object]] = {}
    for each in probes:
        known = found.setdefault(os.path.realpath(str(each["executable"])), each)
        if _loop(each) < _loop(known):
            known["loop_ms"] = each["loop_ms"]
    return list(found.values())


def choose(found: "list[dict[str, object]]") -> "dict[str, object]":
    """The first, unless another one is clearly faster; then the fastest. What the builds say of themselves counts where both agree with the measure."""
    fastest = min(found, key=_loop)
    enough = 1.0 if _optimised(fastest) and not _optimised(found[0]) else CLEARLY
    return fastest if _loop(fastest) < enough * _loop(found[0]) else found[0]


def describe() -> "dict[str, object]":
    """This interpreter: its path, version, whether it suits, what its build says of optimisation, and the time of a fixed loop."""
    flags = sysconfig.get_config_var("PY_CFLAGS") or ""
    return {
        "executable": sys.executable,
        "version": ".".join(map(str, sys.version_info[:3])),
        "suits": sys.version_info[:2] >= OLDEST and sys.prefix == sys.base_prefix,
        "profile_guided": "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or ""),
        "distribution": sys.base_prefix == "/usr",
        "level": ([each for each in flags.split() if each.startswith("-O")] or [""])[-1],
        "loop_ms": min(_timed() for _ in range(5)),
    }


def optimisation(described: "dict[str, object]") -> str:
    """What the build says of optimisation, in words."""
    if described["profile_guided"]:
        return f"built with --enable-optimizations, {described['level']}"
    if described["distribution"]:
        return f"the distribution's own build, {described['level']}"
    return f"built without --enable-optimizations, {described['level']}"


def _optimised(described: "dict[str, object]") -> bool:
    return bool(described["profile_guided"] or described["distribution"])


def _loop(described: "dict[str, object]") -> float:
    return float(str(described["loop_ms"]))


def _timed() -> float:
    """Milliseconds of processor time that a fixed loop takes."""
    started = time.process_time()
    counts: dict[str, int] = {}
    for number in range(100_000):
        name = f"k{number & 255}"
        counts[name] = counts.get(name, 0) + len(name)
    return round((time.process_time() - started) * 1000, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
