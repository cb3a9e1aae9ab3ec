"""A running, configured AWS provider whose resources are validated, planned and applied over the plug-in protocol, without Terraform.

Source: "tfplugin5.proto" in Terraform's documentation of the plug-in protocol; only the fields that tracing needs are described here.
"""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
import msgspec

from gateway.terraform.provider_mirror import find_mirrors
from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.messages import classes_of
from reconciler.terraform.plugin.process import ProviderProcess
from tests.tools.effects_tracing.block_schema import BlockSchema, read_block

PROVIDER: Final = "registry.terraform.io/hashicorp/aws"
UNKNOWN: Final = msgspec.msgpack.Ext
"""The type of a value that only the apply will know."""
_ERROR: Final = 1
_PLAN_SECONDS: Final = 20.0
_MESSAGES: Final[Mapping[str, Mapping[str, tuple[int, str]]]] = {
    "DynamicValue": {"msgpack": (1, "bytes"), "json": (2, "bytes")},
    "Step": {"attribute_name": (1, "string"), "element_key_string": (2, "string"), "element_key_int": (3, "int64")},
    "AttributePath": {"steps": (1, "*Step")},
    "Diagnostic": {
        "severity": (1, "int32"),
        "summary": (2, "string"),
        "detail": (3, "string"),
        "attribute": (4, "AttributePath"),
    },
    "Empty": {},
    "Attribute": {
        "name": (1, "string"),
        "type": (2, "bytes"),
        "required": (4, "bool"),
        "optional": (5, "bool"),
        "computed": (6, "bool"),
        "deprecated": (9, "bool"),
        "write_only": (10, "bool"),
    },
    "NestedBlock": {
        "type_name": (1, "string"),
        "block": (2, "Block"),
        "nesting": (3, "int32"),
        "min_items": (4, "int64"),
        "max_items": (5, "int64"),
    },
    "Block": {"attributes": (2, "*Attribute"), "block_types": (3, "*NestedBlock")},
    "Schema": {"version": (1, "int64"), "block": (2, "Block")},
    "SchemaEntry": {"key": (1, "string"), "value": (2, "Schema")},
    "GetSchemaResponse": {
        "provider": (1, "Schema"),
        "resources": (2, "*SchemaEntry"),
        "diagnostics": (4, "*Diagnostic"),
    },
    "ConfigureRequest": {"terraform_version": (1, "string"), "config": (2, "DynamicValue")},
    "Diagnosed": {"diagnostics": (1, "*Diagnostic")},
    "ValidateRequest": {"type_name": (1, "string"), "config": (2, "DynamicValue")},
    "PlanRequest": {
        "type_name": (1, "string"),
        "prior_state": (2, "DynamicValue"),
        "proposed_new_state": (3, "DynamicValue"),
        "config": (4, "DynamicValue"),
        "prior_private": (5, "bytes"),
    },
    "PlanResponse": {
        "planned_state": (1, "DynamicValue"),
        "requires_replace": (2, "*AttributePath"),
        "planned_private": (3, "bytes"),
        "diagnostics": (4, "*Diagnostic"),
    },
    "ApplyRequest": {
        "type_name": (1, "string"),
        "prior_state": (2, "DynamicValue"),
        "planned_state": (3, "DynamicValue"),
        "config": (4, "DynamicValue"),
        "planned_private": (5, "bytes"),
    },
    "ApplyResponse": {"new_state": (1, "DynamicValue"), "private": (2, "bytes"), "diagnostics": (3, "*Diagnostic")},
}
_SETTINGS: Final = {
    "region": "us-east-1",
    "access_key": "AKIAMARKERMARKER0001",
    "secret_key": "not-a-secret",
    "max_retries": 1,
    "skip_credentials_validation": True,
    "skip_region_validation": True,
    "skip_metadata_api_check": "true",
    "s3_use_path_style": True,
}


