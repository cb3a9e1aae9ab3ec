"""The classes of AWS operations that no rule can derive: short lists, reviewed one by one, that override the derived classes.

Used only by `generate_call_classes`. Names are botocore's; each service has one string of operations. An unknown name fails the generation.
"""

IAM_PREFIX = {
    "applicationcostprofiler": "application-cost-profiler",
    "cloudcontrol": "cloudformation",
    "iot-data": "iot",
    "iotsecuretunneling": "iot",
    "mturk": "mechanicalturk",
    "partnercentral-account": "partnercentral",
    "partnercentral-benefits": "partnercentral",
    "partnercentral-channel": "partnercentral",
    "partnercentral-selling": "partnercentral",
    "resourcegroupstaggingapi": "tag",
}
"""IAM's service prefix, for services where it is neither the signing name nor the endpoint prefix nor the service's own name."""

READ = {
    # IAM's access level is Read or List, but the verb is not a read verb. None of these changes anything that lasts beyond the reply.
    "appsync": "EvaluateCode EvaluateMappingTemplate",
    "backup": "ExportBackupPlanTemplate",
    "cloudformation": "DetectStackDrift DetectStackSetDrift EstimateTemplateCost ValidateTemplate",
    "cloudfront": "VerifyDnsConfiguration",
    "codecommit": "EvaluatePullRequestApprovalRules",
    "cognito-idp": "AdminGetDevice AdminGetUser AdminListDevices AdminListGroupsForUser AdminListUserAuthEvents",
    "comprehend": "BatchDetectDominantLanguage BatchDetectEntities BatchDetectKeyPhrases BatchDetectSentiment BatchDetectSyntax "
    "ContainsPiiEntities DetectDominantLanguage DetectEntities DetectKeyPhrases DetectPiiEntities DetectSentiment DetectSyntax",
    "ecr": "BatchCheckLayerAvailability ValidatePullThroughCacheRule",
    "ecr-public": "BatchCheckLayerAvailability",
    "elasticbeanstalk": "CheckDNSAvailability RetrieveEnvironmentInfo ValidateConfigurationSettings",
    "events": "TestEventPattern",
    "gamelift": "ResolveAlias ValidateMatchmakingRuleSet",
    "iam": "GenerateCredentialReport GenerateOrganizationsAccessReport GenerateServiceLastAccessedDetails SimulateCustomPolicy SimulatePrincipalPolicy",
    "iot": "TestAuthorization ValidateSecurityProfileBehaviors",
    "kendra": "Retrieve",
    "lightsail": "IsVpcPeered",
    "logs": "FilterLogEvents StartLiveTail StartQuery TestMetricFilter TestTransformer",
    "rds": "DownloadDBLogFilePortion DescribeServerlessV2PlatformVersions",
    "rekognition": "CompareFaces DetectFaces DetectLabels DetectModerationLabels DetectProtectiveEquipment DetectText RecognizeCelebrities",
    "route53": "TestDNSAnswer ListResourceRecordSetProtections",
    "route53domains": "CheckDomainAvailability CheckDomainTransferability ViewBilling",
    "schemas": "ExportSchema",
    "sdb": "DomainMetadata",
    "servicediscovery": "DiscoverInstances DiscoverInstancesRevision",
    "sns": "CheckIfPhoneNumberIsOptedOut",
    "stepfunctions": "ValidateStateMachineDefinition",
    "swf": "CountClosedWorkflowExecutions CountOpenWorkflowExecutions CountPendingActivityTasks CountPendingDecisionTasks",
    "textract": "AnalyzeDocument AnalyzeExpense AnalyzeID DetectDocumentText",
    "translate": "TranslateText",
    "wafv2": "CheckCapacity",
    # IAM has no action with the operation's name (s3:GetObject also allows HeadObject, API Gateway's actions are HTTP verbs …).
    "accessanalyzer": "GetFindingV2 ListFindingsV2",
    "apigateway": "GetAccount GetAuthorizer GetAuthorizers GetBasePathMapping GetBasePathMappings GetClientCertificate GetClientCertificates "
    "GetDeployment GetDeployments GetDocumentationPart GetDocumentationParts GetDocumentationVersion GetDocumentationVersions GetDomainName "
    "GetDomainNameAccessAssociations GetDomainNames GetExport GetGatewayResponse GetGatewayResponses GetIntegration GetIntegrationResponse "
    "GetMethod GetMethodResponse GetModel GetModelTemplate GetModels GetRequestValidator GetRequestValidators GetResource GetResources "
    "GetRestApi GetRestApis GetSdk GetSdkType GetSdkTypes GetTags GetUsage GetUsagePlan GetUsagePlans GetVpcLink GetVpcLinks",
    "apigatewayv2": "GetApi GetApiMapping GetApiMappings GetApis GetAuthorizer GetAuthorizers GetDeployment GetDeployments GetDomainName "
    "GetDomainNames GetIntegration GetIntegrationResponse GetIntegrationResponses GetIntegrations GetModel GetModelTemplate GetModels GetRoute "
    "GetRouteResponse GetRouteResponses GetRoutes GetTags GetVpcLink GetVpcLinks",
    "budgets": "DescribeBudget DescribeBudgetNotificationsForAccount DescribeBudgetPerformanceHistory DescribeBudgets "
    "DescribeNotificationsForBudget DescribeSubscribersForNotification",
    "cloudtrail": "ListInsightsMetricData",
    "cloudwatch": "DescribeAlarmContributors",
    "cognito-idp ": "DescribeTermsByClient",
    "dms": "DescribeDataProviders DescribeExtensionPackAssociations DescribeInstanceProfiles DescribeMetadataModelAssessments "
    "DescribeMetadataModelConversions DescribeMetadataModelExportsAsScript DescribeMetadataModelExportsToTarget DescribeMigrationProjects",
    "docdb": "DescribeServerlessV2PlatformVersions",
    "dynamodb": "TransactGetItems DescribeBulkOperation ListBulkOperations",
    "ec2": "DescribeCapacityReservationDateChangeQuotes DescribeMetricCategories DescribeTransitGatewayNetworkFunctionAttachments "
    "GetCapacityManagerSupportabilityScores GetClientVpnEndpointAuthorizationPolicy GetImageFindings GetTransitGatewayAttachmentNatConfiguration "
    "ExportClientVpnClientCertificateRevocationList",
    "ecr ": "ListImageReferrers",
    "glue": "BatchGetDataQualityResult BatchGetDataQualityResultV2 BatchGetDataQualityRulesetEvaluationRun GetAsset GetAssetType "
    "GetDataQualityEvaluationConfig GetDataQualityResultV2 GetFormType GetGlossary GetGlossaryTerm GetMaterializedViewRefreshTaskRun ListAssetTypes "
    "ListDataQualityEvaluationConfigs ListDataQualityResultsV2 ListDataQualityStatisticAnnotations ListDataQualityStatistics ListFormTypes "
    "ListGlossaries ListGlossaryTerms ListIntegrationTableProperties ListMaterializedViewRefreshTaskRuns SearchAssets CheckSchemaVersionValidity",
    "health": "DescribeServiceLifecycle DescribeTagKeys DescribeTagKeysForOrganization DescribeTags DescribeTagsForOrganization "
    "DescribeTagsOnboardingStatus DescribeTagsOnboardingStatusForOrganization",
    "keyspaces": "GetKeyspace GetTable GetTableAutoScalingSettings GetType ListKeyspaces ListTables ListTagsForResource ListTypes",
    "kinesisanalyticsv2": "DescribeSnapshot DescribeSnapshotOperation ListSnapshotOperations ListSnapshots",
    "polly": "ListTagsForResource",
    "quicksight": "DescribeAnalysisDefinition DescribeDashboardDefinition DescribeTemplateDefinition ListTopicsV2 SearchTopicsV2",
    "s3": "GetBucketAccelerateConfiguration GetBucketAnalyticsConfiguration GetBucketEncryption GetBucketIntelligentTieringConfiguration "
    "GetBucketInventoryConfiguration GetBucketLifecycle GetBucketLifecycleConfiguration GetBucketMetadataConfiguration "
    "GetBucketMetricsConfiguration GetBucketNotificationConfiguration GetBucketReplication GetObjectLockConfiguration GetPublicAccessBlock "
    "HeadBucket HeadObject ListBucketAnalyticsConfigurations ListBucketIntelligentTieringConfigurations ListBucketInventoryConfigurations "
    "ListBucketMetricsConfigurations ListBuckets ListDirectoryBuckets ListMultipartUploads ListObjectVersions ListObjects ListObjectsV2 "
    "ListParts SelectObjectContent",
    "s3control": "GetAccessPointScope GetBucket GetBucketLifecycleConfiguration GetBucketReplication GetPublicAccessBlock "
    "ListAccessPointsForDirectoryBuckets ListRegionalBuckets",
    "sagemaker": "GetEndpointPolicy",
    "secretsmanager": "ListResourcePolicies",
    "securityhub": "GetFindingStatisticsV2 GetFindingsV2",
    # IAM's access level is Write, but the operations only read.
    "glue ": "DescribeConnectionType ListConnectionTypes",
    "route53globalresolver": "ListTagsForResource",
    "bcm-pricing-calculator": "ListTagsForResource",
}
"""Reads that the rule does not recognize. A service that is listed for two reasons has a space after its second key, which is stripped."""

