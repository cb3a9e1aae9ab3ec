"""Where a call goes: AWS's own endpoint rules, or the simulated AWS. Nothing the client sent names a host.

A region must be on the allow-list; the host that the rules (and a modelled host prefix) yield must be a plain name under one of AWS's
domains, because account ids, bucket names and the like become parts of it (T8: `evil.com/#` as an account id).
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError
from botocore.model import OperationModel

from gateway.authn.canonical import LITERAL_PATHS
from gateway.errors import NotSendable, SettingsInvalid
from gateway.model.json import Parameters
from gateway.model.mutation import Call
from gateway.service_models import ServiceModels

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")
_LABEL = re.compile(r"[A-Za-z0-9-]{1,63}")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A place a request may go to."""

    origin: str
    """Scheme, host and port, e.g. `https://sqs.us-east-1.amazonaws.com`; no slash at the end."""
    host: str
    """Value of the `Host` header."""
    path: str
    """What goes before the operation's own path; usually empty."""
    signing_name: str
    region: str
    """The region to sign for, which global services fix."""
    has_bucket: bool = False
    """Whether an S3 bucket stands in the host or in `path` already."""

    @property
    def literal(self) -> bool:
        """Whether paths are signed as sent."""
        return self.signing_name in LITERAL_PATHS


def simulated_origin(url: str) -> str:
    """The origin of a simulated AWS. Raises `errors.SettingsInvalid` unless it is plain `http(s)://host[:port]` on loopback."""
    parts = urlsplit(url)
    try:
        plain = (
            parts.scheme in ("http", "https")
            and url.rstrip("/") == f"{parts.scheme}://{parts.netloc}"
            and "@" not in parts.netloc
        )
        loopback = plain and _is_loopback(parts.hostname or "") and (parts.port is None or parts.port > 0)
    except ValueError:
        loopback = False
    if not loopback:
        raise SettingsInvalid(
            f"The simulated AWS must be a plain URL on this machine, like http://127.0.0.1:5555, not {url!r}: Sentinel never sends to other hosts than AWS's own."
        )
    return f"{parts.scheme}://{parts.netloc}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Endpoints:
    """Finds the endpoint of a call."""

    def __init__(self, *, models: ServiceModels, regions: tuple[str, ...], simulated: str = "") -> None:
        """`regions` is the allow-list. `simulated` is the URL of a simulated AWS, empty for the real one; raises `errors.SettingsInvalid`."""
        self._models = models
        self._regions = frozenset(regions)
        self._domains = models.domains
        self._simulated = simulated_origin(simulated) if simulated else ""
        self._fixed: dict[tuple[str, str, str], Endpoint] = {}

    def check_region(self, region: str) -> None:
        """Raises `errors.NotSendable` for a region that may not be called."""
        if region not in self._regions:
            raise NotSendable(
                f"The region {region[:40]!r} is not one that this gateway may call; nothing was sent. Allowed are {', '.join(sorted(self._regions))}."
            )

    def of(self, call: Call) -> Endpoint:
        """The endpoint of a mutation, S3 buckets in the host where the rules put them. Raises `errors.NotSendable`."""
        if call.service != "s3":
            return self._remembered(call)
        self.check_region(call.region)
        return self._resolve(call, self._models.operation(call.service, call.operation), call.parameters)

    def of_read(self, call: Call) -> Endpoint:
        """The endpoint of a read whose path is forwarded as the client sent it: S3 in path style. Raises `errors.NotSendable`."""
        return self._remembered(call)

    def _remembered(self, call: Call) -> Endpoint:
        """Endpoints that no parameter changes are resolved once."""
        key = (call.service, call.operation, call.region)
        found = self._fixed.get(key)
        if found is not None:
            return found
        self.check_region(call.region)
        operation = self._models.operation(call.service, call.operation)
        if call.service == "s3" or not _depends_on_parameters(operation):
            return self._fixed.setdefault(key, self._resolve(call, operation, {}))
        return self._resolve(call, operation, call.parameters)

    def _resolve(self, call: Call, operation: OperationModel, parameters: Parameters) -> Endpoint:
        if call.service == "s3" and (self._simulated or not parameters) and operation.name != "ListDirectoryBuckets":
            # Path style: the rules are asked for S3 itself. Of other operations than this they expect a bucket.
            url, schemes = self._by_rules(call, self._models.operation("s3", "ListBuckets"), {})
        else:
            url, schemes = self._by_rules(call, operation, parameters)
        signing_name, region = _signing(schemes, operation, call.region)
        parts = urlsplit(url)
        host = _prefix(operation, parameters) + parts.netloc
        if (
            parts.scheme != "https"
            or parts.query
            or parts.fragment
            or not _HOST.fullmatch(host)
            or not host.endswith(self._domains)
        ):
            raise NotSendable(
                f"The call would go to {url[:100]!r}, which is not a plain AWS host; nothing was sent. Check names and account ids in it."
            )
        if self._simulated:
            return Endpoint(
                origin=self._simulated,
                host=urlsplit(self._simulated).netloc,
                path="",
                signing_name=signing_name,
                region=region,
            )
        return Endpoint(
            origin=f"https://{host}",
            host=host,
            path=parts.path.rstrip("/"),
            signing_name=signing_name,
            region=region,
            has_bucket=call.service == "s3" and "Bucket" in parameters,
        )

    def _by_rules(
        self, call: Call, operation: OperationModel, parameters: Parameters
    ) -> tuple[str, list[dict[str, Any]]]:
        try:
            rules: Any = self._models.rules(call.service, call.region)
            found = rules.construct_endpoint(operation, dict(parameters), {})
        except (BotoCoreError, ValueError, TypeError) as error:
            raise NotSendable(
                f"AWS's endpoint rules name no endpoint for {call.service} {call.operation} in {call.region}: {error}. Nothing was sent."
            ) from error
        if found.headers:
            raise NotSendable(
                f"{call.service} {call.operation} needs an endpoint with headers of its own, which Sentinel does not send; nothing was sent."
            )
        return found.url, found.properties.get("authSchemes", [])


