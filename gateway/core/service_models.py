"""botocore's service models and endpoint rules, read on first use from the files in the botocore package, and cached."""

import asyncio
import gzip
import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from botocore.exceptions import UnknownServiceError
from botocore.hooks import HierarchicalEmitter
from botocore.loaders import JSONFileLoader, Loader
from botocore.model import OperationModel, OperationNotFoundError, ServiceModel
from botocore.regions import EndpointResolverBuiltins as Builtin
from botocore.regions import EndpointRulesetResolver

from gateway.core.errors import NotSendable

CACHED_SERVICES = 64
"""How many services are cached. The model of EC2, the largest, takes about 6 MB; most take 1 MB or less."""
_TOKENS: Final = frozenset(
    [
        "clienttoken",
        "amznclienttoken",
        "clientrequesttoken",
        "idempotencytoken",
        "uniquerequesttoken",
        "creationtoken",
        "callerreference",
        "creatorrequestid",
        "updaterrequestid",
    ]
)
"""Names of idempotency tokens, lower-case. Botocore does not mark all of them: not ECS's nor Route 53's."""
_MARKED_TOKENS: Final = frozenset(
    ["requestid", "operationid", "clienttokenid", "executetoken", "provisiontoken", "terminatetoken", "updatetoken"]
)
"""Names that are tokens where botocore marks them. It marks others too, such as the query that `athena:DeleteNamedQuery` deletes."""


class Shape(Protocol):
    """The members of a botocore shape that the parsers use; botocore has no type annotations. `members`, `member`, `key` and `value` exist
    only on shapes of the matching `type_name`.
    """

    type_name: str
    serialization: dict[str, Any]
    metadata: dict[str, Any]
    members: "dict[str, Shape]"
    required_members: list[str]
    is_tagged_union: bool
    is_document_type: bool
    member: "Shape"
    key: "Shape"
    value: "Shape"


