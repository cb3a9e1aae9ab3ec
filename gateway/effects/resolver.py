"""Resolves a call to its effects on Terraform resources, or to no effects if any part of the call is not understood."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from gateway.core.derived_rows import Confidence, DerivedRow, derived_rows
from gateway.core.errors import Ambiguous, CallTooLarge
from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN, Masker
from gateway.core.model.mutation import Basis, Call, CallClass, Effect, InnerCall
from gateway.core.quick_init import quick_init
from gateway.effects.call_context import CallContext
from gateway.effects.declared_forms import in_declared_form
from gateway.effects.derived_effects import DerivedRows, read_call
from gateway.effects.implied_effects import Claimed, implied_effects
from gateway.effects.interpreter import interpret
from gateway.effects.inventory import Inventory, InventoryOverlay
from gateway.effects.limits import refuse_too_large
from gateway.effects.operation import Operation
from gateway.effects.proxies.unpacking import Unpacking, carries_calls
from gateway.effects.registry import SERVICES
from gateway.effects.schema import Schemas
from gateway.effects.values import NotUnderstood

log = structlog.get_logger()


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What Sentinel knows about a call, and by which row."""

    effects: tuple[Effect, ...] = ()
    """Empty if the call is not understood."""
    by_hand: bool = False
    """Whether a hand-made row has the operation. Then no derived row counts."""
    row: DerivedRow | None = None
    """The derived row that explains the call; it has the origin and the confidence."""
    rows: tuple[DerivedRow, ...] = ()
    """All derived rows of the operation."""
    reason: str = ""
    """Why the call is not understood, or why only its resource is; without a full stop. Empty if every parameter is accounted for."""
    inner: tuple[InnerCall, ...] = ()
    """The calls that it makes AWS carry out, as far as they could be read. The effects of each are among `effects`, if all are understood."""

    own: tuple[Effect, ...] = ()
    """Of a call that carries others, what it does itself, also where these are not understood: a plan explains it then."""

    @property
    def not_understood(self) -> str:
        """Why the call is not understood; empty if it is."""
        return "" if self.effects else self.reason

    @property
    def basis(self) -> Basis | None:
        """What the effects are known by; None if there are none."""
        return self.effects[0].basis if self.effects else None


