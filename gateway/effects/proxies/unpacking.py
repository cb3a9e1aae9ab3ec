"""Finds the effects of a call and of all calls that it makes AWS carry out, one inside the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from gateway.core.errors import Ambiguous, CallTooLarge
from gateway.core.model.mutation import CallClass, Effect, EffectAction, InnerCall
from gateway.effects.call_context import CallContext
from gateway.effects.limits import DEEPEST_INNER_CALL, MOST_INNER_CALLS
from gateway.effects.operation import Operation
from gateway.effects.proxies.batches import batch_carrier
from gateway.effects.proxies.carried import Carried, Carrier, Unread, holds_runtime
from gateway.effects.proxies.carriers import CARRIERS, HELD
from gateway.effects.values import NotUnderstood

ByRow = Callable[[CallContext, Operation | None], tuple[Effect, ...]]
"""The effects of a call by a row; by the row of its operation if None is given. Raises `NotUnderstood`, `errors.Ambiguous`."""

_NOT_BY_PROXY = {
    CallClass.CREDENTIAL: "hands out credentials",
    CallClass.SECRET: "reads a secret",
    CallClass.CRYPTO: "uses a cryptographic key",
}
"""What AWS would do with rights that are wider than the caller's, and leave where others may read it."""
_MOST_NAMED = 3


def carries_calls(service: str, operation: str, rows: Mapping[str, Mapping[str, Operation]]) -> bool:
    """Whether calls of the operation make AWS carry out others, or may do so in a way that is not unpacked."""
    return (service, operation) in HELD or _carrier(service, operation, rows) is not None


def _carrier(service: str, operation: str, rows: Mapping[str, Mapping[str, Operation]]) -> Carrier | None:
    """How the operation's calls are unpacked; None if they carry none. A batch that a table explains as a whole is not split."""
    if (found := CARRIERS.get((service, operation))) is not None:
        return found
    return None if operation in rows.get(service, {}) else batch_carrier(service, operation)


@dataclass(slots=True, kw_only=True)
class Unpacking:
    """The unpacking of one call."""

    rows: Mapping[str, Mapping[str, Operation]]
    by_row: ByRow
    class_of: Callable[[CallContext], CallClass]
    inner: list[InnerCall] = field(default_factory=list)
    own: tuple[Effect, ...] = ()
    """What the outermost call does itself."""
    problems: list[str] = field(default_factory=list)
    """Why the call is not understood. What else it carries is looked for nevertheless, since it may be refused to everybody."""

    def effects(self, context: CallContext) -> tuple[Effect, ...]:
        """The effects of the call and of its inner calls; empty if `problems` has any. Raises `errors.CallTooLarge`."""
        found = self._of(context, 0)
        if not self.problems:
            self._refuse_contradictions(found)
        return () if self.problems else tuple({(each.address, each.attribute): each for each in found}.values())

    @property
    def obscurity(self) -> str:
        """The first few problems, as the rest of a sentence; empty if there is none."""
        found = tuple(dict.fromkeys(self.problems))
        more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        return "; ".join(found[:_MOST_NAMED]) + more

    def _of(self, context: CallContext, depth: int) -> tuple[Effect, ...]:
        call = context.call
        if (reason := HELD.get((call.service, call.operation))) is not None:
            self.problems.append(reason)
            return ()
        carrier = _carrier(call.service, call.operation, self.rows)
        own = self._tried(context, None) if carrier is None or carrier.own else ()
        if depth == 0:
            self.own = own
        if carrier is None:
            return own
        if depth >= DEEPEST_INNER_CALL:
            self.problems.append(f"it nests calls in calls, deeper than {DEEPEST_INNER_CALL}")
            return own
        return (*own, *self._inside(context, carrier, depth))

    def _inside(self, context: CallContext, carrier: Carrier, depth: int) -> tuple[Effect, ...]:
        found: list[Effect] = []
        try:
            for parcel in carrier.unpack(context):
                if isinstance(parcel, Unread):
                    self.problems.append(parcel.reason)
                else:
                    found += self._carried(context, parcel, depth)
        except NotUnderstood as reason:
            self.problems.append(str(reason))
        except Ambiguous:
            self.problems.append("a name in it may mean several resources")
        except CallTooLarge:
            raise
        except Exception as error:  # noqa: BLE001  untrusted parameters may break the reading in any way; such a call is not understood
            self.problems.append(f"reading it raised {type(error).__name__}")
        return tuple(found)

    def _carried(self, outer: CallContext, carried: Carried, depth: int) -> tuple[Effect, ...]:
        """The effects of one inner call, which is noted whatever they are."""
        if len(self.inner) >= MOST_INNER_CALLS:
            raise CallTooLarge(f"makes AWS carry out more than {MOST_INNER_CALLS} calls")
        context = replace(outer, call=carried.call)
        call_class = self.class_of(context)
        noted = InnerCall(call=carried.call, call_class=call_class, role=carried.role)
        place = len(self.inner)
        self.inner.append(noted)
        if call_class is CallClass.READ:
            return ()
        if call_class in _NOT_BY_PROXY:
            self.problems.append(f"{noted.name} {_NOT_BY_PROXY[call_class]}")
            return ()
        self._refuse_runtime(context, carried.row)
        effects = self._of(context, depth + 1) if carried.row is None else self._tried(context, carried.row)
        marked = tuple(
            replace(effect, by=effect.by or noted.name, implied=effect.implied or not carried.now) for effect in effects
        )
        self.inner[place] = replace(noted, effects=marked)
        return marked

    def _tried(self, context: CallContext, row: Operation | None) -> tuple[Effect, ...]:
        name = f"{context.call.service}:{context.call.operation}"
        try:
            return self.by_row(context, row)
        except CallTooLarge:
            raise
        except NotUnderstood as reason:
            self.problems.append(f"{name} is not understood: {reason}")
        except Ambiguous:
            self.problems.append(f"{name} is not understood: a name may mean several resources")
        except Exception as error:  # noqa: BLE001  untrusted parameters may break a handler in any way; such a call is not understood
            self.problems.append(f"{name} is not understood: interpreting it raised {type(error).__name__}")
        return ()

    def _refuse_runtime(self, context: CallContext, row: Operation | None) -> None:
        """Note a problem if the call has a value that only AWS fills in, except where nobody interprets it."""
        row = row or self.rows.get(context.call.service, {}).get(context.call.operation)
        content = row.content if row is not None and row.handler is None else frozenset()
        for name, value in context.call.parameters.items():
            if name not in content and holds_runtime(value):
                self.problems.append(
                    f"{name} of {context.call.service}:{context.call.operation} is known only when AWS makes the call"
                )

    def _refuse_contradictions(self, effects: tuple[Effect, ...]) -> None:
        """Note a problem if two inner calls, or the call and an inner one, change the same attribute, or if one deletes what another changes."""
        seen: dict[tuple[str, str], Effect] = {}
        deleted = {effect.address: effect.by for effect in effects if effect.action is EffectAction.DELETE}
        for effect in effects:
            other = seen.setdefault((effect.address, effect.attribute), effect)
            again = other is not effect and (other.action is not EffectAction.INVOKE or other != effect)
            gone = effect.address in deleted and effect.action is not EffectAction.DELETE
            if (again and (other.by or effect.by)) or (gone and (effect.by or deleted[effect.address])):
                self.problems.append(f"two of its calls concern {effect.address}")
                return
