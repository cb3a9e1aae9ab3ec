"""Resolves a call to its effects on Terraform resources, or to no effects if any part of the call is not understood."""

from collections.abc import Mapping

import structlog

from gateway.core.errors import Ambiguous, CallTooLarge
from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN, Masker
from gateway.core.model.mutation import Call, Effect
from gateway.effects.call_context import CallContext
from gateway.effects.implied_effects import IMPLIED_TYPES, Claimed, implied_effects
from gateway.effects.interpreter import interpret
from gateway.effects.inventory import Inventory, InventoryOverlay
from gateway.effects.limits import refuse_too_large
from gateway.effects.operation import Operation
from gateway.effects.registry import SERVICES
from gateway.effects.schema import read_schemas
from gateway.effects.values import NotUnderstood

log = structlog.get_logger()


class EffectResolver:
    """Converts calls to effects by the tables of `gateway.effects.registry`."""

    def __init__(
        self,
        inventory: Inventory,
        services: Mapping[str, Mapping[str, Operation]] = SERVICES,
        masker: Masker = PER_RUN,
    ) -> None:
        """Read the provider's schema once. Raises KeyError if a table names a resource type that the provider does not have."""
        self._inventory = inventory
        self._services = services
        self._masker = masker
        rows = [operation for table in services.values() for operation in table.values()]
        tables = {name for row in rows for name in (row.resource_type, *row.other_types)}
        self._schemas = read_schemas(tables.union(IMPLIED_TYPES))

    def effects(
        self,
        call: Call,
        current: Mapping[str, Mapping[str, Json]] | None = None,
        claimed: Claimed | None = None,
        *,
        quiet: bool = False,
    ) -> tuple[Effect, ...]:
        """The effects of the call in order, at most one per (address, attribute). Empty if the call is not fully understood.

        `current` maps addresses to attributes that are fresher than those in the state; `claimed` are the values of standing claims, which
        an attribute may have or be about to have. Effects that the call only implies come last. `quiet` logs nothing about a call that is
        only tried. Raises `errors.CallTooLarge`, and nothing else.
        """
        fields = {"service": call.service, "operation": call.operation}
        operation = self._services.get(call.service, {}).get(call.operation)
        if operation is None:
            if not quiet:
                log.info("not_understood", **fields, reason="no table has this operation")
            return ()
        inventory = InventoryOverlay(inventory=self._inventory, attributes=current) if current else self._inventory
        try:
            refuse_too_large(call.parameters, operation.content)
            context = CallContext(call=call, inventory=inventory, schemas=self._schemas, masker=self._masker)
            asked = _distinct(interpret(operation, context))
            return (*asked, *implied_effects(context, asked, claimed or {}))
        except CallTooLarge:
            raise
        except (NotUnderstood, Ambiguous) as reason:
            if not quiet:
                log.info("not_understood", **fields, reason=str(reason))
        except Exception as error:  # noqa: BLE001  untrusted parameters may break a handler in any way; such a call is not understood
            # No traceback: its frames would carry the call's parameters, secrets among them.
            if not quiet:
                log.error("not_understood", **fields, reason=f"interpreting it raised {type(error).__name__}")  # noqa: TRY400
        return ()


def _distinct(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects without repetitions. Raises `NotUnderstood` if there are none, or if two contradict each other."""
    kept: dict[tuple[str, str], Effect] = {}
    for effect in effects:
        if kept.setdefault((effect.address, effect.attribute), effect) != effect:
            raise NotUnderstood(f"the call sets {effect.attribute} to two values")
    if not kept:
        raise NotUnderstood("the call changes nothing")
    return tuple(kept.values())
