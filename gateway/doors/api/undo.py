"""Finds the call that sets back what an applied mutation changed, for people who want to undo it; nothing is sent."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.core.errors import NotFound
from gateway.core.model.caller import Caller
from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.model.path import put_all
from gateway.core.ports import RecordQuery
from gateway.core.records.decided import DecidedBody, RecordedEffect
from gateway.core.records.record import Record
from gateway.core.records.settled import SettledBody
from gateway.doors.api.ports import ApiPorts
from gateway.effects.put_back import put_back_call

MOST_VALUES: Final = 50
"""Values of one change that are looked up: each costs the ledger a query."""
_SET_ONLY = "It created, deleted or ran something, and Sentinel knows calls back only for values that were set."


async def undo_call(ports: ApiPorts, caller: Caller, mutation_id: str) -> dict[str, Any]:
    """The call that gives the attributes their values of before as `call`; else null, and the reason as `why_not`, a sentence.

    Raises `errors.NotFound` for a mutation that the caller may not see.
    """
    records = await ports.visible_records(caller, RecordQuery(mutation_id=mutation_id, newest_first=False))
    bodies = [record.body for record in records if isinstance(record.body, DecidedBody)]
    if not bodies:
        raise NotFound(f"There is no mutation {mutation_id} that you may see.")
    body: DecidedBody[Any] = bodies[0]
    effects = [effect for effect in body.effects if effect.changes and not effect.implied]
    why_not = _objection(mutation_id, body, effects, records) or await _changed_since(ports, mutation_id, effects)
    if why_not:
        return {"call": None, "why_not": why_not}
    wanted: dict[tuple[str, str], Json] = {(each.address, each.attribute): each.before for each in effects}
    parameters: Any = to_json(body.call.parameters)
    call = Call(
        service=body.call.service,
        operation=body.call.operation,
        parameters=parameters,
        account=body.call.account,
        region=body.call.region,
    )
    now = _current(ports, effects)
    found = await asyncio.to_thread(put_back_call, ports.time_boxes.resolver, call, wanted, now)
    if found is None:
        return {"call": None, "why_not": "Sentinel knows no call that sets exactly these values back."}
    told = {"service": found.service, "operation": found.operation, "region": found.region}
    return {"call": {**told, "parameters": to_json(found.parameters)}, "why_not": ""}


def _objection(
    mutation_id: str, body: DecidedBody[Any], effects: Sequence[RecordedEffect[Any]], records: Sequence[Record]
) -> str:
    """Why nobody can say what undoes it, by the records alone."""
    settled = [record.body for record in records if isinstance(record.body, SettledBody)]
    if not any(each.outcome == "applied" for each in settled):
        return "It was not applied, so there is nothing to undo."
    if body.time_box is not None:
        return f"It was wanted for a time only: `sentinel end {mutation_id}` puts it back now, unless it is over."
    if not effects:
        return "It changed no value that Sentinel knows."
    if not body.call.whole or body.cut is not None or any(each.sensitive for each in effects):
        return "Its record does not have all values of before, because they are secret or too large."
    if len(effects) > MOST_VALUES:
        return f"It changed {len(effects)} values, and a way back is sought for at most {MOST_VALUES}. Set them back with Terraform, from the code."
    if any(each.action is not EffectAction.SET for each in effects):
        return _SET_ONLY
    if any(each.before is None for each in effects):
        return "Nobody knows the values of before: they were neither recorded nor set through Sentinel."
    return ""


async def _changed_since(ports: ApiPorts, mutation_id: str, effects: Sequence[RecordedEffect[Any]]) -> str:
    for each in effects:
        last: Any = await ports.blamer.blame(each.address, each.attribute)
        if last is not None and last.mutation_id != mutation_id:
            return (
                f"{last.actor} has changed {each.address}.{each.attribute} since ({last.mutation_id}): undo that first."
            )
    return ""


def _current(ports: ApiPorts, effects: Sequence[RecordedEffect[Any]]) -> Mapping[str, Mapping[str, Json]]:
    """The attributes of each resource after the mutation."""
    inventory = ports.time_boxes.inventory
    return {
        address: put_all(
            inventory.recorded(address) or {},
            [(each.attribute, each.value) for each in effects if each.address == address],
        )
        for address in {each.address for each in effects}
    }
