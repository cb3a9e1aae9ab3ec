"""The drift benchmark: `python -m tests.bench.drift [project …]` (`make bench-drift PROJECT=…`). `README.md` says what it measures.

Exit code 0 if nothing was wrong and no scenario was broken, else 1.
"""

import argparse
import fnmatch
import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.drift.contestants import Contestant, generate, gold, nothing, revert, sentinel
from tests.bench.drift.judge import Grade
from tests.bench.drift.play import Broken, Result, play
from tests.bench.drift.scenario import project_names, read_kinds, read_project
from tests.bench.drift.table import table

CONTESTANTS: dict[str, Contestant] = {
    "sentinel": sentinel,
    "gold": gold,
    "do-nothing": nothing,
    "generate-config-out": generate,
    "plan-and-revert": revert,
}
"""In the order they play. The last undoes the drift, so nobody plays after it."""
_USUAL = ["sentinel", "generate-config-out", "plan-and-revert"]


def main() -> int:
    """Play and print."""
    # Ended by a signal, it still ends the providers and the simulated AWS that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    arguments = _arguments()
    kinds = read_kinds()
    contestants = {name: CONTESTANTS[name] for name in CONTESTANTS if name in (arguments.contestant or _USUAL)}
    results: list[Result] = []
    broken: list[Broken] = []

    def tell(result: Result | Broken) -> None:
        (broken if isinstance(result, Broken) else results).append(result)  # type: ignore[arg-type]
        line = _line(result)
        print(_shown(line), flush=True)
        if arguments.out:
            with arguments.out.open("a") as file:
                file.write(json.dumps(line) + "\n")

    with tempfile.TemporaryDirectory(prefix="bench-drift-") as directory:
        for name in arguments.projects or project_names():
            project = read_project(name, kinds)
            first, last = arguments.numbers
            numbered = project.scenarios[first - 1 : last]
            chosen = [each for each in numbered if fnmatch.fnmatch(each.id, arguments.only)]
            if chosen:
                play(project, chosen, contestants, workdir=Path(directory) / name, jobs=arguments.jobs, tell=tell)
    print(f"\n{table(results)}\n\nBroken scenarios: {len(broken)}")
    wrong = [each for each in results if each.contestant in {"sentinel", "gold"} and each.verdict.grade is Grade.WRONG]
    return int(bool(wrong or broken))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.drift", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("projects", nargs="*", help=f"of {', '.join(project_names())}; default: all")
    parser.add_argument("--only", default="*", help="pattern of scenario ids, e.g. 'flat/queue-*'")
    parser.add_argument(
        "--numbers",
        type=_numbers,
        default=(1, None),
        metavar="FIRST-LAST",
        help="which scenarios of each project, by their place in its files, e.g. 81-134",
    )
    parser.add_argument("--contestant", action="append", choices=list(CONTESTANTS), help="may be repeated")
    parser.add_argument("--jobs", type=int, default=2, help="scenarios at a time")
    parser.add_argument("--out", type=Path, help="file that gets each result as one JSON object a line")
    return parser.parse_args()


def _numbers(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def _line(result: Result | Broken) -> dict[str, Any]:
    if isinstance(result, Broken):
        return {"id": result.scenario.id, "grade": "broken", "reason": result.reason}
    return {
        "id": result.scenario.id,
        "contestant": result.contestant,
        "grade": str(result.verdict.grade),
        "origin": result.scenario.origin,
        "shape": result.scenario.shape,
        "sees": result.scenario.sees,
        "creations": result.scenario.creations,
        "lines": result.verdict.lines,
        "gold_lines": result.gold_lines,
        "seconds": round(result.seconds, 2),
        "tokens": result.tokens,
        "reason": result.verdict.reason,
    }


def _shown(line: dict[str, Any]) -> str:
    reason = " ".join(str(line["reason"]).split())[:300]
    return f"{line['grade']:<7} {line.get('contestant', ''):<20} {line['id']:<44} {line.get('seconds', '')} {reason}"


if __name__ == "__main__":
    sys.exit(main())
