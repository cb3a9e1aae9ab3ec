"""The request of a run task: its signature, its form, and whether its URLs lead to the hosts of the settings.

Source: https://developer.hashicorp.com/terraform/cloud-docs/api-docs/run-tasks/run-tasks-integration
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Collection
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.doors.api.problems import validation_messages
from gateway.doors.aws.strict_parsers import json_value
from gateway.errors import Malformed, NotAllowed, NotAuthenticated

SIGNATURE: Final = "x-tfc-task-signature"
TEST_TOKEN: Final = "test-token"  # noqa: S105  what HCP Terraform sends when somebody sets the run task up
_STAGES: Final = ("post_plan", "pre_apply")
"""The stages before an apply that have a plan."""

Url = Annotated[str, Field(max_length=2048)]


class RunTaskRequest(BaseModel):
    """What HCP Terraform sends. Members that Sentinel does not use are ignored: newer versions add some."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    payload_version: int
    stage: Annotated[str, Field(max_length=64)]
    access_token: Annotated[str, Field(min_length=1, max_length=4096, repr=False)]
    task_result_id: Annotated[str, Field(max_length=128)] = ""
    task_result_callback_url: Url = ""
    plan_json_api_url: Url | None = None
    organization_name: Annotated[str, Field(max_length=256)] = ""
    workspace_name: Annotated[str, Field(max_length=256)] = ""
    run_id: Annotated[str, Field(max_length=128)] = ""

    @property
    def is_test(self) -> bool:
        """Whether somebody is only setting the run task up."""
        return self.access_token == TEST_TOKEN

    @property
    def has_plan(self) -> bool:
        """Whether its stage is one before an apply, with a plan."""
        return self.stage in _STAGES and bool(self.plan_json_api_url)


def verify_signature(raw: bytes, signature: str | None, key: str) -> None:
    """Raise `errors.NotAuthenticated` unless the signature is the HMAC-SHA512 of the body as it arrived."""
    wanted = hmac.new(key.encode(), raw, hashlib.sha512).hexdigest()
    if signature is None or not hmac.compare_digest(wanted.encode(), signature.strip().lower().encode()):
        raise NotAuthenticated(
            "The request of the run task is not signed with its HMAC key (X-Tfc-Task-Signature), so it was not read. "
            "Set the same key there and as `run_task.hmac_key`."
        )


def read_request(raw: bytes, hosts: Collection[str]) -> RunTaskRequest:
    """The request, which must be verified before. Raises `errors.Malformed`, and `errors.NotAllowed` for a URL of another host."""
    try:
        request = RunTaskRequest.model_validate(json_value(raw))
    except ValidationError as error:
        raise Malformed(f"The request of the run task cannot be read: {validation_messages(error.errors())}.") from None
    if request.payload_version != 1:
        raise Malformed(
            "The request of the run task has a payload_version that this Sentinel does not know; it knows 1."
        )
    if request.is_test:
        return request
    if not request.task_result_id or not request.task_result_callback_url:
        raise Malformed("The request of the run task has no task_result_id or no task_result_callback_url.")
    for url in (request.task_result_callback_url, request.plan_json_api_url or ""):
        if url:
            require_listed(url, hosts)
    return request


def require_listed(url: str, hosts: Collection[str]) -> None:
    """Raise `errors.NotAllowed` unless the URL leads to one of the hosts: over https, or over http on this machine."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    name = host if port is None else f"{host}:{port}"
    secure = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))
    odd = parts.username is not None or parts.password is not None or "\\" in url or not url.isprintable() or " " in url
    if name not in hosts or not secure or odd:
        raise NotAllowed(
            f"The run task names the host {name[:100]!r}, which is not among `run_task.hosts`, or no https URL. It was not asked."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
