"""Resolves a call to its effects on Terraform resources, or to no effects if any part of the call is not understood."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from gateway.core.errors import Ambiguous, CallTooLarge
from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN, Masker
from gateway.core.model.mutation import Call, CallClass, Effect, InnerCall
from gateway.effects.call_context import CallContext
from gateway.effects.implied_effects import IMPLIED_TYPES, Claimed, implied_effects
from gateway.effects.interpreter import interpret
from gateway.effects.inventory import Inventory, InventoryOverlay
from gateway.effects.limits import refuse_too_large
from gateway.effects.operation import Operation
from gateway.effects.proxies.carriers import CARRIED_TYPES
from gateway.effects.proxies.unpacking import Unpacking, carries_calls
from gateway.effects.registry import SERVICES
from gateway.effects.schema import read_schemas
from gateway.effects.values import NotUnderstood

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """What is known about a call."""

    effects: tuple[Effect, ...] = ()
    """In order, at most one per (address, attribute). Empty if the call is not fully understood."""
    inner: tuple[InnerCall, ...] = ()
    """The calls that it makes AWS carry out, as far as they could be read."""
    obscurity: str = ""
    """Why the inner calls are not understood, as the rest of a sentence."""


class EffectResolver:
    """Converts calls to effects by the tables of `gateway.effects.registry`."""

    def __init__(
        self,
        inventory: Inventory,
        services: Mapping[str, Mapping[str, Operation]] = SERVICES,
        masker: Masker = PER_RUN,
        class_of: Callable[[Call], CallClass] = lambda _: CallClass.MUTATION,
    ) -> None:
        """Read the provider's schema once. `class_of` classifies the calls inside calls.

        Raises KeyError if a table names a resource type that the provider does not have.
        """
        self._class_of = class_of
        self._inventory = inventory
        self._services = services
        self._masker = masker
        rows = [operation for table in services.values() for operation in table.values()]
        tables = {name for row in rows for name in (row.resource_type, *row.other_types)}
        self._schemas = read_schemas(tables.union(IMPLIED_TYPES, CARRIED_TYPES))

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
        return self.understand(call, current, claimed, quiet=quiet).effects

    def understand(
        self,
        call: Call,
        current: Mapping[str, Mapping[str, Json]] | None = None,
        claimed: Claimed | None = None,
        *,
        quiet: bool = False,
    ) -> Understanding:
        """The effects of the call, as `effects` gives them, and the calls inside it."""
        if not carries_calls(call.service, call.operation, self._services):
            return Understanding(effects=self._plain_effects(call, current, claimed, quiet=quiet))
        inventory = InventoryOverlay(inventory=self._inventory, attributes=current) if current else self._inventory
        context = CallContext(call=call, inventory=inventory, schemas=self._schemas, masker=self._masker)
        unpacking = Unpacking(
            rows=self._services,
            by_row=lambda inside, row: self._by_row(inside, row, claimed or {}),
            class_of=lambda inside: self._class_of(inside.call),
        )
        try:
            refuse_too_large(call.parameters, ())
            effects = unpacking.effects(context)
            problem = unpacking.problems[0] if unpacking.problems else ""
        except CallTooLarge:
            raise
        except Exception as error:  # noqa: BLE001  as below
            effects, problem = (), f"reading it raised {type(error).__name__}"
        if problem and not quiet:
            log.info("not_understood", service=call.service, operation=call.operation, reason=problem)
        return Understanding(effects=effects, inner=tuple(unpacking.inner), obscurity=problem)

    def _by_row(self, context: CallContext, row: Operation | None, claimed: Claimed) -> tuple[Effect, ...]:
        """The effects of a call by the row, or by that of its operation. Raises `NotUnderstood`, `errors.Ambiguous`, `errors.CallTooLarge`."""
        call = context.call
        row = row or self._services.get(call.service, {}).get(call.operation)
        if row is None:
            raise NotUnderstood("no table has this operation")
        refuse_too_large(call.parameters, row.content)
        asked = _distinct(interpret(row, context))
        return (*asked, *implied_effects(context, asked, claimed))

    def _plain_effects(
        self,
        call: Call,
        current: Mapping[str, Mapping[str, Json]] | None,
        claimed: Claimed | None,
        *,
        quiet: bool,
    ) -> tuple[Effect, ...]:
        """As `effects`, for a call that carries no others."""
        fields = {"service": call.service, "operation": call.operation}
        inventory = InventoryOverlay(inventory=self._inventory, attributes=current) if current else self._inventory
        try:
            context = CallContext(call=call, inventory=inventory, schemas=self._schemas, masker=self._masker)
            return self._by_row(context, None, claimed or {})
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
