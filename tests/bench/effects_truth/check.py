"""Plays seeds straight against the simulated AWS: `python -m tests.bench.effects_truth.check [service …]`. For authors of seeds."""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.drift.terraform import Tool, warm_tool
from tests.bench.drift.world import simulated_aws
from tests.bench.effects_truth.root import write_root
from tests.bench.effects_truth.seeds import Change, Seed, read_seed, seed_names
from tests.kit.up import free_port


def main() -> int:
    """Apply, change, plan and destroy each service's seeds; 1 if any of that failed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(prog="python -m tests.bench.effects_truth.check")
    parser.add_argument("services", nargs="*", help="default: all")
    names = parser.parse_args().services or seed_names()
    failed = False
    with (
        tempfile.TemporaryDirectory(prefix="truth-check-") as directory,
        simulated_aws(Path(directory) / "aws.log", empty_reads=True) as world,
    ):
        world.freeze()
        for name in names:
            start, workdir = time.monotonic(), Path(directory) / name
            with world.fork(free_port()) as aws, warm_tool(aws, workdir / "tool") as tool:
                said = check(read_seed(name), tool, workdir / "root")
            print(f"{name} ({time.monotonic() - start:.0f} s): {len(said) or 'nothing'} to mend", flush=True)
            print("".join(f"  {each}\n" for each in said), end="", flush=True)
            failed = failed or bool(said)
    return int(failed)


def check(seed: Seed, tool: Tool, root: Path) -> list[str]:
    """What went wrong, as sentences."""
    main = write_root(seed, root)
    said = [f"apply: {each}" for each in _run(tool, root, "apply").errors]
    said += [f"not clean: {each}" for each in _unclean(tool, root)]
    made: list[Change] = []
    for number, changes in enumerate(seed.rounds(), 1):
        made += changes
        main.write_text(seed.changed(made))
        done = _run(tool, root, "apply")
        said += [f"change {number}: {each}" for each in done.errors]
        for change in changes:
            if (action := done.planned.get(change.address)) != "update":
                said.append(f"change {number}: {change.address} {change.attribute}: {action}")
    return said + [f"destroy: {each}" for each in _run(tool, root, "destroy").errors]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What a command planned, by address, and what went wrong."""

    planned: dict[str, str]
    errors: list[str]


def _unclean(tool: Tool, root: Path) -> list[str]:
    planned = tool.plan(root)
    return [] if planned.clean else [planned.text[:1000]]


def _run(tool: Tool, root: Path, command: str) -> _Done:
    ran = tool.run(root, command, "-auto-approve", "-json", "-lock=false", "-refresh=false")
    lines = [json.loads(line) for line in ran.out.splitlines() if line.startswith("{")]
    planned = {
        line["change"]["resource"]["addr"]: line["change"]["action"]
        for line in lines
        if line["type"] == "planned_change"
    }
    return _Done(
        planned=planned,
        errors=[_error(line["diagnostic"]) for line in lines if line.get("@level") == "error" and "diagnostic" in line],
    )


def _error(diagnostic: Mapping[str, Any]) -> str:
    said = f"{diagnostic.get('address', '')}: {diagnostic['summary']} {diagnostic.get('detail', '')}"
    return " ".join(said.split())[:400]


if __name__ == "__main__":
    sys.exit(main())
