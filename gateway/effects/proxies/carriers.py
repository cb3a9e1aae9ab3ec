"""The operations whose calls carry others: how each is unpacked, or why it is held.

A row does not explain such a call, however certain it is: what matters is what AWS will do because of it.
"""

from collections.abc import Mapping

from gateway.effects.proxies import cloud_control, templates
from gateway.effects.proxies.alarms import ALARMS, TRIGGERS
from gateway.effects.proxies.automation import STARTED, WRITTEN
from gateway.effects.proxies.carried import Carrier
from gateway.effects.proxies.integrations import INTEGRATION, SECOND_VERSION
from gateway.effects.proxies.schedules import RULE, SCHEDULE
from gateway.effects.proxies.state_machines import STATE_MACHINE
from gateway.effects.proxies.tagging import TAGS

CARRIERS: Mapping[tuple[str, str], Carrier] = {
    **ALARMS,
    **TRIGGERS,
    ("apigateway", "PutIntegration"): INTEGRATION,
    ("apigatewayv2", "CreateIntegration"): SECOND_VERSION,
    ("apigatewayv2", "UpdateIntegration"): SECOND_VERSION,
    ("cloudcontrol", "CreateResource"): cloud_control.CREATED,
    ("cloudcontrol", "DeleteResource"): cloud_control.DELETED,
    ("cloudcontrol", "UpdateResource"): cloud_control.CHANGED,
    ("cloudformation", "CreateChangeSet"): templates.CHANGE_SET,
    ("cloudformation", "CreateStack"): templates.CREATED,
    ("cloudformation", "DeleteStack"): templates.DELETED,
    ("cloudformation", "UpdateStack"): templates.UPDATED,
    ("events", "PutTargets"): RULE,
    ("resourcegroupstaggingapi", "TagResources"): TAGS,
    ("resourcegroupstaggingapi", "UntagResources"): TAGS,
    ("scheduler", "CreateSchedule"): SCHEDULE,
    ("scheduler", "UpdateSchedule"): SCHEDULE,
    ("ssm", "CreateDocument"): WRITTEN,
    ("ssm", "StartAutomationExecution"): STARTED,
    ("ssm", "UpdateDocument"): WRITTEN,
    ("stepfunctions", "CreateStateMachine"): STATE_MACHINE,
    ("stepfunctions", "UpdateStateMachine"): STATE_MACHINE,
}
"""botocore's service and operation → how its calls are unpacked."""

