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
    "cloudformation": "DetectStackDrift DetectStackResourceDrift DetectStackSetDrift EstimateTemplateCost ValidateTemplate",
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
    "logs": "FilterLogEvents StartLiveTail StartQuery StopQuery TestMetricFilter TestTransformer",
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
    "GetRestApi GetRestApis GetSdk GetSdkType GetSdkTypes GetStage GetStages GetTags GetUsage GetUsagePlan GetUsagePlans GetVpcLink GetVpcLinks",
    "apigatewayv2": "GetApi GetApiMapping GetApiMappings GetApis GetAuthorizer GetAuthorizers GetDeployment GetDeployments GetDomainName "
    "GetDomainNames GetIntegration GetIntegrationResponse GetIntegrationResponses GetIntegrations GetModel GetModelTemplate GetModels GetRoute "
    "GetRouteResponse GetRouteResponses GetRoutes GetStage GetStages GetTags GetVpcLink GetVpcLinks",
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
    "timestream-query": "Query",
    # IAM's access level is Write, but the operations only read.
    "glue ": "DescribeConnectionType ListConnectionTypes",
    "route53globalresolver": "ListTagsForResource",
    "bcm-pricing-calculator": "ListTagsForResource",
}
"""Reads that the rule does not recognize. A service that is listed for two reasons has a space after its second key, which is stripped."""

CREDENTIAL = {
    "appstream": "CreateStreamingURL",
    "athena": "GetSessionEndpoint",
    "bedrock-agentcore": "GetResourceApiKey GetResourceOauth2Token GetResourcePaymentToken GetWorkloadAccessToken GetWorkloadAccessTokenForJWT "
    "GetWorkloadAccessTokenForUserId",
    "codeartifact": "GetAuthorizationToken",
    "codecatalyst": "CreateAccessToken",
    "cognito-identity": "GetCredentialsForIdentity GetOpenIdToken GetOpenIdTokenForDeveloperIdentity",
    "connect": "GetFederationToken",
    "datazone": "GetIamPortalLoginUrl ListConnections",
    "ecr": "GetAuthorizationToken",
    "ecr-public": "GetAuthorizationToken",
    "emr": "GetClusterSessionCredentials GetOnClusterAppUIPresignedURL GetPersistentAppUIPresignedURL GetSessionEndpoint",
    "emr-containers": "GetManagedEndpointSessionCredentials",
    "emr-serverless": "GetSessionEndpoint",
    "gamelift": "GetComputeAuthToken GetInstanceAccess",
    "glue": "GetSessionEndpoint",
    "iam": "CreateServiceSpecificCredential ResetServiceSpecificCredential",
    "license-manager": "CreateToken GetAccessToken",
    "lightsail": "GetInstanceAccessDetails",
    "kinesis-video-signaling": "GetIceServerConfig",
    "mwaa": "CreateCliToken CreateWebLoginToken",
    "pca-connector-scep": "GetChallengePassword",
    "redshift": "GetClusterCredentials GetClusterCredentialsWithIAM GetIdentityCenterAuthToken",
    "redshift-serverless": "GetCredentials GetIdentityCenterAuthToken",
    "sagemaker": "CreatePresignedDomainUrl CreatePresignedMlflowTrackingServerUrl CreatePresignedNotebookInstanceUrl",
    "signin": "CreateBearerToken CreateOAuth2TokenWithIAM CreateOAuth2TokenWithTokenExchange",
    "sso-oidc": "CreateToken CreateTokenWithIAM",
    "sts": "AssumeRole AssumeRoleWithSAML AssumeRoleWithWebIdentity AssumeRoot GetDelegatedAccessToken GetFederationToken GetSessionToken "
    "GetWebIdentityToken",
}
"""Operations whose reply lets the caller bypass Sentinel. Those whose output shape has a secret access key are found by the generator."""

SECRET = {
    "acm": "ExportCertificate",
    "apigateway": "GetApiKey GetApiKeys GetUsagePlanKey GetUsagePlanKeys",
    "cognito-idp": "DescribeUserPoolClient",
    "directconnect": "DescribeRouterConfiguration",
    "ec2": "DescribeVerifiedAccessTrustProviders DescribeVpnConnections ExportClientVpnClientConfiguration GetPasswordData GetVpnConnectionDeviceSampleConfiguration",
    "glue": "GetConnection GetConnections",
    "iot": "GetTopicRuleDestination ListTopicRuleDestinations",
    "lightsail": "DownloadDefaultKeyPair GetRelationalDatabaseMasterUserPassword",
    "secretsmanager": "BatchGetSecretValue GetSecretValue",
    "ssm": "GetParameter GetParameterHistory GetParameters GetParametersByPath",
    "sso-admin": "GetApplicationGrant ListApplicationGrants",
    "wickr": "GetOidcInfo",
}
"""Reads whose reply contains, or may contain, a secret value."""

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
}
"""Operations that run code, or pass a document or statement that AWS executes."""

CRYPTO = {
    "kms": "Decrypt DeriveSharedSecret Encrypt GenerateDataKey GenerateDataKeyPair GenerateDataKeyPairWithoutPlaintext "
    "GenerateDataKeyWithoutPlaintext GenerateMac GenerateRandom ReEncrypt Sign Verify VerifyMac",
    "payment-cryptography-data": "DecryptData EncryptData GenerateCardValidationData GenerateMac GeneratePinData ReEncryptData TranslatePinData "
    "VerifyAuthRequestCryptogram VerifyCardValidationData VerifyMac VerifyPinData",
}
"""Operations that use a cryptographic key and change no state."""
