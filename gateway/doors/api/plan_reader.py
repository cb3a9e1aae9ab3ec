"""Reads a large plan in a process of its own: parsing it here would stop every other request, because it holds the interpreter.

The process is this module: a plan on standard input, on standard output its changes, or why it is refused.
"""

import asyncio
import json
import os
import subprocess
import sys
from typing import Any, Final

from gateway.doors.api.plan_body import PlanBody
from gateway.effects.plan_document import read_plan
from gateway.errors import Malformed
from gateway.model.plan import Plan, change_to_json

SMALL: Final = 256 * 1024
"""Bytes of a plan that is read here, in a thread: it takes a few milliseconds."""
_SECONDS: Final = 120


async def read_apart(source: bytes) -> Plan:
    """The plan in `source`, without its secrets. Raises `errors.Malformed`."""
    return await asyncio.to_thread(read_plan if len(source) <= SMALL else _read_in_process, source)


def _read_in_process(source: bytes) -> Plan:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SENTINEL_")}
    command = [sys.executable, "-m", __name__]
    try:
        done = subprocess.run(command, input=source, capture_output=True, env=environment, timeout=_SECONDS, check=True)
        answer = json.loads(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        raise Malformed(
            "The plan could not be read; nothing of it was checked. Check it with `sentinel plan-check`."
        ) from None
    if "refused" in answer:
        raise Malformed(answer["refused"], code=answer["code"])
    return PlanBody.model_validate(answer).plan()


def answer_of(source: bytes) -> dict[str, Any]:
    """What the process answers."""
    try:
        plan = read_plan(source)
    except Malformed as refused:
        return {"refused": str(refused), "code": refused.code}
    return {"terraform_version": plan.terraform_version, "changes": [change_to_json(change) for change in plan.changes]}


if __name__ == "__main__":
    json.dump(answer_of(sys.stdin.buffer.read()), sys.stdout)
