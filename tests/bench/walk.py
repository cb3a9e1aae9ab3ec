"""The walk of one allowed mutation through the gateway, from the first byte at the router to the reply, in order.

`python -m tests.bench.walk` prints the steps: each coroutine of the gateway that another one awaits. `--calls` prints every call from one
module into another. The gateway runs in this process, on SQLite with the embedded policy, and has answered such a call before, so what is
loaded only once is not in the walk.
"""

import inspect
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import gateway
from tests.kit.gate import ASG, Gate

_ROOT: Final = Path(gateway.__file__).resolve().parent
_FIRST: Final = ("gateway.doors.router", "DoorRouter.__call__")
_VALUES: Final = ("gateway.core.model", "gateway.core.errors", "gateway.core.times")
"""Modules of values and their questions: nobody follows a mutation into them."""
_BACKGROUND: Final = "gateway.app.background"
_VALUES_SET: Final = (5, 6) * 5
"""The first call warms the gateway up; of the others the one that had least company by background work counts."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One call of a function by another."""

    caller: str
    callee: str
    awaited: bool
    """Whether the callee is a coroutine."""
    inside: bool
    """Whether both are of one module."""


@dataclass(slots=True)
class Walk:
    """The hops of one mutation, in order. A call that is made again counts once."""

    on: bool = False
    hops: dict[tuple[str, str], Hop] = field(default_factory=dict)
    _started: set[int] = field(default_factory=set)
    _frames: list[FrameType] = field(default_factory=list)
    _begun: bool = False

    def begin(self) -> None:
        """Forget the hops of before, and wait for the first byte."""
        self.hops, self._begun, self.on = {}, False, True
        self._started.clear()
        self._frames.clear()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """What `sys.setprofile` calls."""
        if not self.on or event != "call" or id(frame) in self._started:
            return
        name = _name(frame.f_code)
        if name is None:
            return
        self._started.add(id(frame))
        self._frames.append(frame)  # kept, so that no other frame gets its id
        self._begun = self._begun or name == _FIRST
        above = list(_above(frame))
        if not self._begun or _BACKGROUND in {module for module, _ in (name, *above)}:
            return
        caller = above[0] if above else ("thread", threading.current_thread().name)
        pair = (":".join(caller), ":".join(name))
        awaited = bool(frame.f_code.co_flags & inspect.CO_COROUTINE)
        if awaited or caller[0] != name[0]:
            self.hops.setdefault(pair, Hop(*pair, awaited=awaited, inside=caller[0] == name[0]))


def _above(frame: FrameType) -> Iterator[tuple[str, str]]:
    """The functions of the gateway that wait for a frame, the nearest first."""
    above = frame.f_back
    while above is not None:
        if (name := _name(above.f_code)) is not None:
            yield name
        above = above.f_back


def _name(code: CodeType) -> tuple[str, str] | None:
    """The module and the name of a function; None for one of other software, and for a lambda or a comprehension."""
    path = Path(code.co_filename)
    if code.co_name.startswith("<") or not path.is_relative_to(_ROOT):
        return None
    module = ".".join(path.relative_to(_ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    return module, getattr(code, "co_qualname", code.co_name)


def walk() -> list[Hop]:
    """The hops of an allowed mutation."""
    profile = Walk()
    walks: list[list[Hop]] = []
    threading.setprofile(profile)
    try:
        with tempfile.TemporaryDirectory() as directory, Gate(Path(directory)) as gate:
            client = gate.client("autoscaling")
            for value in _VALUES_SET:
                profile.begin()
                client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=value)
                profile.on = False
                walks.append([hop for hop in profile.hops.values() if not hop.callee.startswith(_VALUES)])
    finally:
        threading.setprofile(None)
    return min(walks[1:], key=len)


def main() -> None:
    """Print the walk and how long it is."""
    hops = walk()
    steps = [hop for hop in hops if hop.awaited]
    for number, hop in enumerate(hops if "--calls" in sys.argv else steps, 1):
        print(f"{number:4} {hop.caller.removeprefix('gateway.')} → {hop.callee.removeprefix('gateway.')}")
    across = sum(not hop.inside for hop in hops)
    print(f"{len(steps)} steps are awaited; {across} different calls go from one module into another")


if __name__ == "__main__":
    main()
