"""The resource types whose calls make AWS carry out others that are not unpacked (`effects.proxies.carriers.HELD`).

In a plan such a resource is reviewed code, or is held: what it makes AWS do cannot be judged. A test compares the table with the derived rows.
"""

from collections.abc import Mapping
from typing import Final

Name = tuple[str, str]
"""botocore's service and operation."""

HELD_TYPES: Final[Mapping[str, Name]] = {
    "aws_api_gateway_rest_api_put": ("apigateway", "PutRestApi"),
    "aws_appconfig_extension": ("appconfig", "CreateExtension"),
    "aws_appflow_flow": ("appflow", "CreateFlow"),
    "aws_appsync_datasource": ("appsync", "CreateDataSource"),
    "aws_budgets_budget_action": ("budgets", "CreateBudgetAction"),
    "aws_cloudformation_stack_instances": ("cloudformation", "CreateStackInstances"),
    "aws_cloudformation_stack_set": ("cloudformation", "CreateStackSet"),
    "aws_cloudformation_stack_set_instance": ("cloudformation", "CreateStackInstances"),
    "aws_cloudformation_type": ("cloudformation", "RegisterType"),
    "aws_codepipeline": ("codepipeline", "CreatePipeline"),
    "aws_config_conformance_pack": ("config", "PutConformancePack"),
    "aws_config_organization_conformance_pack": ("config", "PutOrganizationConformancePack"),
    "aws_config_remediation_configuration": ("config", "PutRemediationConfigurations"),
    "aws_controltower_control": ("controltower", "EnableControl"),
    "aws_controltower_landing_zone": ("controltower", "CreateLandingZone"),
    "aws_datapipeline_pipeline_definition": ("datapipeline", "PutPipelineDefinition"),
    "aws_dlm_lifecycle_policy": ("dlm", "CreateLifecyclePolicy"),
    "aws_elastic_beanstalk_environment": ("elasticbeanstalk", "CreateEnvironment"),
    "aws_fis_experiment_template": ("fis", "CreateExperimentTemplate"),
    "aws_iot_topic_rule": ("iot", "CreateTopicRule"),
    "aws_pipes_pipe": ("pipes", "CreatePipe"),
    "aws_redshift_scheduled_action": ("redshift", "CreateScheduledAction"),
    "aws_sagemaker_pipeline": ("sagemaker", "CreatePipeline"),
    "aws_sagemaker_project": ("sagemaker", "CreateProject"),
    "aws_serverlessapplicationrepository_cloudformation_stack": ("serverlessrepo", "CreateCloudFormationChangeSet"),
    "aws_servicecatalog_provisioned_product": ("servicecatalog", "ProvisionProduct"),
    "aws_ses_receipt_rule": ("ses", "CreateReceiptRule"),
    "aws_ssm_association": ("ssm", "CreateAssociation"),
    "aws_ssm_maintenance_window_task": ("ssm", "RegisterTaskWithMaintenanceWindow"),
    "aws_ssmincidents_response_plan": ("ssm-incidents", "CreateResponsePlan"),
    "aws_ssmquicksetup_configuration_manager": ("ssm-quicksetup", "CreateConfigurationManager"),
    "aws_transfer_workflow": ("transfer", "CreateWorkflow"),
}
"""Resource type → the operation that makes one."""
HELD_BODIES: Final[Mapping[str, tuple[str, Name]]] = {
    "aws_api_gateway_rest_api": ("body", ("apigateway", "PutRestApi")),
    "aws_apigatewayv2_api": ("body", ("apigatewayv2", "ReimportApi")),
}
"""Resource type → the attribute with a document that may have integrations, and the operation that takes it."""
HELD_DELETIONS: Final[Mapping[str, Name]] = {
    "aws_cloudformation_stack_instances": ("cloudformation", "DeleteStackInstances"),
    "aws_cloudformation_stack_set_instance": ("cloudformation", "DeleteStackInstances"),
    "aws_elastic_beanstalk_environment": ("elasticbeanstalk", "TerminateEnvironment"),
    "aws_serverlessapplicationrepository_cloudformation_stack": ("cloudformation", "DeleteStack"),
    "aws_servicecatalog_provisioned_product": ("servicecatalog", "TerminateProvisionedProduct"),
}
"""Resource type → the operation that deletes one, and with it what only AWS knows."""
