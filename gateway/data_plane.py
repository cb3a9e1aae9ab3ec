"""Decides which calls of the data plane pass without a decision.

A call passes only if all it does is to invoke resources as a whole: every parameter is understood, and no resource is content that the code
declares itself (an `aws_s3_object`). Anything else, and every call that the settings treat as `policy`, is a mutation.
"""

from collections.abc import Mapping
from dataclasses import replace

from gateway.effects.resolver import EffectResolver
from gateway.effects.without_resource import WITHOUT_RESOURCE
from gateway.errors import Ambiguous, CallTooLarge
from gateway.model.caller import ActorKind, Caller
from gateway.model.data_plane import STRICTNESS, DataTreatment, Passage
from gateway.model.mutation import WHOLE, Call, CallClass, Effect, EffectAction
from gateway.off_loop import off_loop, size_of
from gateway.ports import Request
from gateway.terraform.stacks import Stacks

Treatments = Mapping[ActorKind, DataTreatment]
"""The treatment of each kind of actor."""

_CONTENT_TYPES = frozenset({"aws_s3_object"})
"""Resource types that are content of another resource: writing one is a change of what the code declares."""


class DataPlane:
    """The treatments of all stacks, and the tables by which a call's resources are found."""

    def __init__(
        self, *, resolver: EffectResolver, stacks: Stacks, treatments: Treatments, by_stack: Mapping[str, Treatments]
    ) -> None:
        """`treatments` are those of resources that no stack declares; `by_stack` has those of each stack."""
        self._resolver = resolver
        self._stacks = stacks
        self._treatments = treatments
        self._by_stack = by_stack
        every = (treatments, *by_stack.values())
        self._passing = frozenset(
            kind for kind in ActorKind if any(each[kind] is not DataTreatment.POLICY for each in every)
        )

    async def passage(self, caller: Caller, request: Request) -> Passage | None:
        """How this call passes; None if it must be decided as a mutation."""
        call = request.call
        if request.call_class is not CallClass.DATA or caller.kind not in self._passing:
            return None
        passage = await off_loop(size_of(call.parameters), lambda: self._passage(caller, call))
        return None if passage is None else replace(passage, door=request.door)

    def _passage(self, caller: Caller, call: Call) -> Passage | None:
        try:
            addresses = self._addresses(call)
            declaring = [self._stacks.declaring(address) for address in addresses]
        except (_Change, Ambiguous, CallTooLarge):
            return None
        stacks = {stack.name if stack is not None else "" for stack in declaring} or {""}
        treatment = max((self._of(stack)[caller.kind] for stack in stacks), key=STRICTNESS.index)
        if treatment is DataTreatment.POLICY:
            return None
        return Passage(
            caller=caller,
            service=call.service,
            operation=call.operation,
            stack=stacks.pop() if len(stacks) == 1 else "",
            addresses=addresses if treatment is DataTreatment.RECORD else (),
            treatment=treatment,
        )

    def _addresses(self, call: Call) -> tuple[str, ...]:
        """The resources that the call is about. Raises `_Change` if it does more than invoke them, `errors.CallTooLarge`."""
        if (call.service, call.operation) in WITHOUT_RESOURCE:
            return ()
        effects = self._resolver.effects(call)
        if not effects or not all(_only_invokes(effect, call) for effect in effects):
            raise _Change
        return tuple(dict.fromkeys(effect.address for effect in effects))

    def _of(self, stack: str) -> Treatments:
        return self._by_stack.get(stack, self._treatments)


class _Change(Exception):
    """The call is more than a call of the data plane, or is not understood."""


def _only_invokes(effect: Effect, call: Call) -> bool:
    """Whether the effect leaves the resource as it is. A copy out of another bucket reads what the settings of this one do not cover."""
    source = effect.value.get("CopySource") if isinstance(effect.value, Mapping) else None
    plain = effect.action is EffectAction.INVOKE and effect.attribute == WHOLE and not effect.implied
    same_bucket = source is None or str(source).removeprefix("/").partition("/")[0] == call.parameters.get("Bucket")
    return plain and same_bucket and effect.resource_type not in _CONTENT_TYPES
