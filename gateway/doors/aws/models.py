"""botocore's service models, loaded when first asked for and then kept: what an operation's input must look like."""

import asyncio
from collections import OrderedDict
from typing import Any, Protocol

from botocore.loaders import Loader
from botocore.model import ServiceModel

KEPT_SERVICES = 64
"""How many models stay in memory; EC2's, the largest, takes about 40 MB with its shapes built, the usual one 1 MB."""


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


class Models:
    """The input shapes of operations. Only the models that ship with botocore are read, never the user's own."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Any] = OrderedDict()

    async def input_of(self, service: str, operation: str) -> Shape | None:
        """The input shape of an operation, None where it takes none. Reads from disk in a thread, so that others need not wait."""
        if service not in self._kept:
            self._keep(service, await asyncio.to_thread(self._load, service))
        return self.shape(service, operation)

    def shape(self, service: str, operation: str) -> Shape | None:
        """As `input_of`, but blocks (up to 0.3 s for EC2) where the service was not used lately."""
        shape: Shape | None = self.model(service).operation_model(operation).input_shape
        return shape

    def model(self, service: str) -> Any:
        """The `ServiceModel` of botocore; the `KEPT_SERVICES` last used stay in memory."""
        if service not in self._kept:
            self._keep(service, self._load(service))
        self._kept.move_to_end(service)
        return self._kept[service]

    def _keep(self, service: str, model: Any) -> None:
        self._kept[service] = model
        if len(self._kept) > KEPT_SERVICES:
            self._kept.popitem(last=False)

    def _load(self, service: str) -> Any:
        # A loader never forgets what it has read, so each gets its own.
        loader = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])  # type: ignore[no-untyped-call] # botocore is untyped
        return ServiceModel(loader.load_service_model(service, "service-2"), service)  # type: ignore[no-untyped-call] # botocore is untyped