NEVER_READ = {
    # It takes a task from other workers.
    "stepfunctions": "GetActivityTask",
    # They make a key pair, start a job, or send a code to somebody's telephone.
    "cognito-idp": "GetUserAttributeVerificationCode",
    "deadline": "StartSessionsStatisticsAggregation",
    "payment-cryptography": "GetParametersForExport GetParametersForImport",
    "sagemaker": "GetScalingConfigurationRecommendation",
    # It ends a query that somebody else may have started.
    "logs": "StopQuery",
}
"""Mutations, although by IAM's access level or their verb they would be reads."""

CREDENTIAL = {
    "appstream": "CreateStreamingURL",
    "athena": "GetSessionEndpoint",
    "auditmanager": "GetEvidenceFileUploadUrl",
    "bedrock-agentcore": "GetResourceApiKey GetResourceOauth2Token GetResourcePaymentToken GetWorkloadAccessToken GetWorkloadAccessTokenForJWT "
    "GetWorkloadAccessTokenForUserId",
    "codeartifact": "GetAuthorizationToken",
    "codecatalyst": "CreateAccessToken",
    "cognito-identity": "GetCredentialsForIdentity GetOpenIdToken GetOpenIdTokenForDeveloperIdentity",
    "cognito-idp": "DescribeUserImportJob ListUserImportJobs",
    "connect": "GetFederationToken",
    "dataexchange": "GetJob ListJobs",
    "datazone": "GetIamPortalLoginUrl ListConnections",
    "devicefarm": "GetRemoteAccessSession GetUpload ListRemoteAccessSessions ListUploads",
    "ecr": "GetAuthorizationToken",
    "ecr-public": "GetAuthorizationToken",
    "emr": "GetClusterSessionCredentials GetOnClusterAppUIPresignedURL GetPersistentAppUIPresignedURL GetSessionEndpoint",
    "emr-containers": "GetManagedEndpointSessionCredentials",
    "emr-serverless": "GetDashboardForJobRun GetSessionEndpoint",
    "gamelift": "GetComputeAuthToken GetInstanceAccess",
    "gameliftstreams": "GetStreamUrl ListStreamUrls",
    "glue": "GetDashboardUrl GetSessionEndpoint",
    "iam": "CreateServiceSpecificCredential ResetServiceSpecificCredential",
    "kinesis-video-archived-media": "GetDASHStreamingSessionURL GetHLSStreamingSessionURL",
    "kinesis-video-signaling": "GetIceServerConfig",
    "license-manager": "CreateToken GetAccessToken",
    "lightsail": "GetInstanceAccessDetails",
    "mailmanager": "GetAddressListImportJob ListAddressListImportJobs",
    "marketplace-reporting": "GetBuyerDashboard",
    "mwaa": "CreateCliToken CreateWebLoginToken",
    "pca-connector-scep": "GetChallengePassword",
    "quicksight": "GetDashboardEmbedUrl GetSessionEmbedUrl",
    "redshift": "GetClusterCredentials GetClusterCredentialsWithIAM GetIdentityCenterAuthToken",
    "redshift-serverless": "GetCredentials GetIdentityCenterAuthToken",
    "sagemaker": "CreatePresignedDomainUrl CreatePresignedMlflowTrackingServerUrl CreatePresignedNotebookInstanceUrl",
    "signin": "CreateBearerToken CreateOAuth2TokenWithIAM CreateOAuth2TokenWithTokenExchange",
    "sso-oidc": "CreateToken CreateTokenWithIAM",
    "sts": "AssumeRole AssumeRoleWithSAML AssumeRoleWithWebIdentity AssumeRoot GetDelegatedAccessToken GetFederationToken GetSessionToken "
    "GetWebIdentityToken",
}
"""Operations whose reply lets the caller bypass Sentinel: credentials, and URLs that open a session or take an upload. Those whose output shape has a secret access key are found by the generator."""

