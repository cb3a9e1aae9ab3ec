"""Resolves the endpoint of a call with AWS's own endpoint rules, or to the simulated AWS. The client never chooses the host.

The region must be on the allow-list. Account ids, bucket names and other parameters become part of the host (an account id could be
`evil.com/#`), so the host that the rules and a modelled host prefix yield must be a plain name under one of AWS's domains.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError
from botocore.model import OperationModel

from gateway.core.errors import NotSendable, SettingsInvalid
from gateway.core.model.json import Parameters
from gateway.core.model.mutation import Call
from gateway.core.outbound.addresses import is_loopback
from gateway.core.service_models import ServiceModels
from gateway.identity.canonical import LITERAL_PATHS

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")
_LABEL = re.compile(r"[A-Za-z0-9-]{1,63}")
_REMEMBERED, _LONGEST = 1024, 512
"""How many endpoints are remembered by parameters, and by how many characters of them."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A destination of requests, and what to sign for it."""

    origin: str
    """Scheme, host and port without a trailing slash, e.g. `https://sqs.us-east-1.amazonaws.com`."""
    host: str
    """Value of the `Host` header."""
    path: str
    """Prefix of the operation's own path; usually empty."""
    signing_name: str
    region: str
    """The region to sign for; global services prescribe it."""
    has_bucket: bool = False
    """Whether `host` or `path` already contains the S3 bucket."""
    literal: bool = field(init=False, compare=False)
    """Whether paths are signed exactly as sent (S3)."""

    def __post_init__(self) -> None:
        """Find out once what each request asks."""
        object.__setattr__(self, "literal", self.signing_name in LITERAL_PATHS)


def simulated_origin(url: str) -> str:
    """The origin of a simulated AWS. Raises `errors.SettingsInvalid` unless `url` is a plain `http(s)://host[:port]` on loopback."""
    parts = urlsplit(url)
    try:
        plain = (
            parts.scheme in ("http", "https")
            and url.rstrip("/") == f"{parts.scheme}://{parts.netloc}"
            and "@" not in parts.netloc
        )
        host = parts.hostname or ""
        loopback = plain and (host == "localhost" or is_loopback(host)) and (parts.port is None or parts.port > 0)
    except ValueError:
        loopback = False
    if not loopback:
        raise SettingsInvalid(
            f"The simulated AWS must be a plain URL on this machine, like http://127.0.0.1:5555, not {url!r}: Sentinel never sends to other hosts than AWS's own."
        )
    return f"{parts.scheme}://{parts.netloc}"


