"""Many connections contend through several gateways: `python -m tests.bench.contention [sqlite] [postgresql] [--requests N]`.

One JSON object a database. Exits with 1 if the history shows what must not be: two holders of one attribute, a claim or a change that was
lost or came twice, an answer that differs from the record, a mutation that nobody settled.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.bench.contention.run import Contention, ContentionResult, contend
from tests.bench.contention.wishes import LONGEST
from tests.kit.stores import running_cluster

_SHOWN = 10
"""How many problems are printed."""


def main() -> int:
    """Play on each database, print what came of it; 1 if any history is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("databases", nargs="*", default=["sqlite", "postgresql"])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--kills", type=int, default=4)
    arguments = parser.parse_args()
    if not 1 <= arguments.requests <= LONGEST:
        parser.error(f"--requests must be from 1 to {LONGEST:,}: each has a value of its own")
    wrong = False
    for database in arguments.databases:
        result = _played(database, arguments)
        print(json.dumps({"name": f"contention.{database}", **_told(result)}), flush=True)
        wrong = wrong or bool(result.problems)
    return int(wrong)


def _played(database: str, arguments: argparse.Namespace) -> ContentionResult:
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ledger, crash = "", None
        if database == "postgresql":
            cluster = stack.enter_context(running_cluster())
            ledger, crash = cluster.new_ledger(), cluster.crash_and_start
        contention = Contention(
            requests=arguments.requests,
            connections=arguments.connections,
            kills=arguments.kills,
            ledger=ledger,
            crash_database=crash,
        )
        return asyncio.run(contend(directory, contention))


def _told(result: ContentionResult) -> dict[str, object]:
    return {**vars(result), "wrong": len(result.problems), "problems": list(result.problems[:_SHOWN])}


if __name__ == "__main__":
    sys.exit(main())