class _Files(JSONFileLoader):
    """Reads botocore's files as plain dictionaries and stores equal strings once, which halves the memory of botocore's own loader."""

    def load_file(self, file_path: str) -> Any:
        """The content of the file at `file_path` plus `.json` or `.json.gz`; None if there is no such file."""
        for path in (Path(f"{file_path}.json"), Path(f"{file_path}.json.gz")):
            if path.is_file():
                raw = path.read_bytes()
                return _parsed(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        return None


def _parsed(raw: bytes) -> Any:
    seen: dict[str, str] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {key: seen.setdefault(value, value) if isinstance(value, str) else value for key, value in pairs}

    return json.loads(raw, object_pairs_hook=members)


class _Rules(EndpointRulesetResolver):
    """botocore's resolver of endpoint rules, for calls whose parameters may not be parsed (reads)."""

    def _resolve_param_as_operation_context_param(self, param_name: str, operation_model: Any, call_args: Any) -> Any:
        """A list of resources in the parameters, for hosts by account, which are disabled. None if the parameters are not there."""
        try:
            return super()._resolve_param_as_operation_context_param(param_name, operation_model, call_args)  # type: ignore[no-untyped-call] # botocore is untyped
        except ValueError:  # as jmespath raises it for a path that does not fit
            return None


@dataclass(slots=True)
class _Service:
    """The cached data of one service."""

    model: ServiceModel
    operations: dict[str, OperationModel] = field(default_factory=dict)
    tokens: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The idempotency tokens of the operations that were asked for."""
    rules: dict[str, EndpointRulesetResolver] = field(default_factory=dict)
    """By region."""


class ServiceModels:
    """The shapes and endpoints of all AWS operations. Ignores `~/.aws/models` and `AWS_DATA_PATH`, which could change them.

    One instance serves the whole process and caches the most recently used services.
    """

    def __init__(self) -> None:
        self._cache: OrderedDict[str, _Service] = OrderedDict()
        self._loading = asyncio.Lock()
        self._partitions: dict[str, Any] = _loader().load_data("partitions")

    @property
    def domains(self) -> tuple[str, ...]:
        """The DNS suffixes of AWS endpoints, e.g. `.amazonaws.com`, of every partition that botocore knows."""
        outputs = [partition["outputs"] for partition in self._partitions["partitions"]]
        return tuple(sorted({f".{output[key]}" for output in outputs for key in ("dnsSuffix", "dualStackDnsSuffix")}))

    async def warm(self, service: str, region: str) -> None:
        """Load a service and its endpoint rules in a thread, so that loading (EC2: 0.1 s) does not block the event loop.

        Raises `errors.NotSendable` for a service that botocore does not know.
        """
        cached = self._cache.get(service)
        if cached is not None and region in cached.rules:
            return
        async with self._loading:
            cached = await self._service_in_thread(service)
            if region not in cached.rules:
                cached.rules[region] = await asyncio.to_thread(self._rules, cached, region)

    async def input_of(self, service: str, operation: str) -> Shape | None:
        """The input shape of an operation, None if it has no input. Loads in a thread. Raises `errors.NotSendable`."""
        if service not in self._cache:
            async with self._loading:
                await self._service_in_thread(service)
        return self.shape(service, operation)

    def shape(self, service: str, operation: str) -> Shape | None:
        """As `input_of`, but blocks while it loads a service that is not cached (EC2: 0.1 s)."""
        shape: Shape | None = self.operation(service, operation).input_shape
        return shape

    def service(self, name: str) -> ServiceModel:
        """The model of a service by its botocore name. Blocks while it loads a service that is not cached. Raises `errors.NotSendable`."""
        return self._service(name).model

    def operation(self, service: str, operation: str) -> OperationModel:
        """The model of an operation. Blocks as `service` does. Raises `errors.NotSendable`."""
        cached = self._service(service)
        model = cached.operations.get(operation)
        if model is None:
            try:
                model = cached.operations[operation] = cached.model.operation_model(operation)
            except OperationNotFoundError as error:
                raise NotSendable(f"AWS {service} has no operation {operation!r}; nothing was sent.") from error
        return model

    def idempotency_tokens(self, service: str, operation: str) -> tuple[str, ...]:
        """The dotted paths of an operation's idempotency tokens: what a program invents afresh for each call. Blocks as `shape` does."""
        known = self._service(service).tokens
        if operation not in known:
            shape = self.shape(service, operation)
            known[operation] = () if shape is None else tuple(_tokens_in(shape))
        return known[operation]

    def rules(self, service: str, region: str) -> EndpointRulesetResolver:
        """The endpoint rules of a service with fixed values for the client configuration. Blocks as `service` does.

        Raises `errors.NotSendable`.
        """
        cached = self._service(service)
        if region not in cached.rules:
            cached.rules[region] = self._rules(cached, region)
        return cached.rules[region]

    def _service(self, name: str) -> _Service:
        """The cached data of a service, loaded if necessary."""
        cached = self._cache.get(name)
        if cached is None:
            cached = _load(name)
        self._put(name, cached)
        return cached

    async def _service_in_thread(self, name: str) -> _Service:
        """As `_service`, but loads in a thread."""
        if name not in self._cache:
            self._put(name, await asyncio.to_thread(_load, name))
        return self._service(name)

    def _put(self, name: str, service: _Service) -> None:
        """Cache the service as the most recently used one."""
        self._cache[name] = service
        self._cache.move_to_end(name)
        if len(self._cache) > CACHED_SERVICES:
            self._cache.popitem(last=False)

    def _rules(self, service: _Service, region: str) -> EndpointRulesetResolver:
        return _Rules(  # type: ignore[no-untyped-call] # botocore is untyped
            _loader().load_service_model(service.model.service_name, "endpoint-rule-set-1"),
            self._partitions,
            service.model,
            {
                Builtin.AWS_REGION: region,
                Builtin.AWS_USE_FIPS: False,
                Builtin.AWS_USE_DUALSTACK: False,
                Builtin.AWS_STS_USE_GLOBAL_ENDPOINT: False,
                Builtin.AWS_S3_USE_GLOBAL_ENDPOINT: False,
                Builtin.AWS_S3_ACCELERATE: False,
                Builtin.AWS_S3_FORCE_PATH_STYLE: False,
                Builtin.AWS_S3_USE_ARN_REGION: False,
                Builtin.AWS_S3_DISABLE_EXPRESS_SESSION_AUTH: True,
                Builtin.AWS_S3CONTROL_USE_ARN_REGION: False,
                Builtin.AWS_S3_DISABLE_MRAP: True,
                Builtin.SDK_ENDPOINT: None,
                Builtin.ACCOUNT_ID: None,
                Builtin.ACCOUNT_ID_ENDPOINT_MODE: "disabled",
            },
            {},
            HierarchicalEmitter(),
        )


def _tokens_in(shape: Shape, parent: str = "") -> Iterator[str]:
    """The tokens among the members of a shape and of the structures in it, no deeper: a map's keys are the caller's own."""
    for name, member in shape.members.items():
        plain = name.lower()
        if member.type_name == "string":
            marked = bool(member.metadata.get("idempotencyToken"))
            if plain in _TOKENS or (marked and plain in _MARKED_TOKENS):
                yield parent + name
        elif member.type_name == "structure" and not parent:
            yield from _tokens_in(member, f"{name}.")


def _loader() -> Any:
    """A loader for the files in the botocore package. Make a new one for each use: a loader caches everything that it has read."""
    return Loader(
        file_loader=_Files(), include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH]
    )


def _load(name: str) -> _Service:
    try:
        return _Service(ServiceModel(_loader().load_service_model(name, "service-2"), name))
    except UnknownServiceError as error:
        raise NotSendable(f"There is no AWS service {name!r}; nothing was sent.") from error