class Endpoints:
    """Resolves the endpoints of calls."""

    def __init__(self, *, models: ServiceModels, regions: tuple[str, ...], simulated: str = "") -> None:
        """`regions` is the allow-list. `simulated` is the URL of a simulated AWS, empty for the real one. Raises `errors.SettingsInvalid`."""
        self._models = models
        self._regions = frozenset(regions)
        self._domains = models.domains
        self._simulated = simulated_origin(simulated) if simulated else ""
        self._cache: dict[tuple[str, str, str], Endpoint] = {}
        self._deciding = lru_cache(_REMEMBERED)(self._find_deciding)
        self._by_values = lru_cache(_REMEMBERED)(self._resolve_by_values)

    def check_region(self, region: str) -> None:
        """Raise `errors.NotSendable` unless the region is on the allow-list."""
        if region not in self._regions:
            raise NotSendable(
                f"The region {region[:40]!r} is not one that this gateway may call; nothing was sent. Allowed are {', '.join(sorted(self._regions))}."
            )

    def of(self, call: Call) -> Endpoint:
        """The endpoint of a mutation; an S3 bucket is in the host if the rules put it there. Raises `errors.NotSendable`."""
        if call.service != "s3":
            return self._cached(call)
        self.check_region(call.region)
        return self._resolve(call, self._models.operation(call.service, call.operation), call.parameters)

    def of_read(self, call: Call) -> Endpoint:
        """The endpoint of a read, whose path is forwarded as the client sent it: S3 in path style. Raises `errors.NotSendable`."""
        return self._cached(call)

    def known(self, call: Call) -> Endpoint | None:
        """The endpoint of a read that was resolved before and depends on no parameter; None if it must be resolved."""
        return self._cache.get((call.service, call.operation, call.region))

    def _cached(self, call: Call) -> Endpoint:
        """The endpoint of a call; resolved only once for the parameters that it depends on."""
        key = (call.service, call.operation, call.region)
        found = self._cache.get(key)
        if found is not None:
            return found
        self.check_region(call.region)
        names = () if call.service == "s3" else self._deciding(call.service, call.operation)
        if names == ():
            operation = self._models.operation(call.service, call.operation)
            return self._cache.setdefault(key, self._resolve(call, operation, {}))
        values = _short_values(call.parameters, names)
        if values is None:
            return self._resolve(call, self._models.operation(call.service, call.operation), call.parameters)
        return self._by_values(call.service, call.operation, call.region, values)

    def _resolve_by_values(
        self, service: str, operation: str, region: str, values: tuple[tuple[str, str], ...]
    ) -> Endpoint:
        """The endpoint by the parameters that decide it, which no caller and no other parameter change."""
        call = Call(service=service, operation=operation, region=region, parameters=dict(values))
        return self._resolve(call, self._models.operation(service, operation), call.parameters)

    def _find_deciding(self, service: str, operation: str) -> tuple[str, ...] | None:
        """The names of the parameters that the endpoint of an operation depends on; None if it depends on a part of one."""
        model = self._models.operation(service, operation)
        if model.operation_context_parameters:
            return None
        in_host = _PLACEHOLDER.findall((model.endpoint or {}).get("hostPrefix", ""))
        members = model.input_shape.members if model.input_shape is not None else {}
        given = [name for name, member in members.items() if member.metadata.get("contextParam")]
        return tuple(dict.fromkeys((*in_host, *given)))

    def _resolve(self, call: Call, operation: OperationModel, parameters: Parameters) -> Endpoint:
        if call.service == "s3" and (self._simulated or not parameters) and operation.name != "ListDirectoryBuckets":
            # Path style: resolve the endpoint of S3 itself. ListBuckets is the operation for which the rules do not require a bucket.
            url, schemes = self._by_rules(call, self._models.operation("s3", "ListBuckets"), {})
        else:
            url, schemes = self._by_rules(call, operation, parameters)
        signing_name, region = _signing(schemes, operation, call.region)
        parts = urlsplit(url)
        host = _host_prefix(operation, parameters) + parts.netloc
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
    """Signing name and region of the first plain SigV4 scheme; those of the model if the rules list no scheme."""
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


def _host_prefix(operation: OperationModel, parameters: Mapping[str, object]) -> str:
    """The modelled host prefix with its parameters filled in, e.g. `sync-`. Empty for s3control, whose endpoint rules add the account id."""
    template = (operation.endpoint or {}).get("hostPrefix", "")
    if not template or operation.service_model.service_name == "s3control":
        return ""

    def host_label(match: re.Match[str]) -> str:
        value = str(parameters.get(match[1], ""))
        if not _LABEL.fullmatch(value):
            raise NotSendable(
                f"{operation.name} puts {match[1]} into the host name, and {value[:60]!r} is not a valid host label; nothing was sent."
            )
        return value.lower()

    return _PLACEHOLDER.sub(host_label, template)


def _short_values(parameters: Parameters, names: tuple[str, ...] | None) -> tuple[tuple[str, str], ...] | None:
    """The parameters of these names that are there, if they are few enough to be remembered by: short texts."""
    if names is None:
        return () if not parameters else None
    values = tuple([(name, parameters[name]) for name in names if name in parameters])
    short = sum(len(value) if type(value) is str else _LONGEST + 1 for _, value in values) <= _LONGEST
    return values if short else None  # type: ignore[return-value]  # all are texts
