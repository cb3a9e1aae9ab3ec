"""All figures in one run: `python -m tests.bench [section …] [--all]` (`make bench`). One JSON object a line, `README.md` says what each means.

The first line is the interpreter: how its build was optimised, and how long it takes for a fixed loop. Each section runs in a process of
its own, so that none measures what another left behind.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

SECTIONS = ("line", "asked", "peers", "policy", "replay", "effects", "ledger", "wire", "growth", "rewrite", "export")
"""What needs nothing but this repository, and for `peers` what `make peers` installs."""
MORE = ("reconcile", "start", "console", "replicas")
"""What needs Terraform and its AWS provider, a browser or PostgreSQL's programs too: only on demand."""
_ROOT = Path(__file__).parent.parent.parent


def main() -> int:
    """Run the sections asked for; 1 where any of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS + MORE)}")
    parser.add_argument(
        "--all", action="store_true", help=f"also {', '.join(MORE)}, which needs Terraform, Chromium and PostgreSQL"
    )
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.sections) - {*SECTIONS, *MORE}):
        parser.error(f"there is no section {', '.join(unknown)}")
    sections = arguments.sections or (SECTIONS + MORE if arguments.all else SECTIONS)
    sys.stdout.write(interpreter() + "\n")
    sys.stdout.flush()
    failed = [section for section in sections if _run(section) != 0]
    if failed:
        sys.stderr.write(f"These sections failed: {', '.join(failed)}.\n")
    return int(bool(failed))


def interpreter() -> str:
    """What runs the figures, as one JSON object: path, version, optimisation and the milliseconds of a fixed loop."""
    command = [sys.executable, str(_ROOT / "deploy" / "choose_python.py"), "--probe"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    described = {name: value for name, value in json.loads(done.stdout).items() if name != "suits"}
    return json.dumps({"name": "interpreter", **described})


def _run(section: str) -> int:
    return subprocess.run([sys.executable, "-m", f"tests.bench.{section}"], cwd=_ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