SECRET = {
    "acm": "ExportCertificate GetAcmeExternalAccountBindingCredentials",
    "amplify": "GetApp GetBranch ListApps ListBranches",
    "amplifybackend": "GetBackendAuth GetToken",
    "apigateway": "GetApiKey GetApiKeys GetStage GetStages GetUsagePlanKey GetUsagePlanKeys",
    "apigatewayv2": "GetStage GetStages",
    "appflow": "DescribeConnectorProfiles",
    "apprunner": "DescribeService",
    "appsync": "GetGraphqlApiEnvironmentVariables ListApiKeys",
    "autoscaling": "DescribeLaunchConfigurations",
    "batch": "DescribeJobDefinitions DescribeJobs DescribeServiceJob",
    "bedrock-agentcore-control": "GetAgentRuntime GetGatewayTarget GetHarness",
    "chime": "GetBot ListBots",
    "chime-sdk-identity": "DescribeAppInstanceUserEndpoint",
    "chime-sdk-meetings": "GetAttendee ListAttendees",
    "cleanroomsml": "GetTrainedModel GetTrainedModelInferenceJob",
    "cloudcontrol": "GetResource GetResourceRequestStatus ListResourceRequests ListResources",
    "cloudformation": "DescribeChangeSet DescribeEvents DescribeStackEvents DescribeStackInstance DescribeStackResourceDrifts "
    "DescribeStackSet DescribeStacks DetectStackResourceDrift ListExports ListStackInstanceResourceDrifts",
    "cloudfront": "GetDistribution GetDistributionConfig ListDistributions ListDistributionsByAnycastIpListId ListDistributionsByConnectionFunction "
    "ListDistributionsByConnectionMode ListDistributionsByRealtimeLogConfig ListDistributionsByTrustStore ListDistributionsByWebACLId",
    "cloudhsmv2": "DescribeClusters",
    "codebuild": "BatchGetBuildBatches BatchGetBuilds BatchGetCommandExecutions BatchGetProjects BatchGetSandboxes ListCommandExecutionsForSandbox",
    "codepipeline": "GetPipeline GetPipelineExecution ListActionExecutions ListRuleExecutions ListWebhooks",
    "cognito-idp": "DescribeIdentityProvider DescribeUserPoolClient ListUserPoolClientSecrets",
    "config": "BatchGetAggregateResourceConfig BatchGetResourceConfig GetAggregateResourceConfig GetConnector "
    "GetResourceConfigHistory SelectAggregateResourceConfig SelectResourceConfig",
    "connecthealth": "GetPatientInsightsJob",
    "datapipeline": "DescribeObjects GetPipelineDefinition",
    "datasync": "DescribeLocationFsxOntap DescribeLocationFsxOpenZfs",
    "devicefarm": "GetProject GetRun ListProjects ListRuns",
    "devops-agent": "GetService ListServices",
    "directconnect": "DescribeRouterConfiguration DescribeVirtualInterfaces",
    "dms": "DescribeEndpoints",
    "ds": "DescribeDirectories",
    "ebs": "GetSnapshotBlock",
    "ec2": "DescribeBundleTasks DescribeConversionTasks DescribeFleets DescribeInstanceAttribute DescribeLaunchTemplateVersions "
    "DescribeSpotFleetRequestHistory DescribeSpotFleetRequests DescribeSpotInstanceRequests DescribeVerifiedAccessTrustProviders "
    "DescribeVpnConnections ExportClientVpnClientConfiguration GetConsoleOutput GetConsoleScreenshot GetLaunchTemplateData "
    "GetPasswordData GetVpnConnectionDeviceSampleConfiguration",
    "ecs": "DescribeDaemonTaskDefinition DescribeExpressGatewayService DescribeTaskDefinition DescribeTasks",
    "eks": "DescribeEksAnywhereSubscription ListEksAnywhereSubscriptions",
    "elasticbeanstalk": "DescribeConfigurationSettings",
    "emr": "DescribeCluster DescribeJobFlows DescribeNotebookExecution DescribeStep ListBootstrapActions ListInstanceFleets ListInstanceGroups ListSteps",
    "emr-containers": "DescribeJobRun DescribeJobTemplate DescribeManagedEndpoint ListJobRuns ListJobTemplates ListManagedEndpoints",
    "emr-serverless": "GetApplication GetJobRun GetSession",
    "eventbridgev2": "DescribeSubscriber",
    "events": "DescribeConnection ListTargetsByRule",
    "evs": "GetDepotUrl GetEnvironment",
    "firehose": "DescribeDeliveryStream",
    "gamelift": "DescribeRuntimeConfiguration GetPlayerConnectionDetails",
    "gameliftstreams": "GetStreamSession",
    "glue": "BatchGetDevEndpoints BatchGetJobs BatchGetTriggers BatchGetWorkflows GetBlueprintRun GetBlueprintRuns GetConnection "
    "GetConnections GetDevEndpoint GetDevEndpoints GetJob GetJobRun GetJobRuns GetJobs GetSession GetTrigger GetTriggers "
    "GetWorkflow GetWorkflowRun GetWorkflowRunProperties GetWorkflowRuns ListSessions",
    "grafana": "DescribeWorkspace ListWorkspaces",
    "greengrass": "GetFunctionDefinitionVersion",
    "imagebuilder": "GetImage GetImageRecipe",
    "interconnect": "GetConnection",
    "invoicing": "GetProcurementPortalPreference",
    "iot": "GetTopicRule GetTopicRuleDestination ListTopicRuleDestinations",
    "iot-managed-integrations": "GetManagedThing ListDiscoveredDevices",
    "iotsitewise": "DescribePipeline DescribePipelineExecution DescribeTask",
    "iotwireless": "GetWirelessDevice",
    "ivs": "BatchGetChannel BatchGetStreamKey GetChannel GetStreamKey GetStreamSession",
    "ivs-realtime": "GetIngestConfiguration",
    "kafkaconnect": "DescribeConnector DescribeWorkerConfiguration",
    "kinesisanalyticsv2": "DescribeApplication DescribeApplicationVersion",
    "lambda": "GetFunction GetFunctionConfiguration ListFunctions ListVersionsByFunction",
    "lambda-microvms": "GetMicrovmImageVersion ListMicrovmImageVersions",
    "lambda-web": "GetWebFunctionRevision",
    "lexv2-models": "DescribeBotRecommendation",
    "lightsail": "DownloadDefaultKeyPair GetContainerServiceDeployments GetContainerServices GetRelationalDatabase "
    "GetRelationalDatabaseMasterUserPassword GetRelationalDatabases",
    "location": "DescribeKey",
    "managedblockchain": "GetAccessor",
    "marketplace-agreement": "GetAgreementEntitlements",
    "mediapackage": "DescribeChannel ListChannels",
    "mwaa": "GetEnvironment",
    "mwaa-serverless": "GetWorkflow GetWorkflowRun",
    "observabilityadmin": "GetConnector",
    "pinpoint": "GetBaiduChannel GetGcmChannel",
    "pipes": "DescribePipe",
    "proton": "GetDeployment GetEnvironment GetService",
    "quicksight": "DescribeAssetBundleImportJob",
    "rds": "DescribeOptionGroups",
    "redshift-data": "DescribeStatement ListStatements",
    "route53globalresolver": "GetAccessToken",
    "sagemaker": "BatchDescribeModelPackage DescribeAIRecommendationJob DescribeAlgorithm DescribeAppImageConfig DescribeAutoMLJob "
    "DescribeAutoMLJobV2 DescribeDataQualityJobDefinition DescribeHyperParameterTuningJob DescribeInferenceComponent DescribeModel "
    "DescribeModelBiasJobDefinition DescribeModelExplainabilityJobDefinition DescribeModelPackage DescribeModelQualityJobDefinition "
    "DescribeMonitoringSchedule DescribeNotebookInstanceLifecycleConfig DescribeProcessingJob DescribeStudioLifecycleConfig "
    "DescribeTrainingJob DescribeTransformJob ListAppImageConfigs ListCandidatesForAutoMLJob ListPipelineExecutionSteps Search",
    "scheduler": "GetSchedule",
    "secretsmanager": "BatchGetSecretValue GetSecretValue",
    "securityagent": "BatchGetPentestJobs BatchGetPentests",
    "securityhub": "GetFindings",
    "ssm": "DescribeAssociation DescribeAutomationExecutions DescribeAutomationStepExecutions "
    "DescribeMaintenanceWindowExecutionTaskInvocations DescribeMaintenanceWindowTasks GetAutomationExecution "
    "GetCommandInvocation GetMaintenanceWindowExecutionTask GetMaintenanceWindowExecutionTaskInvocation "
    "GetMaintenanceWindowTask GetParameter GetParameterHistory GetParameters GetParametersByPath ListAssociationVersions "
    "ListCommandInvocations ListCommands",
    "sso-admin": "GetApplicationGrant ListApplicationGrants",
    "stepfunctions": "DescribeExecution GetExecutionHistory",
    "storagegateway": "DescribeChapCredentials",
    "swf": "GetWorkflowExecutionHistory",
    "taxsettings": "GetTaxRegistration ListTaxRegistrations",
    "wafv2": "ListAPIKeys",
    "wickr": "GetOidcInfo GetOpentdfConfig",
    "workspaces-thin-client": "GetEnvironment ListEnvironments",
    "workspaces-web": "GetIdentityProvider",
}
"""Reads whose reply contains, or may contain, a secret value: keys, tokens and passwords, and configuration that people put them into
(environment variables, user data, command lines, request headers, connection strings, parameters and inputs of stacks, pipelines, jobs and
executions, whole resources of any type)."""

