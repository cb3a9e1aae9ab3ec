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
        "Step": {"attribute": (1, "string"), "key": (2, "string"), "index": (3, "int64")},
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
            "sensitive": (7, "bool"),
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
        "GetSchemaResponse": {"provider": (1, "Schema"), "diagnostics": (4, "*Diagnostic")},
        "TypeSchema": {"key": (1, "string"), "value": (2, "Schema")},
        "TypeSchemasResponse": {"resources": (2, "*TypeSchema"), "diagnostics": (4, "*Diagnostic")},
        "IdentityAttribute": {"name": (1, "string"), "required_for_import": (3, "bool")},
        "IdentitySchema": {"attributes": (2, "*IdentityAttribute")},
        "TypeIdentity": {"key": (1, "string"), "value": (2, "IdentitySchema")},
        "IdentitySchemasResponse": {"identities": (1, "*TypeIdentity"), "diagnostics": (2, "*Diagnostic")},
        "IdentityData": {"data": (1, "DynamicValue")},
        "ImportRequest": {"type_name": (1, "string"), "id": (2, "string"), "identity": (4, "IdentityData")},
        "Imported": {"type_name": (1, "string"), "state": (2, "DynamicValue"), "private": (3, "bytes")},
        "ImportResponse": {"imported": (1, "*Imported"), "diagnostics": (2, "*Diagnostic")},
        "ValidateRequest": {"type_name": (1, "string"), "config": (2, "DynamicValue")},
        "ValidateResponse": {"diagnostics": (1, "*Diagnostic")},
        "PlanRequest": {
            "type_name": (1, "string"),
            "prior_state": (2, "DynamicValue"),
            "proposed_new_state": (3, "DynamicValue"),
            "config": (4, "DynamicValue"),
            "prior_private": (5, "bytes"),
        },
        "PlanResponse": {"planned_state": (1, "DynamicValue"), "diagnostics": (4, "*Diagnostic")},
        "ConfigureRequest": {"terraform_version": (1, "string"), "config": (2, "DynamicValue")},
        "ConfigureResponse": {"diagnostics": (1, "*Diagnostic")},
        "RawState": {"json": (1, "bytes")},
        "UpgradeRequest": {"type_name": (1, "string"), "version": (2, "int64"), "raw_state": (3, "RawState")},
        "UpgradeResponse": {"upgraded_state": (1, "DynamicValue"), "diagnostics": (2, "*Diagnostic")},
        "ReadRequest": {"type_name": (1, "string"), "current_state": (2, "DynamicValue"), "private": (3, "bytes")},
        "ReadResponse": {"new_state": (1, "DynamicValue"), "diagnostics": (2, "*Diagnostic"), "private": (3, "bytes")},
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
