"""The operations of RDS. Passwords are secret: an effect carries only their hash."""

from collections.abc import Mapping
from functools import partial

from gateway.core.model.json import Json
from gateway.effects.call_context import Target
from gateway.effects.naming import arn_of, plain
from gateway.effects.operation import (
    CREATE,
    DELETE,
    INVOKE,
    Argument,
    Operation,
    Translate,
    any_value,
    as_recorded,
    controls,
)
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.translators import joined, recorded_list, without
from gateway.effects.values import NotUnderstood

_INSTANCE = "aws_db_instance"
_CLUSTER = "aws_rds_cluster"
_SUBNETS = "aws_db_subnet_group"
_NAME = {"DBInstanceIdentifier": plain("identifier", lower=True)}
_on_instance = partial(Operation, resource_type=_INSTANCE, identity=_NAME)
_CLUSTER_NAME = {"DBClusterIdentifier": plain("cluster_identifier", lower=True)}
_on_cluster = partial(Operation, resource_type=_CLUSTER, identity=_CLUSTER_NAME)
_on_subnets = partial(Operation, resource_type=_SUBNETS, identity={"DBSubnetGroupName": plain("name", lower=True)})
_BY_ARN = {"ResourceName": arn_of("db", "identifier")}


def _log_exports(target: Target, value: object) -> Mapping[str, Json]:
    """The recorded log exports with those of the call enabled and disabled."""
    if not isinstance(value, Mapping) or set(value) - {"EnableLogTypes", "DisableLogTypes"}:
        raise NotUnderstood("log exports in an unknown form")
    kept = without(recorded_list(target, _EXPORTS), value.get("DisableLogTypes") or [])
    return {_EXPORTS: joined(kept, value.get("EnableLogTypes") or [])}


_EXPORTS = "enabled_cloudwatch_logs_exports"
_ATTRIBUTES: Mapping[str, str | Translate] = {
    "CloudwatchLogsExportConfiguration": _log_exports,
    "CACertificateIdentifier": "ca_cert_identifier",
    "DBInstanceClass": "instance_class",
    "DBName": "db_name",
    "DBParameterGroupName": "parameter_group_name",
    "DBPortNumber": "port",
    "EnableCloudwatchLogsExports": _EXPORTS,
    "EnableIAMDatabaseAuthentication": "iam_database_authentication_enabled",
    "EnablePerformanceInsights": "performance_insights_enabled",
    "ManageMasterUserPassword": "manage_master_user_password",
    "MasterUserPassword": "password",
    "MasterUsername": "username",
    "NewDBInstanceIdentifier": "identifier",
    "PerformanceInsightsKMSKeyId": "performance_insights_kms_key_id",
    "PreferredBackupWindow": "backup_window",
    "PreferredMaintenanceWindow": "maintenance_window",
    "Tags": set_tags,
}
_CLUSTER_ATTRIBUTES: Mapping[str, str | Translate] = {
    "CloudwatchLogsExportConfiguration": _log_exports,
    "EnableCloudwatchLogsExports": _EXPORTS,
    "EnableIAMDatabaseAuthentication": "iam_database_authentication_enabled",
    "MasterUserPassword": "master_password",
    "MasterUsername": "master_username",
    "ServerlessV2ScalingConfiguration.MaxCapacity": "serverlessv2_scaling_configuration.max_capacity",
    "ServerlessV2ScalingConfiguration.MinCapacity": "serverlessv2_scaling_configuration.min_capacity",
    "Tags": set_tags,
}

_LAST_SNAPSHOT: Mapping[str, Argument] = {
    "DeleteAutomatedBackups": as_recorded("delete_automated_backups"),
    "FinalDBSnapshotIdentifier": any_value,
    "SkipFinalSnapshot": as_recorded("skip_final_snapshot"),
}


def _invoked(*arguments: str) -> Operation:
    return _on_instance(action=INVOKE, arguments=dict.fromkeys(arguments, any_value))


OPERATIONS: Mapping[str, Operation] = {
    "CreateDBInstance": _on_instance(action=CREATE, attributes=_ATTRIBUTES, secrets=frozenset({"password"})),
    "ModifyDBInstance": _on_instance(
        attributes=_ATTRIBUTES, controls=controls("ApplyImmediately"), secrets=frozenset({"password"})
    ),
    "DeleteDBInstance": _on_instance(action=DELETE, arguments=_LAST_SNAPSHOT),
    "RebootDBInstance": _invoked("ForceFailover"),
    "StartDBInstance": _invoked(),
    "StopDBInstance": _invoked("DBSnapshotIdentifier"),
    **tag_rows(_INSTANCE, _BY_ARN, tag="AddTagsToResource", untag="RemoveTagsFromResource"),
    "ModifyDBCluster": _on_cluster(
        attributes=_CLUSTER_ATTRIBUTES, controls=controls("ApplyImmediately"), secrets=frozenset({"master_password"})
    ),
    "DeleteDBCluster": _on_cluster(action=DELETE, arguments=_LAST_SNAPSHOT),
    "CreateDBSubnetGroup": _on_subnets(
        action=CREATE, attributes={"DBSubnetGroupDescription": "description", "Tags": set_tags}
    ),
    "ModifyDBSubnetGroup": _on_subnets(
        attributes={"DBSubnetGroupDescription": "description"}, obliged=frozenset({"SubnetIds"})
    ),
    "DeleteDBSubnetGroup": _on_subnets(action=DELETE),
}