EXECUTE = {
    "athena": "StartCalculationExecution StartQueryExecution",
    "batch": "SubmitJob",
    "bedrock-agent-runtime": "InvokeAgent InvokeFlow InvokeInlineAgent",
    "bedrock-runtime": "Converse ConverseStream InvokeModel InvokeModelWithResponseStream",
    "cloudcontrol": "CreateResource DeleteResource UpdateResource",
    "cloudformation": "CreateChangeSet CreateStack CreateStackInstances CreateStackSet ExecuteChangeSet UpdateStack UpdateStackSet",
    "codebuild": "StartBuild StartBuildBatch",
    "codecatalyst": "StartDevEnvironmentSession",
    "codepipeline": "StartPipelineExecution",
    "dynamodb": "BatchExecuteStatement ExecuteStatement ExecuteTransaction",
    "ec2-instance-connect": "SendSSHPublicKey SendSerialConsoleSSHPublicKey",
    "ecs": "ExecuteCommand RunTask StartTask",
    "emr": "AddJobFlowSteps RunJobFlow",
    "emr-containers": "StartJobRun",
    "emr-serverless": "StartJobRun",
    "glue": "RunStatement StartJobRun",
    "iotsecuretunneling": "OpenTunnel RotateTunnelAccessToken",
    "lambda": "Invoke InvokeAsync InvokeWithResponseStream",
    "rds-data": "BatchExecuteStatement ExecuteSql ExecuteStatement",
    "redshift-data": "BatchExecuteStatement ExecuteStatement",
    "sagemaker-runtime": "InvokeEndpoint InvokeEndpointAsync InvokeEndpointWithResponseStream",
    "ssm": "ResumeSession SendCommand StartAutomationExecution StartSession",
    "stepfunctions": "StartExecution StartSyncExecution",
    # `SELECT` reads, `UNLOAD` writes to any bucket: the statement decides, so a person does.
    "timestream-query": "Query",
}
"""Operations that run code, or pass a document or statement that AWS executes."""

