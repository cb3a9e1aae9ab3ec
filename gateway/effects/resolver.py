"""Knows what a call does to which Terraform things, or says that it does not know."""

from collections.abc import Mapping

import structlog

from gateway.effects.context import CallContext
from gateway.effects.interpreter import interpret
from gateway.effects.inventory import Inventory, InventoryOverlay
from gateway.effects.operation import Operation
from gateway.effects.registry import SERVICES
from gateway.effects.schema import read_schemas
from gateway.effects.values import NotUnderstood
from gateway.errors import Ambiguous
from gateway.model.json import Json
from gateway.model.mutation import Call, Effect

log = structlog.get_logger()


class EffectResolver:
    """Turns calls into effects by the tables of `gateway.effects.registry`."""

    def __init__(self, inventory: Inventory, services: Mapping[str, Mapping[str, Operation]] = SERVICES) -> None:
        """Reads the provider's schema once. Raises KeyError where a table names a resource type that the provider has not."""
        self._inventory = inventory
        self._services = services
        rows = [operation for table in services.values() for operation in table.values()]
        self._schemas = read_schemas({name for row in rows for name in (row.resource_type, *row.other_types)})

    def effects(self, call: Call, known: Mapping[str, Mapping[str, Json]] | None = None) -> tuple[Effect, ...]:
        """What the call does, in order, no (address, attribute) twice. Empty where it is not understood as a whole. Never raises.

        `known` are the attributes of things, by address, where somebody knows them better than the state does.
        """
        about = {"service": call.service, "operation": call.operation}
        operation = self._services.get(call.service, {}).get(call.operation)
        if operation is None:
            log.info("not_understood", **about, reason="no table has this operation")
            return ()
        inventory = InventoryOverlay(inventory=self._inventory, attributes=known) if known else self._inventory
        try:
            return _settled(interpret(operation, CallContext(call=call, inventory=inventory, schemas=self._schemas)))
        except (NotUnderstood, Ambiguous) as reason:
            log.info("not_understood", **about, reason=str(reason))
        except Exception as error:  # noqa: BLE001  whatever is odd in a stranger's parameters means that we do not understand them
            # No traceback: its frames would carry the call's parameters, secrets among them.
            log.error("not_understood", **about, reason=f"reading it raised {type(error).__name__}")  # noqa: TRY400
        return ()


def _settled(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects without repetitions. Raises `NotUnderstood` for two that contradict each other, or none."""
    kept: dict[tuple[str, str], Effect] = {}
    for effect in effects:
        if kept.setdefault((effect.address, effect.attribute), effect) != effect:
            raise NotUnderstood(f"it says two things about {effect.attribute}")
    if not kept:
        raise NotUnderstood("it changes nothing")
    return tuple(kept.values())