class Broken(Exception):
    """The provider did not answer: the call took too long, or the provider died of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """An error that the provider reports about a configuration."""

    path: tuple[str, ...]
    """Names of attributes and blocks, without the places in lists."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the provider plans for one resource."""

    state: Any
    """The planned state, as the provider sent it."""
    private: bytes
    replaced_by: frozenset[str]
    """Top attributes whose change needs a replacement."""
    errors: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What the provider says after it applied a plan."""

    state: Any
    private: bytes
    errors: tuple[Diagnostic, ...]


def find_executable(base: Mapping[str, str] = os.environ) -> Path:
    """The newest AWS provider in the mirrors of this machine. Raises `errors.PluginUnavailable`."""
    found = [
        path
        for mirror in find_mirrors(base)
        if PROVIDER in mirror.providers
        for path in (mirror.path / PROVIDER).glob("*/*/terraform-provider-aws*")
    ]
    if not found:
        raise PluginUnavailable.because("No mirror on this machine holds the AWS provider, unpacked.")
    return max(found, key=lambda path: [int(part) for part in version_of(path).split(".") if part.isdigit()])


def version_of(executable: Path) -> str:
    """The version of a provider in a mirror."""
    return executable.parent.parent.name


class Provider:
    """A provider that runs and is configured. Close it."""

    def __init__(self, executable: Path, environment: Mapping[str, str]) -> None:
        """`environment` is that of the provider: it says where the endpoints of AWS are."""
        self._executable = executable
        self._environment = environment
        self._process: ProviderProcess | None = None
        self.types: Mapping[str, BlockSchema] = {}

    async def start(self) -> None:
        """Start and configure it. Raises `errors.PluginUnavailable`, `Broken`."""
        self._process = await ProviderProcess.start(self._executable, self._environment)
        schema = await self._call("GetSchema", message("Empty"), "GetSchemaResponse", 120)
        if not self.types:
            self.types = {entry.key: read_block(entry.value.block) for entry in schema.resources}
        shape = read_block(schema.provider.block)
        values = {name: _SETTINGS.get(name) for name in shape.attributes} | {name: [] for name in shape.blocks}
        request = message("ConfigureRequest", terraform_version="1.11.0", config=packed(values))
        found = errors_of(await self._call("Configure", request, "Diagnosed", 60))
        if found:
            raise PluginUnavailable.because(f"Its configuration failed: {found[0].message}")

    async def close(self) -> None:
        """End it. Safe to call twice."""
        if self._process is not None:
            await self._process.close()

    async def restart(self) -> None:
        """End it and start it again, as after a crash."""
        await self.close()
        await self.start()

    async def is_alive(self, seconds: float = 0.0) -> bool:
        """Whether it runs, `seconds` later: the end of a process is seen a moment after it."""
        assert self._process is not None
        for _ in range(int(seconds / 0.02)):
            if not self._process.running:
                return False
            await asyncio.sleep(0.02)
        return self._process.running

    def is_busy(self) -> bool:
        """Whether a thread of it runs or waits for a processor. Only Linux tells; elsewhere it never seems busy."""
        assert self._process is not None
        tasks = Path(f"/proc/{self._process.process.pid}/task")
        try:
            states = [(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks.iterdir()]
        except OSError:  # a thread that ends meanwhile, or no such files
            return False
        return "R" in states

    async def validate(self, kind: str, config: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
        """What is wrong with a configuration. Raises `Broken`."""
        request = message("ValidateRequest", type_name=kind, config=packed(config))
        return errors_of(await self._call("ValidateResourceTypeConfig", request, "Diagnosed", _PLAN_SECONDS))

    async def plan(
        self, kind: str, *, prior: Any, proposed: Any, config: Mapping[str, Any] | None, private: bytes = b""
    ) -> Plan:
        """Plan the way from one state to another; `proposed` is None for a delete. Raises `Broken`."""
        request = message(
            "PlanRequest",
            type_name=kind,
            prior_state=packed(prior),
            proposed_new_state=packed(proposed),
            config=packed(config),
            prior_private=private,
        )
        answer = await self._call("PlanResourceChange", request, "PlanResponse", _PLAN_SECONDS)
        replaced_by = frozenset(path.steps[0].attribute_name for path in answer.requires_replace if path.steps)
        return Plan(
            state=answer.planned_state,
            private=answer.planned_private,
            replaced_by=replaced_by,
            errors=errors_of(answer),
        )

    def apply(
        self, kind: str, *, prior: Any, planned: Any, config: Mapping[str, Any] | None, private: bytes, seconds: float
    ) -> Any:
        """A call that applies a plan and can be cancelled: await `answer_of` it."""
        request = message(
            "ApplyRequest",
            type_name=kind,
            prior_state=packed(prior),
            planned_state=planned,
            config=packed(config),
            planned_private=private,
        )
        return self._begin("ApplyResourceChange", request, "ApplyResponse", seconds)

    def _begin(self, method: str, request: Any, response: str, seconds: float) -> Any:
        assert self._process is not None
        unary = self._process.channel.unary_unary(
            f"/tfplugin5.Provider/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=_classes()[response].FromString,
        )
        return unary(request, timeout=seconds)

    async def _call(self, method: str, request: Any, response: str, seconds: float) -> Any:
        try:
            return await self._begin(method, request, response, seconds)
        except grpc.aio.AioRpcError as error:
            raise Broken(f"{method}: {error.code().name} {(error.details() or '')[:200]}") from error


async def answer_of(call: Any) -> Applied:
    """What the provider says at the end of an apply. Raises `Broken`."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as error:
        raise Broken(f"apply: {error.code().name} {(error.details() or '')[:200]}") from error
    try:
        state = unpacked(answer.new_state)
    except ValueError:  # a text that is no UTF-8: the provider took the stub's answer for base64
        state = None
    return Applied(state=state, private=answer.private, errors=errors_of(answer))


@cache
def _classes() -> Mapping[str, Any]:
    return classes_of("sentinel_tracing_tfplugin5", _MESSAGES)


def message(name: str, /, **fields: Any) -> Any:
    """A message of the protocol."""
    return _classes()[name](**fields)


def packed(value: Any) -> Any:
    """A value as the protocol sends it."""
    return message("DynamicValue", msgpack=msgspec.msgpack.encode(value))


def unpacked(value: Any) -> Any:
    """The value that the protocol sent; unknown parts are of type `UNKNOWN`."""
    if value.msgpack:
        return msgspec.msgpack.decode(value.msgpack)
    return json.loads(value.json) if value.json else None


def errors_of(answer: Any) -> tuple[Diagnostic, ...]:
    """The errors in an answer, in order."""
    return tuple(_errors(answer))


def _errors(answer: Any) -> Iterator[Diagnostic]:
    for entry in answer.diagnostics:
        if entry.severity == _ERROR:
            path = tuple(step.attribute_name for step in entry.attribute.steps if step.attribute_name)
            yield Diagnostic(path=path, message=f"{entry.summary}: {entry.detail}".strip(": "))
