"""Turns what processes of the crash tests passed into behaviours of the model, and has TLC replay them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.model.tlc import checked

_MODULE: Final = """---- MODULE Trace ----
EXTENDS Line, Sequences
VARIABLES which, at
Logs == <<%s>>
Happens(e) ==
  CASE e[1] = "Decide" -> Decide(e[2], "m1")
    [] e[1] = "Commit" -> Commit(e[2])
    [] e[1] = "Refuse" -> Refuse(e[2])
    [] e[1] = "Send" -> Send(e[2])
    [] e[1] = "Answer" -> Answer(e[2])
    [] e[1] = "Settle" -> Settle(e[2])
    [] e[1] = "Crash" -> Crash(e[2])
    [] e[1] = "LeaseEnds" -> LeaseEnds(e[2])
    [] e[1] = "Arrive" -> Arrive("m1")
    [] e[1] = "Lose" -> Lose("m1")
    [] e[1] = "Expire" -> Expire("m1")
    [] e[1] = "Recover" -> Recover("m1")
    [] e[1] = "ReadBack" -> ReadBack("m1")
TraceInit == Init /\\ at = 1 /\\ which \\in 1 .. Len(Logs)
Step == at <= Len(Logs[which]) /\\ Happens(Logs[which][at]) /\\ at' = at + 1 /\\ UNCHANGED which
Done == at > Len(Logs[which]) /\\ UNCHANGED <<vars, which, at>>
TraceSpec == TraceInit /\\ [][Step \\/ Done]_<<vars, which, at>>
TraceGateways == {%s}
TraceMutations == {"m1"}
====
"""
_CONFIGURATION: Final = """CONSTANTS
  Gateways <- TraceGateways
  Mutations <- TraceMutations
  Needing = {}
  Bug = "none"
SPECIFICATION TraceSpec
INVARIANTS TypeOK NothingUnlogged AppliedAtMostOnce OneWinner DoubtHoldsItsClaim RecordIsTrue ApprovedOnce
"""

_OF_A_GATEWAY: Final = {"DECIDED": "Decide", "CONNECTED": "Send", "BODY_READ": "Answer"}
"""Point → the action of the gateway that has passed it."""

Action = tuple[str, str]
"""The name of an action, and its gateway."""


def actions(trace: Path) -> list[Action]:
    """The behaviour that a trace shows."""
    reader = _Reader()
    return [action for line in trace.read_text().splitlines() for action in reader.read(json.loads(line))]


@dataclass
class _Reader:
    """What was seen of the change so far."""

    written: str = ""
    """What the running transaction of the ledger has written."""
    owner: str = ""
    on_wire: bool = False
    arrived: bool = False

    def read(self, event: dict[str, Any]) -> list[Action]:
        """The actions that an event shows."""
        name, gateway = event["event"], f"g{event.get('process', 0)}"
        if name.endswith("_WRITTEN"):
            self.written = name
            return []
        if name in _OF_A_GATEWAY:
            self.on_wire = self.on_wire or name == "CONNECTED"
            return [(_OF_A_GATEWAY[name], gateway)]
        if name == "STORED":
            return self._stored(gateway)
        if name == "ARRIVED":
            self.on_wire, self.arrived = False, True
            return [("Arrive", "")]
        return self._ended(gateway) if name == "ENDED" else []

    def _stored(self, gateway: str) -> list[Action]:
        written, self.written = self.written, ""
        match written:
            case "INTENT_WRITTEN":
                self.owner = gateway
                return [("Commit", gateway)]
            case "OUTCOME_WRITTEN":
                return [("Settle", gateway)]
            case "DOUBT_WRITTEN":
                return [("LeaseEnds", self.owner), ("Recover", "")]
            case "RESOLUTION_WRITTEN":
                # The clock of the crash tests is past the time in which AWS accepts the request.
                return [("ReadBack", "")] if self.arrived else [("Expire", ""), ("ReadBack", "")]
        return []

    def _ended(self, gateway: str) -> list[Action]:
        lost: list[Action] = [("Lose", "")] if self.on_wire else []
        self.written, self.on_wire = "", False
        return [*lost, ("Crash", gateway)]


def replayed(behaviours: Sequence[Sequence[Action]]) -> str:
    """What TLC prints when it replays the behaviours: it stops at the first step that the model does not allow."""
    logs = ", ".join(
        "<<" + ", ".join(f'<<"{name}", "{gateway}">>' for name, gateway in each) + ">>" for each in behaviours
    )
    gateways = sorted({gateway for each in behaviours for _, gateway in each if gateway})
    names = ", ".join(f'"{each}"' for each in gateways)
    files = {"Trace.tla": _MODULE % (logs, names), "Trace.cfg": _CONFIGURATION}
    return checked("Trace", files, may_stop=False)
