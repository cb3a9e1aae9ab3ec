"""botocore's service models and endpoint rules, read from botocore's own files only, when first asked for, and then kept."""

import asyncio
import gzip
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from botocore.exceptions import UnknownServiceError
from botocore.hooks import HierarchicalEmitter
from botocore.loaders import JSONFileLoader, Loader
from botocore.model import OperationModel, OperationNotFoundError, ServiceModel
from botocore.regions import EndpointResolverBuiltins as Builtin
from botocore.regions import EndpointRulesetResolver

from gateway.errors import NotSendable

KEPT_SERVICES = 64
"""How many services stay in memory; EC2's model, the largest, takes about 6 MB, the usual one 1 MB."""


class Shape(Protocol):
    """What the parsers use of a botocore shape, which has no types of its own. Members of a structure and so on exist where `type_name` says so."""

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
    """Reads botocore's files as plain dictionaries with equal texts stored once: half the memory of botocore's own reader."""

    def load_file(self, file_path: str) -> Any:
        """The content of the file at a path without its suffix; None where there is none."""
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


@dataclass(slots=True)
class _Service:
    """What is kept of one service."""

    model: ServiceModel
    operations: dict[str, OperationModel] = field(default_factory=dict)
    rules: dict[str, EndpointRulesetResolver] = field(default_factory=dict)
    """By region."""


class ServiceModels:
    """What each AWS operation looks like and where it lives. `~/.aws/models` and `AWS_DATA_PATH` are not looked at: they could change both.

    One of these serves the whole process. The services used last stay in memory.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Service] = OrderedDict()
        self._reading = asyncio.Lock()
        self._partitions: dict[str, Any] = _loader().load_data("partitions")

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains under which AWS answers, e.g. `.amazonaws.com`, of every partition botocore knows."""
        outputs = [partition["outputs"] for partition in self._partitions["partitions"]]
        return tuple(sorted({f".{output[key]}" for output in outputs for key in ("dnsSuffix", "dualStackDnsSuffix")}))

    async def warm(self, service: str, region: str) -> None:
        """Read a service's files in a thread, so that the first call to it does not hold up the others (EC2: 0.1 s).

        Raises `errors.NotSendable` for a service botocore does not know.
        """
        kept = self._kept.get(service)
        if kept is not None and region in kept.rules:
            return
        async with self._reading:
            kept = await self._held(service)
            if region not in kept.rules:
                kept.rules[region] = await asyncio.to_thread(self._rules, kept, region)

    async def input_of(self, service: str, operation: str) -> Shape | None:
        """The input shape of an operation, None where it takes none. Reads in a thread. Raises `errors.NotSendable`."""
        if service not in self._kept:
            async with self._reading:
                await self._held(service)
        return self.shape(service, operation)

    def shape(self, service: str, operation: str) -> Shape | None:
        """As `input_of`, but blocks (up to 0.1 s for EC2) where the service was not used lately."""
        shape: Shape | None = self.operation(service, operation).input_shape
        return shape

    def service(self, name: str) -> ServiceModel:
        """The model of a service by its botocore name; blocks where it was not used lately. Raises `errors.NotSendable`."""
        return self._of(name).model

    def operation(self, service: str, operation: str) -> OperationModel:
        """The model of an operation; blocks as `service`. Raises `errors.NotSendable`."""
        kept = self._of(service)
        model = kept.operations.get(operation)
        if model is None:
            try:
                model = kept.operations[operation] = kept.model.operation_model(operation)
            except OperationNotFoundError as error:
                raise NotSendable(f"AWS {service} has no operation {operation!r}; nothing was sent.") from error
        return model

    def rules(self, service: str, region: str) -> EndpointRulesetResolver:
        """The endpoint rules of a service with everything decided that a client's configuration would decide; blocks as `service`.

        Raises `errors.NotSendable`.
        """
        kept = self._of(service)
        if region not in kept.rules:
            kept.rules[region] = self._rules(kept, region)
        return kept.rules[region]

    def _of(self, name: str) -> _Service:
        kept = self._kept.get(name)
        if kept is None:
            kept = _read(name)
        self._keep(name, kept)
        return kept

    async def _held(self, name: str) -> _Service:
        """As `_of`, but reads in a thread."""
        if name not in self._kept:
            self._keep(name, await asyncio.to_thread(_read, name))
        return self._of(name)

    def _keep(self, name: str, service: _Service) -> None:
        self._kept[name] = service
        self._kept.move_to_end(name)
        if len(self._kept) > KEPT_SERVICES:
            self._kept.popitem(last=False)

    def _rules(self, service: _Service, region: str) -> EndpointRulesetResolver:
        return EndpointRulesetResolver(
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


def _loader() -> Any:
    """A loader of botocore's own files. A new one each time, because a loader never forgets what it has read."""
    return Loader(
        file_loader=_Files(), include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH]
    )


def _read(name: str) -> _Service:
    try:
        return _Service(ServiceModel(_loader().load_service_model(name, "service-2"), name))
    except UnknownServiceError as error:
        raise NotSendable(f"There is no AWS service {name!r}; nothing was sent.") from error