CRYPTO = {
    "kms": "Decrypt DeriveSharedSecret Encrypt GenerateDataKey GenerateDataKeyPair GenerateDataKeyPairWithoutPlaintext "
    "GenerateDataKeyWithoutPlaintext GenerateMac GenerateRandom ReEncrypt Sign Verify VerifyMac",
    "payment-cryptography-data": "DecryptData EncryptData GenerateCardValidationData GenerateMac GeneratePinData ReEncryptData TranslatePinData "
    "VerifyAuthRequestCryptogram VerifyCardValidationData VerifyMac VerifyPinData",
}
"""Operations that use a cryptographic key and change no state."""

DATA = {
    "cloudwatch": "PutMetricData",
    "dynamodb": "BatchWriteItem DeleteItem PutItem TransactWriteItems UpdateItem",
    "events": "PutEvents",
    "firehose": "PutRecord PutRecordBatch",
    "kinesis": "PutRecord PutRecords",
    "logs": "PutLogEvents",
    "s3": "AbortMultipartUpload CompleteMultipartUpload CopyObject CreateMultipartUpload DeleteObject DeleteObjectTagging DeleteObjects "
    "PutObject PutObjectTagging UploadPart UploadPartCopy",
    "sns": "Publish PublishBatch",
    "sqs": "ChangeMessageVisibility ChangeMessageVisibilityBatch DeleteMessage DeleteMessageBatch ReceiveMessage SendMessage SendMessageBatch",
    "timestream-write": "WriteRecords",
    "xray": "PutTelemetryRecords PutTraceSegments",
}
"""Operations on what a resource stores or passes on, which applications call all the time, and which leave every attribute as it was.

Not among them: what runs code with another's rights (Lambda Invoke, StartExecution: what that does no table says); what drains or destroys
wholesale (PurgeQueue, StartMessageMoveTask, DeleteTable); what locks, opens or moves data (object locks and ACLs, RestoreObject); what
reaches people or devices (SES, IoT, an SMS); what is configuration (parameters, secrets, log groups and log streams). PartiQL, EXECUTE in
the table, is judged by its statements: READ if all of them select, DATA if they write items (`statement_class`).

Each has an effect row that is an INVOKE, or is in `effects.without_resource`. A parameter that the row does not know makes it a mutation.
"""
