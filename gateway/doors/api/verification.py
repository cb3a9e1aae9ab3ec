"""The API's routes that verify the ledger from within the gateway, and say what the last verification found."""

from typing import Any

from gateway.core.errors import NotAllowed
from gateway.core.model.caller import Caller
from gateway.doors.api.ports import Authenticated, Ports, told
from gateway.doors.api.routers import keyed_router
from gateway.doors.api.verifier import LedgerCheck
from gateway.presentation.serialize import time_to_json

router = keyed_router()


@router.get("/verification", summary="What the last verification of the ledger by this gateway found")
async def last_verification(ports: Ports, caller: Authenticated) -> dict[str, Any]:
    """The answer; `verified` is null before the first one. People and pipelines may ask."""
    _require_all(caller)
    return told(caller, {"verified": _to_json(ports.verifier.last)})


@router.post(
    "/verification", summary="Verify the ledger now: chain, checkpoint, and all tables that follow from the records"
)
async def verify_now(ports: Ports, caller: Authenticated) -> dict[str, Any]:
    """The answer, at most a minute old. A ledger of more than 200,000 records is left to `sentinel verify`: `too_many` is true then."""
    _require_all(caller)
    return told(caller, {"verified": _to_json(await ports.verifier.verify(ports.queries, ports.clock))})


def _require_all(caller: Caller) -> None:
    if not caller.sees_all:
        raise NotAllowed("Only people and pipelines may have the ledger verified.")


def _to_json(found: LedgerCheck | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "at": time_to_json(found.at),
        "records": found.records,
        "intact": not found.problem and not found.too_many,
        "problem": found.problem,
        "too_many": found.too_many,
    }