class EffectResolver:
    """Converts calls to effects by the tables of `gateway.effects.registry`, and by derived rows where they have no row."""

    def __init__(
        self,
        inventory: Inventory,
        services: Mapping[str, Mapping[str, Operation]] = SERVICES,
        masker: Masker = PER_RUN,
        rows: Callable[[str, str], Sequence[DerivedRow]] = derived_rows,
        class_of: Callable[[Call], CallClass] = lambda _: CallClass.MUTATION,
    ) -> None:
        """Nothing is read before a call needs it: neither the provider's schema of a type nor the derived rows of a service.

        `rows` returns the derived rows of a service's operation. `class_of` classifies the calls inside calls.
        """
        self._inventory = inventory
        self._services = services
        self._masker = masker
        self._schemas = Schemas()
        self._derived = DerivedRows(self._schemas, rows)
        self._class_of = class_of

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
        return self.explain(call, current, claimed, quiet=quiet).effects

    def explain(
        self,
        call: Call,
        current: Mapping[str, Mapping[str, Json]] | None = None,
        claimed: Claimed | None = None,
        *,
        quiet: bool = True,
    ) -> Explanation:
        """The effects of the call as `effects` gives them, with the row that explains them, or the reason why none does.

        Raises `errors.CallTooLarge`, and nothing else.
        """
        inventory = InventoryOverlay(inventory=self._inventory, attributes=current) if current else self._inventory
        context = CallContext(call=call, inventory=inventory, schemas=self._schemas, masker=self._masker)
        by_hand = call.operation in self._services.get(call.service, {})
        try:
            if carries_calls(call.service, call.operation, self._services):
                return self._unpacked(context, claimed or {}, quiet=quiet)
            return self._by_row(context, None, claimed or {})
        except CallTooLarge:
            raise
        except (NotUnderstood, Ambiguous) as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001  untrusted parameters may break a handler in any way; such a call is not understood
            # Only its kind is told: its text and its frames could carry the call's parameters, secrets among them.
            reason = f"interpreting it raised {type(error).__name__}"
        if not quiet:
            log.info("not_understood", service=call.service, operation=call.operation, reason=reason)
        rows = () if by_hand else tuple(self._derived.all(call.service, call.operation))
        return Explanation(by_hand=by_hand, rows=rows, reason=reason)

    def _unpacked(self, context: CallContext, claimed: Claimed, *, quiet: bool) -> Explanation:
        """The effects of a call that makes AWS carry out others, and of these. Raises `errors.CallTooLarge`."""
        call = context.call
        unpacking = Unpacking(
            rows=self._services,
            by_row=lambda inside, row: self._by_row(inside, row, claimed).effects,
            class_of=lambda inside: self._class_of(inside.call),
        )
        refuse_too_large(call.parameters, ())
        effects = unpacking.effects(context)
        problem = unpacking.obscurity
        if problem and not quiet:
            log.info("not_understood", service=call.service, operation=call.operation, reason=problem)
        by_hand = call.operation in self._services.get(call.service, {})
        return Explanation(
            effects=effects, by_hand=by_hand, reason=problem, inner=tuple(unpacking.inner), own=unpacking.own
        )

    def _by_row(self, context: CallContext, row: Operation | None, claimed: Claimed) -> Explanation:
        """The effects of a call by the row, by the hand-made one of its operation, or by a derived one.

        Raises `NotUnderstood`, `errors.Ambiguous`, `errors.CallTooLarge`.
        """
        call = context.call
        row = row or self._services.get(call.service, {}).get(call.operation)
        refuse_too_large(call.parameters, row.content if row else ())
        basis = Basis.HAND if row else Basis.DERIVED
        if context.basis is not basis:
            context = replace(context, basis=basis)
        if row is not None:
            asked = _distinct(interpret(row, context))
            effects = in_declared_form(context, asked)
            found = Explanation(effects=effects if effects == asked else _distinct(effects), by_hand=True)
        else:
            found = self._by_derived_rows(context)
        implied = implied_effects(context, found.effects, claimed)
        return replace(found, effects=(*found.effects, *implied)) if implied else found

    def _by_derived_rows(self, context: CallContext) -> Explanation:
        """Raises `NotUnderstood`, `errors.Ambiguous`."""
        service, operation = context.call.service, context.call.operation
        ready = self._derived.of(service, operation)
        if not ready:
            raise NotUnderstood(_without_rows(self._derived.all(service, operation)))
        reading = read_call(ready, context)
        effects = _distinct(reading.effects)
        rows = tuple(self._derived.all(service, operation))
        return Explanation(effects=effects, row=reading.row, rows=rows, reason=reading.reason)


def _without_rows(rows: Sequence[DerivedRow]) -> str:
    """Why rows say nothing about a call alone."""
    if not rows:
        return "no row has this operation"
    known = sorted({row.resource_type for row in rows if row.confidence is not Confidence.TYPE})
    if known:
        return f"it concerns {', '.join(known[:3])}, which is no resource type of Terraform's provider"
    types = sorted({row.resource_type for row in rows})
    more = f" and {len(types) - 3} more" if len(types) > 3 else ""  # noqa: PLR2004  three are enough to read
    return f"only the type of what it changes is known ({', '.join(types[:3])}{more}), and not which resource"


def _distinct(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects without repetitions. Raises `NotUnderstood` if there are none, or if two contradict each other."""
    kept: dict[tuple[str, str], Effect] = {}
    for effect in effects:
        known = kept.setdefault((effect.address, effect.attribute), effect)
        if known is not effect and known != effect:
            raise NotUnderstood(f"the call sets {effect.attribute} to two values")
    if not kept:
        raise NotUnderstood("the call changes nothing")
    return tuple(kept.values())
