"""Reads a resource from AWS for the context of an agent. Implements `context.live.LiveSource`."""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.aws.client.mutations import Aws
from gateway.aws.client.outcome import parsed_reply
from gateway.context.live_calls import LIVE_CALLS, live_attributes
from gateway.context.live_values import LiveTarget
from gateway.core.errors import UpstreamUnavailable
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from gateway.core.model.masking import Masker
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, Reply
from gateway.core.off_loop import off_loop
from gateway.core.service_models import ServiceModels
from gateway.terraform.secrets import masked


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsLive:
    """AWS, for the live values of one resource. The caller chooses neither the operation nor a parameter."""

    aws: Aws
    models: ServiceModels
    masker: Masker
    account: str = ""
    """The account of the gateway's own credentials, as far as the settings or the states say it."""
    region: str = ""
    """Where resources are that nothing says the region of."""

    def supports(self, target: LiveTarget) -> str:
        """Why resources like this cannot be read, as a sentence; empty if they can."""
        call = LIVE_CALLS.get(target.resource_type)
        if call is None:
            return f"Sentinel reads no live values of {target.resource_type}; read it through the AWS endpoint."
        if call.request(target.recorded) is None:
            return "No state records this resource yet, so AWS cannot be asked for it."
        if self.account and target.account and self.account != target.account:
            return f"The resource is in the account {target.account}, which the gateway's own credentials are not for."
        return ""

    async def read(self, target: LiveTarget) -> Mapping[str, Json]:
        """The live values by attribute path, secrets masked; empty if the resource is gone. Raises `errors.SentinelError`."""
        live = LIVE_CALLS[target.resource_type]
        call = Call(
            service=live.service,
            operation=live.operation,
            parameters=dict(live.request(target.recorded) or {}),
            account=target.account,
            region=target.region or self.region,
        )
        outcome = await self.aws.send(await self.aws.prepare(call, new_id("live")))
        match outcome:
            case Applied():
                reply = outcome.reply
                return await off_loop(len(reply.body), lambda: self._values(target, call, reply))
            case Failed():
                raise UpstreamUnavailable(f"AWS refused {call.operation}: {outcome.code}. Nothing was changed.")
            case _:
                raise UpstreamUnavailable(f"AWS gave no whole answer to {call.operation}. Nothing was changed.")

    def _values(self, target: LiveTarget, call: Call, reply: Reply) -> Mapping[str, Json]:
        operation = self.models.operation(call.service, call.operation)
        values = live_attributes(target.resource_type, LIVE_CALLS[target.resource_type], parsed_reply(operation, reply))
        return {
            path: masked(
                value,
                resource_type=target.resource_type,
                attribute=path,
                masker=self.masker,
                recorded=target.recorded.get(path),
            )
            for path, value in (values or {}).items()
        }
