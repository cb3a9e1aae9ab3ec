"""Settings of the run task that HCP Terraform or Terraform Enterprise asks about each plan."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Self

from pydantic import Field, SecretStr, model_validator

from gateway.core.settings.table import SettingsTable

SHORTEST_KEY: Final = 16
"""Characters of an HMAC key."""
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?")


class RunTaskSettings(SettingsTable):
    """The run task at `POST /v1/run-tasks/hcp`. Off without `hmac_key`."""

    hmac_key: SecretStr = SecretStr("")
    """The HMAC key of the run task; `SENTINEL_RUN_TASK__HMAC_KEY` keeps it out of the file."""
    hosts: tuple[str, ...] = ("app.terraform.io", "archivist.terraform.io")
    """The only hosts that are asked for plans and told results, over https: those of HCP Terraform. For Terraform Enterprise its own. One of
    this machine (`127.0.0.1:8080`) is asked over http."""
    key_id: str = ""
    """Id of the key that the runs apply with: plans are judged as its actor's, with its motive."""
    stacks: Mapping[str, Annotated[str, Field(max_length=63)]] = {}
    """The stack of each workspace, e.g. `{ "acme/kafka-prod" = "kafka" }`. Default: the stack with the workspace's name, else the only one."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        key = self.hmac_key.get_secret_value()
        if key and len(key) < SHORTEST_KEY:
            raise ValueError(f"`hmac_key` needs at least {SHORTEST_KEY} characters.")
        if key and not self.key_id:
            raise ValueError("`hmac_key` needs `key_id`, the key that the runs apply with (`sentinel key list`).")
        for host in self.hosts:
            if not _HOST.fullmatch(host):
                raise ValueError(f"`hosts` are names such as app.terraform.io, not {host!r}.")
        return self
