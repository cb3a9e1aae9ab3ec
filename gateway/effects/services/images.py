"""The operations of EC2 on images: what makes one, what changes its description, and who may launch it."""

from collections.abc import Mapping
from dataclasses import replace

from gateway.core.model.json import to_json
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext
from gateway.effects.interpreter import interpret
from gateway.effects.limits import refuse_long_list
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation, controls
from gateway.effects.tags import specified_tags
from gateway.effects.values import NotUnderstood

_IMAGE, _COPY, _OF_INSTANCE = "aws_ami", "aws_ami_copy", "aws_ami_from_instance"
_PERMISSION, _INSTANCE = "aws_ami_launch_permission", "aws_instance"
_CONTROLS = controls("ClientToken", "DryRun")
_WHO = {
    "Group": "group", "OrganizationArn": "organization_arn", "OrganizationalUnitArn": "organizational_unit_arn",
    "UserId": "account_id",
}  # fmt: skip
_NEW = Operation(
    resource_type=_OF_INSTANCE,
    identity={"Name": "name"},
    action=CREATE,
    attributes={
        "InstanceId": "source_instance_id",
        "NoReboot": "snapshot_without_reboot",
        "TagSpecifications": specified_tags("image"),
    },
    controls=_CONTROLS,
)


def _of_instance(context: CallContext) -> tuple[Effect, ...]:
    """CreateImage. AWS shuts the instance down and starts it again meanwhile, unless the call says `NoReboot`."""
    made = interpret(_NEW, context)
    if context.call.parameters.get("NoReboot") is True:
        return made
    instance = context.target(_INSTANCE, {"id": context.text("InstanceId")})
    return (*made, replace(instance.whole(INVOKE), implied=True))


def _modify(context: CallContext) -> tuple[Effect, ...]:
    """ModifyImageAttribute: the description, or who may launch the image; each permission is a resource of its own."""
    context.allow_only("ImageId", "Attribute", "Description", "LaunchPermission", "DryRun")
    image = context.text("ImageId")
    description, permission = (context.call.parameters.get(name) for name in ("Description", "LaunchPermission"))
    if (description is None) == (permission is None):
        raise NotUnderstood("not one attribute to change")
    attribute = "description" if permission is None else "launchPermission"
    if context.call.parameters.get("Attribute") not in (None, attribute):
        raise NotUnderstood(f"another attribute than {attribute}")
    if permission is not None:
        return _permissions(context, image, permission)
    if not isinstance(description, Mapping) or description.keys() != {"Value"}:
        raise NotUnderstood("a description in an unknown form")
    return (context.target(_IMAGE, {"id": image}).put("description", to_json(description["Value"]), action=SET),)


def _permissions(context: CallContext, image: str, permission: object) -> tuple[Effect, ...]:
    if not isinstance(permission, Mapping) or not permission or permission.keys() - {"Add", "Remove"}:
        raise NotUnderstood("a launch permission in an unknown form")
    effects: list[Effect] = []
    for change, entries in permission.items():
        if not isinstance(entries, (list, tuple)):
            raise NotUnderstood("launch permissions that are not a list")
        refuse_long_list(entries)
        for entry in entries:
            if not isinstance(entry, Mapping) or len(entry) != 1 or not entry.keys() <= _WHO.keys():
                raise NotUnderstood("a launch permission for more than one, or for nobody")
            [(kind, who)] = entry.items()
            target = context.target(_PERMISSION, {"image_id": image, _WHO[kind]: str(who)})
            if change == "Remove":
                effects.append(target.whole(DELETE))
            else:
                effects += (
                    target.whole(CREATE),
                    *target.put_all({"image_id": image, _WHO[kind]: str(who)}, action=CREATE),
                )
    if not effects:
        raise NotUnderstood("no launch permission")
    return tuple(effects)


OPERATIONS: Mapping[str, Operation] = {
    "CopyImage": Operation(
        resource_type=_COPY,
        identity={"Name": "name"},
        action=CREATE,
        attributes={
            "SourceImageId": "source_ami_id",
            "SourceRegion": "source_ami_region",
            "TagSpecifications": specified_tags("image"),
        },
        controls=_CONTROLS,
    ),
    "CreateImage": Operation(
        resource_type=_OF_INSTANCE, identity=_NEW.identity, handler=_of_instance, other_types=(_INSTANCE,)
    ),
    "ModifyImageAttribute": Operation(
        resource_type=_IMAGE,
        identity={"ImageId": "id"},
        handler=_modify,
        other_types=(_PERMISSION, _COPY, _OF_INSTANCE),
    ),
}
"""Operation name → row."""
