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
_ROUNDS = 3
"""Where several suit, each is measured this often, in turn: what else the machine does at one moment must not decide."""
_LOOPS = 3
"""Loops in one measurement, of which the fastest counts."""


def main(arguments: list[str]) -> int:
    """Print the choice; with `--probe`, what this interpreter is and how fast, as JSON; with `--describe` only what it is. 1 if no Python suits."""
    if arguments in (["--probe"], ["--describe"]):
        described = {**describe(), **(measure() if arguments == ["--probe"] else {})}
        sys.stdout.write(json.dumps({**described, "build": optimisation(described)}) + "\n")
        return 0
    found = distinct(probes(candidates(os.environ.get("PATH", "")), "--describe"))
    if not found:
        sys.stderr.write("Python 3.11 or newer is needed, and there is none on PATH.\n")
        return 1
    if len(found) == 1:
        report(found[0], "the only one on PATH that suits")
        return 0
    measured = [each for _ in range(_ROUNDS) for one in found for each in probes([str(one["executable"])], "--probe")]
    found = fastest_of(measured)
    taken = choose(found)
    others = "".join(f"; {each['executable']} {each['loop_ms']} ms" for each in found if each is not taken)
    report(taken, f"a fixed loop in {taken['loop_ms']} ms{others}")
    return 0


def report(taken: "dict[str, object]", reason: str) -> None:
    """Print the path of the one taken, and to standard error what it is and why."""
    sys.stderr.write(f"Python {taken['version']} of {taken['executable']} ({optimisation(taken)}; {reason})\n")
    sys.stdout.write(f"{taken['executable']}\n")


def candidates(path: str) -> list[str]:
    """The interpreters on PATH, in the order of PATH for each name; one file under several names of a folder only once.

    A link into another folder counts as one of its own: that of a virtual environment is another interpreter than its base.
    """
    places = [Path(folder) / name for name in NAMES for folder in path.split(os.pathsep) if folder]
    files: dict[str, str] = {}
    for place in places:
        if os.access(place, os.X_OK):
            folder, file = os.path.realpath(place.parent), os.path.realpath(place)
            files.setdefault(file if os.path.dirname(file) == folder else f"{folder}/{place.name}", str(place))  # noqa: PTH120  text
    return list(files.values())


def probes(paths: "list[str]", mode: str) -> "list[dict[str, object]]":
    """What the interpreters at these paths say, started side by side: those that run, are new enough, and no virtual environment's."""
    started = [process for path in paths if (process := _started(path, mode))]
    return [described for process in started if (described := _said(process)) and described["suits"]]


def _started(path: str, mode: str) -> "subprocess.Popen[str] | None":
    command = [path, str(Path(__file__).resolve()), mode]
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None


def _said(process: "subprocess.Popen[str]") -> "dict[str, object] | None":
    try:
        text, _ = process.communicate(timeout=_PROBE_SECONDS)
        said: dict[str, object] = json.loads(text)
    except (subprocess.SubprocessError, ValueError):
        process.kill()
        process.communicate()
        return None
    return said if process.returncode == 0 else None


def distinct(found: "list[dict[str, object]]") -> "list[dict[str, object]]":
    """Each interpreter once, in the order in which they were first found: a launcher and what it starts are one."""
    kept: dict[str, dict[str, object]] = {}
    for each in found:
        kept.setdefault(os.path.realpath(str(each["executable"])), each)
    return list(kept.values())


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
    """This interpreter: its path, version, whether it suits, and what its build says of optimisation."""
    flags = sysconfig.get_config_var("PY_CFLAGS") or ""
    return {
        "executable": sys.executable,
        "version": ".".join(map(str, sys.version_info[:3])),
        "suits": sys.version_info[:2] >= OLDEST and sys.prefix == sys.base_prefix,
        "profile_guided": "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or ""),
        "distribution": sys.base_prefix == "/usr",
        "level": ([each for each in flags.split() if each.startswith("-O")] or [""])[-1],
    }


def measure() -> "dict[str, object]":
    """The time of a fixed loop in this interpreter."""
    return {"loop_ms": min(_timed() for _ in range(_LOOPS))}


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
