"""The messages of the plug-in protocol that a read needs, with the field numbers of its version 5.

Source: "tfplugin5.proto" in Terraform's documentation of the plug-in protocol. Fields that we neither send nor read are not described here;
protobuf passes over them.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

_PACKAGE: Final = "sentinel_tfplugin5"
_MESSAGES: Final[Mapping[str, Mapping[str, tuple[int, str]]]] = MappingProxyType(
    {
        "DynamicValue": {"msgpack": (1, "bytes"), "json": (2, "bytes")},
        "Diagnostic": {"severity": (1, "int32"), "summary": (2, "string"), "detail": (3, "string")},
        "Empty": {},
        "Attribute": {"name": (1, "string"), "type": (2, "bytes")},
        "NestedBlock": {"type_name": (1, "string"), "block": (2, "Block"), "nesting": (3, "int32")},
        "Block": {"attributes": (2, "*Attribute"), "block_types": (3, "*NestedBlock")},
        "Schema": {"version": (1, "int64"), "block": (2, "Block")},
        "GetSchemaResponse": {"provider": (1, "Schema"), "diagnostics": (4, "*Diagnostic")},
        "ConfigureRequest": {"terraform_version": (1, "string"), "config": (2, "DynamicValue")},
        "ConfigureResponse": {"diagnostics": (1, "*Diagnostic")},
        "RawState": {"json": (1, "bytes")},
        "UpgradeRequest": {"type_name": (1, "string"), "version": (2, "int64"), "raw_state": (3, "RawState")},
        "UpgradeResponse": {"upgraded_state": (1, "DynamicValue"), "diagnostics": (2, "*Diagnostic")},
        "ReadRequest": {"type_name": (1, "string"), "current_state": (2, "DynamicValue"), "private": (3, "bytes")},
        "ReadResponse": {"new_state": (1, "DynamicValue"), "diagnostics": (2, "*Diagnostic")},
    }
)
"""Message → field → (number, type); `*` marks a repeated field."""


def message(name: str, /, **fields: Any) -> Any:
    """A message of this name with these fields. Raises `KeyError` for a name that is not described above."""
    return _classes()[name](**fields)


def message_class(name: str) -> Any:
    """The class of a message."""
    return _classes()[name]


@cache
def _classes() -> Mapping[str, Any]:
    return classes_of(_PACKAGE, _MESSAGES)


def classes_of(package: str, messages: Mapping[str, Mapping[str, tuple[int, str]]]) -> Mapping[str, Any]:
    """The classes of messages that are described as message → field → (number, type); `*` marks a repeated field."""
    # This takes long to import, so it is done where a provider is about to start anyway.
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: PLC0415

    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file(descriptor_pb2, package, messages))
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages}


def _file(descriptor: Any, package: str, messages: Mapping[str, Mapping[str, tuple[int, str]]]) -> Any:
    """The description of the messages. The classes of `descriptor` are made when it is imported, so types do not know them."""
    of_field = descriptor.FieldDescriptorProto
    scalars = {
        name: getattr(of_field, f"TYPE_{name.upper()}") for name in ("string", "bytes", "int32", "int64", "bool")
    }
    file = descriptor.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for name, fields in messages.items():
        described = file.message_type.add(name=name)
        for field, (number, written) in fields.items():
            kind = written.lstrip("*")
            label = of_field.LABEL_REPEATED if written.startswith("*") else of_field.LABEL_OPTIONAL
            added = described.field.add(name=field, number=number, label=label)
            added.type = scalars.get(kind, of_field.TYPE_MESSAGE)
            if kind not in scalars:
                added.type_name = f".{package}.{kind}"
    return file
