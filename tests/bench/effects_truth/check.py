"""Plays seeds straight against the simulated AWS: `python -m tests.bench.effects_truth.check [service …]`. For whoever writes seeds."""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from tests.bench.drift.terraform import Tool, warm_tool
from tests.bench.drift.world import simulated_aws
from tests.bench.effects_truth.root import write_root
from tests.bench.effects_truth.seeds import Seed, read_seed, seed_names

LIMIT = int(os.environ.get("LIMIT", "100"))


def main() -> int:
    """Apply, change, plan and destroy each service's seeds; 1 if any of that failed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(prog="python -m tests.bench.effects_truth.check")
    parser.add_argument("services", nargs="*", help="default: all")
    names = parser.parse_args().services or seed_names()
    failed = False
    with tempfile.TemporaryDirectory(prefix="truth-check-") as directory:
        workdir = Path(directory)
        with (
            simulated_aws(workdir / "aws.log", empty_reads=True) as world,
            socket.create_server(("127.0.0.1", 0)) as free,
        ):
            port = free.getsockname()[1]
            free.close()
            world.freeze()
            for name in names:
                start = time.monotonic()
                with world.fork(port), warm_tool(f"http://127.0.0.1:{port}", workdir / f"{name}-tool") as tool:
                    said = check(read_seed(name), tool, workdir / name)
                    log = (workdir / f"{name}-tool" / "provider.log").read_text()
                    if "panic:" in log:
                        said.append("PANIC " + log[log.index("panic:") :][:1500])
                print(
                    f"{name}: {'; '.join(said) or 'ok'} ({time.monotonic() - start:.0f} s)".replace("; ", "\n  "),
                    flush=True,
                )
                failed = failed or bool(said)
    return int(failed)


def check(seed: Seed, tool: Tool, root: Path) -> list[str]:
    """What went wrong, as sentences."""
    start = time.monotonic()
    main = write_root(seed, root)
    done, said = _run(tool, root, "apply", "-auto-approve", "-parallelism=10")
    said = [f"apply: {each}" for each in said]
    said += [
        f"not clean: {address} {str(action)[:220]}"
        for address, action in _plan(tool, root).items()
        if "['create']" not in str(action)
    ]
    if os.environ.get("STOP"):
        _, errors = _run(tool, root, "destroy", "-auto-approve", "-refresh=false", "-parallelism=10")
        return said + [f"destroy: {each}" for each in errors]
    made: list[Any] = []
    for number, changes in enumerate(seed.rounds()):
        made += changes
        main.write_text(seed.changed(made))
        done, errors = _run(tool, root, "apply", "-auto-approve", "-refresh=false", "-parallelism=10")
        said += [f"round {number}: {each}" for each in errors]
        for change in changes:
            if done.get(change.address) != "update":
                said.append(f"round {number}: {change.address} {change.attribute} is {done.get(change.address)}")
        wanted = {change.address for change in changes}
        said += [f"round {number}: also {a} {v}" for a, v in done.items() if a not in wanted and v != "update"]
    said += [f"not clean after changes: {address} {action}" for address, action in _plan(tool, root).items()]
    _, errors = _run(tool, root, "destroy", "-auto-approve", "-refresh=false", "-parallelism=10")
    return said + [f"destroy: {each}" for each in errors]


def _plan(tool: Tool, root: Path) -> dict[str, str]:
    ran = tool.run(root, "plan", "-lock=false", "-no-color", "-out=p")
    if ran.code:
        return {"plan failed": ran.out[-300:]}
    doc = json.loads(tool.run(root, "show", "-json", "p").out)
    found = {}
    for each in doc.get("resource_changes", []):
        change = each["change"]
        if change["actions"] in (["no-op"], ["read"]):
            continue
        before, after = change["before"] or {}, change["after"] or {}
        differs = [
            f"{n}: {json.dumps(before.get(n))[:150]} -> {json.dumps(after.get(n))[:150]}"
            for n in {*before, *after}
            if before.get(n) != after.get(n)
        ]
        found[each["address"]] = f"{change['actions']} {differs if before else ''} {change.get('replace_paths', '')}"
    return found


def _run(tool: Tool, root: Path, *argv: str) -> tuple[dict[str, str], list[str]]:
    with subprocess.Popen(
        ["terraform", *argv, "-json", "-lock=false"],
        cwd=root,
        env=dict(tool.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        timer = threading.Timer(LIMIT, lambda: process.send_signal(signal.SIGINT))
        hard = threading.Timer(LIMIT + 8, process.kill)
        timer.start()
        hard.start()
        out = process.stdout.read()
        timer.cancel()
        hard.cancel()
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    planned = {l["change"]["resource"]["addr"]: l["change"]["action"] for l in lines if l["type"] == "planned_change"}
    begun = [l["hook"]["resource"]["addr"] for l in lines if l["type"] == "apply_start"]
    ended = {l["hook"]["resource"]["addr"] for l in lines if l["type"] in ("apply_complete", "apply_errored")}
    slow = [
        f"{l['hook']['resource']['addr']} {l['hook']['elapsed_seconds']}s"
        for l in lines
        if l["type"] == "apply_complete" and l["hook"]["elapsed_seconds"] > 9
    ]
    errors = [f"unfinished: {each}" for each in begun if each not in ended] + [f"slow: {each}" for each in slow]
    for line in lines:
        if line.get("@level") == "error" and "diagnostic" in line:
            d = line["diagnostic"]
            where = d.get("address", "") or f"line {d.get('range', {}).get('start', {}).get('line')}"
            errors.append(" ".join(f"{where}: {d['summary']} {d.get('detail', '')}".split())[:330])
    if process.returncode and not errors:
        errors.append(out[-300:])
    return planned, errors


if __name__ == "__main__":
    sys.exit(main())
