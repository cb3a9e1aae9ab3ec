"""botocore's service models and endpoint rules, read from botocore's own files only and kept once read."""

import asyncio
from functools import lru_cache
from typing import Any

from botocore.exceptions import UnknownServiceError
from botocore.hooks import HierarchicalEmitter
from botocore.loaders import Loader
from botocore.model import OperationModel, OperationNotFoundError, ServiceModel
from botocore.regions import EndpointResolverBuiltins as Builtin
from botocore.regions import EndpointRulesetResolver

from gateway.errors import NotSendable

KEPT_SERVICES = 64
"""How many services stay in memory; EC2's model takes about 20 MB, the usual one 1 MB."""


def _loader() -> Any:
    """A loader of botocore's own files. A new one each time, because a loader never forgets what it has read."""
    return Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])  # type: ignore[no-untyped-call]  # botocore


class Models:
    """What each AWS operation looks like and where it lives. `~/.aws/models` and `AWS_DATA_PATH` are not looked at: they could change both."""

    def __init__(self) -> None:
        self._services = lru_cache(KEPT_SERVICES)(self._read)
        self._resolvers = lru_cache(4 * KEPT_SERVICES)(self._rules)
        self._warm: set[str] = set()
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
        if service not in self._warm:
            await asyncio.to_thread(self.service, service)
            await asyncio.to_thread(self.rules, service, region)
            self._warm.add(service)

    def service(self, name: str) -> ServiceModel:
        """The model of a service by its botocore name. Raises `errors.NotSendable`."""
        return self._services(name)

    def operation(self, service: str, operation: str) -> OperationModel:
        """The model of an operation. Raises `errors.NotSendable`."""
        try:
            model: OperationModel = self.service(service).operation_model(operation)
        except OperationNotFoundError as error:
            raise NotSendable(f"AWS {service} has no operation {operation!r}; nothing was sent.") from error
        return model

    def rules(self, service: str, region: str) -> EndpointRulesetResolver:
        """The endpoint rules of a service with everything decided that a client's configuration would decide. Raises `errors.NotSendable`."""
        return self._resolvers(service, region)

    def _read(self, name: str) -> ServiceModel:
        try:
            return ServiceModel(_loader().load_service_model(name, "service-2"), name)  # type: ignore[no-untyped-call]  # botocore
        except UnknownServiceError as error:
            raise NotSendable(f"There is no AWS service {name!r}; nothing was sent.") from error

    def _rules(self, service: str, region: str) -> EndpointRulesetResolver:
        model = self.service(service)
        return EndpointRulesetResolver(  # type: ignore[no-untyped-call]  # botocore
            _loader().load_service_model(service, "endpoint-rule-set-1"),
            self._partitions,
            model,
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
            HierarchicalEmitter(),  # type: ignore[no-untyped-call]  # botocore
        )
