"""The operations of Organizations that let services work in the organization: an account has one, which no parameter names."""

from collections.abc import Mapping, Sequence

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext
from gateway.effects.operation import Operation
from gateway.effects.translators import joined, recorded_list, without
from gateway.effects.values import NotUnderstood

_ORGANIZATION, _SERVICES = "aws_organizations_organization", "aws_service_access_principals"
_FEATURES = ("ALL", "CONSOLIDATED_BILLING")


def _access(*, given: bool) -> Operation:
    """A row by which one service gets access to the organization, or loses it."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("ServicePrincipal")
        service: Sequence[Json] = [context.text("ServicePrincipal")]
        found = [each for text in _FEATURES for each in context.inventory.find(_ORGANIZATION, "feature_set", text)]
        target = context.target_among(_ORGANIZATION, {"account": context.account or "this"}, tuple(found))
        if not (given or target.recorded):
            raise NotUnderstood("the state has no organization, so nobody knows which services would keep access")
        before = recorded_list(target, _SERVICES)
        return (target.put(_SERVICES, joined(before, service) if given else without(before, service)),)

    return Operation(resource_type=_ORGANIZATION, handler=handler)


OPERATIONS: Mapping[str, Operation] = {
    "DisableAWSServiceAccess": _access(given=False),
    "EnableAWSServiceAccess": _access(given=True),
}
"""Operation name → row."""