def _signing(schemes: list[dict[str, Any]], operation: OperationModel, region: str) -> tuple[str, str]:
    """Signing name and region. The first plain SigV4 scheme counts; where the rules name none, the model does."""
    model = operation.service_model
    if not schemes:
        return str(model.signing_name), region
    for scheme in schemes:
        if scheme["name"] == "sigv4":
            return str(scheme.get("signingName", model.signing_name)), str(scheme.get("signingRegion", region))
    names = ", ".join(scheme["name"] for scheme in schemes)
    raise NotSendable(
        f"{model.service_name} {operation.name} must be signed with {names}, which Sentinel cannot; nothing was sent."
    )


def _prefix(operation: OperationModel, parameters: Mapping[str, object]) -> str:
    """The modelled host prefix with its parameters in place, e.g. `sync-`. s3control's account comes from its endpoint rules already."""
    template = (operation.endpoint or {}).get("hostPrefix", "")
    if not template or operation.service_model.service_name == "s3control":
        return ""

    def label(match: re.Match[str]) -> str:
        value = str(parameters.get(match[1], ""))
        if not _LABEL.fullmatch(value):
            raise NotSendable(
                f"{operation.name} puts {match[1]} into the host name, and {value[:60]!r} is no host label; nothing was sent."
            )
        return value.lower()

    return _PLACEHOLDER.sub(label, template)


def _depends_on_parameters(operation: OperationModel) -> bool:
    shape = operation.input_shape
    return bool(
        "{" in (operation.endpoint or {}).get("hostPrefix", "")
        or operation.operation_context_parameters
        or (shape is not None and any(member.metadata.get("contextParam") for member in shape.members.values()))
    )