_STACK_SET = "a stack set makes CloudFormation act in several accounts or regions"
_PRODUCT = "the template of a product is in Service Catalog, and the call does not have it"
_ELSEWHERE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("appconfig", "the actions of an extension are not unpacked", ("CreateExtension", "UpdateExtension")),
    ("arc-region-switch", "the steps of a plan are not unpacked", ("CreatePlan", "StartPlanExecution", "UpdatePlan")),
    ("appflow", "a flow copies data between services", ("CreateFlow", "UpdateFlow")),
    ("budgets", "an action of a budget applies policies or stops instances",
        ("CreateBudgetAction", "ExecuteBudgetAction", "UpdateBudgetAction"),
    ),
    ("cloudformation", "what CloudFormation will do is not in the call",
        (
            "ActivateType", "ContinueUpdateRollback", "CreateStackInstances", "CreateStackRefactor", "CreateStackSet",
            "DeleteStackInstances", "ExecuteChangeSet", "ExecuteStackRefactor", "ImportStacksToStackSet", "RegisterType",
            "RollbackStack", "SetTypeConfiguration", "UpdateStackInstances", "UpdateStackSet",
        ),
    ),
    ("codepipeline", "the actions of a pipeline are not unpacked", ("CreatePipeline", "UpdatePipeline")),
    ("config", "a remediation or a pack runs documents and templates",
        (
            "PutConformancePack", "PutOrganizationConformancePack", "PutRemediationConfigurations", "StartRemediationExecution",
        ),
    ),
    ("datapipeline", "the activities of a pipeline are not unpacked", ("ActivatePipeline", "PutPipelineDefinition")),
    ("dlm", "a lifecycle policy makes and deletes snapshots", ("CreateLifecyclePolicy", "UpdateLifecyclePolicy")),
    ("elasticbeanstalk", "an environment is a stack that the call does not show",
        ("CreateEnvironment", "RebuildEnvironment", "TerminateEnvironment", "UpdateEnvironment"),
    ),
    ("fis", "an experiment acts on resources by its template",
        ("CreateExperimentTemplate", "StartExperiment", "UpdateExperimentTemplate"),
    ),
    ("iot", "the actions of a rule are not unpacked", ("CreateTopicRule", "ReplaceTopicRule")),
    ("launch-wizard", "a deployment is a stack that the call does not show", ("CreateDeployment", "DeleteDeployment")),
    ("mwaa-serverless", "the tasks of a workflow are not unpacked", ("CreateWorkflow", "UpdateWorkflow")),
    ("apigateway", "the integrations in it are not unpacked", ("ImportRestApi", "PutRestApi", "UpdateIntegration")),
    ("apigatewayv2", "the integrations in it are not unpacked", ("ImportApi", "ReimportApi")),
    ("appsync", "a data source calls services of AWS", ("CreateDataSource", "UpdateDataSource")),
    ("bedrock-agent", "the steps of a flow are not unpacked", ("CreateFlow", "UpdateFlow")),
    ("eventbridgev2", "the target of a subscriber is not unpacked", ("CreateSubscriber", "UpdateSubscriber")),
    ("sagemaker", "the template is elsewhere, and the call does not have it", ("CreateProject", "UpdateProject")),
    ("sagemaker", "the steps of a pipeline are not unpacked", ("CreatePipeline", "UpdatePipeline")),
    ("redshift", "the action of a schedule is not unpacked", ("CreateScheduledAction", "ModifyScheduledAction")),
    ("redshift-serverless", "the action of a schedule is not unpacked", ("CreateScheduledAction", "UpdateScheduledAction")),
    ("customer-profiles", "a flow copies data between services", ("CreateIntegrationWorkflow", "PutIntegration")),
    ("iot", "a mitigation acts on things with the rights of a role",
        ("CreateMitigationAction", "UpdateMitigationAction", "StartAuditMitigationActionsTask"),
    ),
    ("mgn", "an action runs a document", ("PutSourceServerAction", "PutTemplateAction")),
    ("drs", "an action runs a document, or a stack is made", ("PutLaunchAction",)),
    ("controltower", "a baseline or a control is a stack set that the call does not show",
        ("CreateLandingZone", "EnableBaseline", "EnableControl", "ResetEnabledBaseline", "ResetLandingZone", "UpdateEnabledBaseline",
         "UpdateLandingZone"),
    ),
    ("migrationhuborchestrator", "the steps of a workflow are not unpacked",
        ("CreateTemplate", "CreateWorkflow", "CreateWorkflowStep", "StartWorkflow", "UpdateWorkflowStep"),
    ),
    ("s3control", "a batch job acts on every object of a list", ("CreateJob",)),
    ("ses", "the actions of a receipt rule are not unpacked", ("CreateReceiptRule", "UpdateReceiptRule")),
    ("transfer", "the steps of a workflow are not unpacked", ("CreateWorkflow",)),
    ("pipes", "the target of a pipe is not unpacked", ("CreatePipe", "UpdatePipe")),
    ("proton", "the template is in Proton, and the call does not have it",
        ("CreateEnvironment", "CreateService", "UpdateEnvironment", "UpdateService", "UpdateServiceInstance"),
    ),
    ("serverlessrepo", "the template is in the repository, and the call does not have it",
        ("CreateCloudFormationChangeSet", "CreateCloudFormationTemplate"),
    ),
    ("servicecatalog", _PRODUCT,
        (
            "CreateProvisionedProductPlan", "ExecuteProvisionedProductPlan", "ExecuteProvisionedProductServiceAction",
            "ImportAsProvisionedProduct", "ProvisionProduct", "TerminateProvisionedProduct", "UpdateProvisionedProduct",
        ),
    ),
    ("ssm", "a document decides what is done, and the call does not have it",
        (
            "CreateAssociation", "RegisterTaskWithMaintenanceWindow", "StartAssociationsOnce", "StartChangeRequestExecution",
            "UpdateAssociation", "UpdateDocumentDefaultVersion", "UpdateMaintenanceWindowTask",
        ),
    ),
    ("ssm-incidents", "a response plan runs a document", ("CreateResponsePlan", "UpdateResponsePlan")),
    ("ssm-quicksetup", "a configuration is made by stacks", ("CreateConfigurationManager", "UpdateConfigurationDefinition")),
    ("stepfunctions", "the state that is tried makes its call at once", ("TestState",)),
    ("ssm", "a command runs a program on instances with the rights of their role", ("SendCommand",)),
)  # fmt: skip

HELD: Mapping[tuple[str, str], str] = {
    (service, name): _STACK_SET if "StackSet" in name or "StackInstances" in name else reason
    for service, reason, names in _ELSEWHERE
    for name in names
}
"""botocore's service and operation → why its calls are held."""
