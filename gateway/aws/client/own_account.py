"""The account of the gateway's own credentials: that of the settings or the states, else what AWS says, which is asked once."""

from collections.abc import Callable
from dataclasses import dataclass, field

from gateway.aws.client.mutations import Aws
from gateway.aws.client.outcome import parsed_reply
from gateway.core.errors import NotSendable, UpstreamUnavailable
from gateway.core.model.ids import new_id
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied
from gateway.core.service_models import ServiceModels


@dataclass(slots=True, kw_only=True)
class OwnAccount:
    """The account, in which every call goes that no role sends elsewhere."""

    known: Callable[[], str]
    """What settings and states say; empty if they say nothing."""
    aws: Aws
    models: ServiceModels
    region: str
    _told: str = field(default="", init=False)

    async def read(self) -> str:
        """Its twelve digits. Raises `errors.UpstreamUnavailable` if nothing says it and AWS cannot be asked."""
        if found := self.known() or self._told:
            return found
        call = Call(service="sts", operation="GetCallerIdentity", parameters={}, account="", region=self.region)
        try:
            outcome = await self.aws.send(await self.aws.prepare(call, new_id("own")))
        except NotSendable as error:
            raise UpstreamUnavailable(f"AWS cannot be asked for the gateway's account: {error}") from error
        if not isinstance(outcome, Applied):
            raise UpstreamUnavailable(
                "AWS did not say which account the gateway's credentials are of. Set `account` in the settings."
            )
        self._told = str(parsed_reply(self.models.operation("sts", "GetCallerIdentity"), outcome.reply)["Account"])
        return self._told
