"""The messages of the plug-in protocol that a read needs, with the field numbers of its version 5.

Source: "tfplugin5.proto" in Terraform's documentation of the plug-in protocol. Fields that we neither send nor read are not described here;
protobuf passes over them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from google.protobuf import descriptor_pb2 as descriptor
from google.protobuf import descriptor_pool, message_factory

_PACKAGE: Final = "sentinel_tfplugin5"
_DESCRIPTOR: Final[Any] = descriptor
"""Its classes are made when it is imported, so types do not know them."""
_FIELD: Final = _DESCRIPTOR.FieldDescriptorProto
_SCALARS: Final = MappingProxyType(
    {
        "string": _FIELD.TYPE_STRING,
        "bytes": _FIELD.TYPE_BYTES,
        "int32": _FIELD.TYPE_INT32,
        "int64": _FIELD.TYPE_INT64,
    }
)

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
    return _CLASSES[name](**fields)


def message_class(name: str) -> Any:
    """The class of a message."""
    return _CLASSES[name]


def _classes() -> Mapping[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


def _file() -> Any:
    file = _DESCRIPTOR.FileDescriptorProto(name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        described = file.message_type.add(name=name)
        for field, (number, written) in fields.items():
            kind = written.lstrip("*")
            label = _FIELD.LABEL_REPEATED if written.startswith("*") else _FIELD.LABEL_OPTIONAL
            added = described.field.add(name=field, number=number, label=label)
            added.type = _SCALARS.get(kind, _FIELD.TYPE_MESSAGE)
            if kind not in _SCALARS:
                added.type_name = f".{_PACKAGE}.{kind}"
    return file


_CLASSES: Final = _classes()
