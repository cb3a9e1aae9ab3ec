"""What RDS's operations do. Passwords are secret: effects carry their hash only."""

from collections.abc import Mapping

from gateway.effects.identity import arn_of
from gateway.effects.operation import Operation, Translate, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.model.mutation import EffectAction

_INSTANCE = "aws_db_instance"
_CLUSTER = "aws_rds_cluster"
_SUBNETS = "aws_db_subnet_group"
_CREATE, _DELETE = EffectAction.CREATE, EffectAction.DELETE
_NAME = {"DBInstanceIdentifier": "identifier"}
_CLUSTER_NAME = {"DBClusterIdentifier": "cluster_identifier"}
_SUBNETS_NAME = {"DBSubnetGroupName": "name"}
_BY_ARN = {"ResourceName": arn_of("db", "identifier")}

_ATTRIBUTES: Mapping[str, str | Translate] = {
    "CACertificateIdentifier": "ca_cert_identifier",
    "DBInstanceClass": "instance_class",
    "DBName": "db_name",
    "DBParameterGroupName": "parameter_group_name",
    "DBPortNumber": "port",
    "EnableCloudwatchLogsExports": "enabled_cloudwatch_logs_exports",
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
    "EnableCloudwatchLogsExports": "enabled_cloudwatch_logs_exports",
    "EnableIAMDatabaseAuthentication": "iam_database_authentication_enabled",
    "MasterUserPassword": "master_password",
    "MasterUsername": "master_username",
    "ServerlessV2ScalingConfiguration.MaxCapacity": "serverlessv2_scaling_configuration.max_capacity",
    "ServerlessV2ScalingConfiguration.MinCapacity": "serverlessv2_scaling_configuration.min_capacity",
    "Tags": set_tags,
}

OPERATIONS: Mapping[str, Operation] = {
    "CreateDBInstance": Operation(
        resource_type=_INSTANCE,
        identity=_NAME,
        action=_CREATE,
        attributes=_ATTRIBUTES,
        secrets=frozenset({"password"}),
    ),
    "ModifyDBInstance": Operation(
        resource_type=_INSTANCE,
        identity=_NAME,
        attributes=_ATTRIBUTES,
        controls=controls("ApplyImmediately"),
        secrets=frozenset({"password"}),
    ),
    "DeleteDBInstance": Operation(resource_type=_INSTANCE, identity=_NAME, action=_DELETE),
    "RebootDBInstance": Operation(resource_type=_INSTANCE, identity=_NAME, action=EffectAction.INVOKE),
    "StartDBInstance": Operation(resource_type=_INSTANCE, identity=_NAME, action=EffectAction.INVOKE),
    "StopDBInstance": Operation(resource_type=_INSTANCE, identity=_NAME, action=EffectAction.INVOKE),
    "AddTagsToResource": Operation(resource_type=_INSTANCE, identity=_BY_ARN, attributes={"Tags": set_tags}),
    "RemoveTagsFromResource": Operation(resource_type=_INSTANCE, identity=_BY_ARN, attributes={"TagKeys": drop_tags}),
    "ModifyDBCluster": Operation(
        resource_type=_CLUSTER,
        identity=_CLUSTER_NAME,
        attributes=_CLUSTER_ATTRIBUTES,
        controls=controls("ApplyImmediately"),
        secrets=frozenset({"master_password"}),
    ),
    "DeleteDBCluster": Operation(resource_type=_CLUSTER, identity=_CLUSTER_NAME, action=_DELETE),
    "CreateDBSubnetGroup": Operation(
        resource_type=_SUBNETS,
        identity=_SUBNETS_NAME,
        action=_CREATE,
        attributes={"DBSubnetGroupDescription": "description", "Tags": set_tags},
    ),
    "ModifyDBSubnetGroup": Operation(
        resource_type=_SUBNETS, identity=_SUBNETS_NAME, attributes={"DBSubnetGroupDescription": "description"}
    ),
    "DeleteDBSubnetGroup": Operation(resource_type=_SUBNETS, identity=_SUBNETS_NAME, action=_DELETE),
}
