"""The console as a door of a running gateway. Apart from `wiring`, which is about the line."""

from collections.abc import Mapping

from gateway.authn.bearer import Bearer
from gateway.cloud.oidc_host import OidcEndpoints
from gateway.doors.console.door import ConsoleDoor
from gateway.doors.console.parts import ConsoleParts
from gateway.doors.router import App
from gateway.doors.stopping import Stopping
from gateway.pipeline import Pipeline
from gateway.wiring import Ports


def console_doors(ports: Ports, api: App, pipeline: Pipeline, stopping: Stopping) -> Mapping[str, App]:
    """The console by the path that leads to it; nothing if the settings switch it off. `api` serves `/v1`."""
    if not ports.settings.console.enabled:
        return {}
    parts = ConsoleParts(
        api=api,
        pipeline=pipeline,
        authenticator=Bearer(ports.keys, ports.clock),
        keys=ports.keys,
        changes=ports.ledger,
        checkouts={stack.name: stack.path for stack in ports.settings.stacks},
        rules=ports.engine.rules,
        revision=lambda: ports.engine.revision,
        clock=ports.clock,
        stopping=stopping,
        cookie_key=ports.console_key,
        public_url=ports.settings.server.public_url,
        settings=ports.settings.console,
        oidc_host=OidcEndpoints(),
    )
    return {"/console": ConsoleDoor(parts)}
