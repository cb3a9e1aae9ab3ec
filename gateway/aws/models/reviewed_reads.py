"""Members of AWS's reads that look like secrets or statements and were reviewed: they do not make a read anything else.

By service, names as in botocore. `generate_call_classes` ends with a sentence for a member of a read that is not here.
"""

OUTPUTS = {
    # Of one operation: declarations, summaries and names, whose values other operations of the service return.
    "appflow:DescribeConnector": "connectorConfiguration",
    "batch:ListJobs": "nodeProperties",
    "chatbot:GetCustomAction": "Variables",
    "cloudformation:GetTemplateSummary": "Parameters",
    "cloudformation:ValidateTemplate": "Parameters",
    "codepipeline:GetActionType": "configuration",
    "frauddetector:BatchGetVariable": "variables",
    "frauddetector:GetVariables": "variables",
    "glue:DescribeConnectionType": "ConnectionProperties",
    "interconnect:GetEnvironment": "environment",
    "iotsitewise:DescribeAssetModel": "variables",
    "iotsitewise:DescribeAssetModelCompositeModel": "variables",
    "iotsitewise:DescribeAssetProperty": "variables",
    "iotsitewise:ListAssetModelProperties": "variables",
    "opensearch:DescribeOutboundConnections": "ConnectionProperties",
    "pinpoint-sms-voice-v2:DescribeNotifyTemplates": "Variables",
    "ssm:DescribeDocument": "Parameters",
    "ssm:DescribeParameters": "Parameters",
    "account": "AccountName AddressLine1 AddressLine2 AddressLine3 City CompanyName CountryCode DistrictOrCounty EmailAddress FullName Name "
    "PhoneNumber PostalCode PrimaryEmail StateOrRegion Title WebsiteUrl",
    "acm": "AuthorizationBehavior Contacts",
    "agent-registry": "customMetadata data description",
    "agent-registry-control": "customMetadata customMetadataSchemaConfiguration data defaultSchema description schema",
    "aiops": "nextToken",
    "amplifyuibuilder": "downloadUrl tokenReference",
    "apigateway": "apiKeySource authorizationScopes authorizerCredentials credentials",
    "apigatewayv2": "ApiKeySelectionExpression AuthorizationScopes",
    "appconfig": "Content",
    "appconfigdata": "Configuration",
    "appflow": "authCodeUrls tokenUrls",
    "appintegrations": "CredentialProviderIdentifier",
    "application-signals": "Environment",
    "appmesh": "privateKey",
    "appstream": "AccountName AccountPassword FirstName LastName UserName",
    "arc-region-switch": "payload",
    "artifact": "documentPresignedUrl termToken",
    "auditmanager": "actionPlanInstructions actionPlanTitle assessmentName assessmentReportsDestination author authorName awsAccounts comment "
    "commentBody complianceType controlSets createdBy defaultAssessmentReportsDestination defaultProcessOwners delegations description "
    "emailAddress framework lastUpdatedBy name roles scope snsTopic testingInformation troubleshootingText",
    "b2bi": "email phone",
    "backup": "AccessPointMetadata Metadata RecoveryPointTags RestoreMetadata RestoreMetadataOverrides Tags",
    "backupsearch": "FilePath ObjectKey",
    "bedrock": "accuracyJustification action alternateExpression andAll assetName blockedInputMessaging blockedOutputsMessaging content "
    "customMetricDefinition data definition description document documentDescription documentName equals examples expression "
    "failureRecommendations feedback fieldsToExclude fieldsToInclude filter groundingJustifications guardContent identifier "
    "inferenceParams inputAction inputModalities instructions jobDescription lineText logic message metadataAttributes metricNames name "
    "naturalLanguage newName notEquals offerToken orAll outputAction outputModalities policyVariable queryContent scenarioExpression "
    "statusReasons text textPromptTemplate tierName type typeName unusedTypes unusedVariables variableReports variables",
    "bedrock-agent": "agent answerFormat answerPolicy basePromptTemplate chat code collaborationInstruction connectionString content definition "
    "description exclusionFilters expression fieldsToExclude fieldsToInclude filters genAiResource generationContext graphArn "
    "inclusionFilters inclusionPrefixes indexArn indexName inputVariables instruction key metadata name objectType payload persona "
    "promptOverrideConfiguration retrievalGuidance system text textPromptTemplate toolChoice tools userAgent userAgentHeader value "
    "variants vectorBucketArn vectorIndexName",
    "bedrock-agent-runtime": "actionGroupName agentTraces apiPath collaboratorName conditionResultEvent content contentBlocks contentPolicy "
    "customOrchestrationTrace customWords documentAcl event expression failureReason failureTrace fields filters flowFailureEvent "
    "flowInputEvent flowOutputEvent function guardrailTrace inputAssessments invocationInput knowledgeBaseId location managedWordLists "
    "metadata modelInvocationInput modelInvocationOutput next nodeActionEvent nodeDependencyEvent nodeFailureEvent nodeInputEvent "
    "nodeOutputEvent observation orchestrationTrace outputAssessments parsedResponse piiEntities postProcessingTrace preProcessingTrace "
    "presignedUrl rationale rawResponse reasoningContent reasoningText regexes repromptResponse returnControlPayload "
    "routingClassifierTrace row satisfiedConditions sensitiveInformationPolicy source text topicPolicy topics trace traceElements usage "
    "verb wordPolicy",
    "bedrock-agentcore": "apple blob content description email emailAddress explanation github google json linkedAccounts name phoneNumber "
    "recommendedSystemPrompt recommendedToolDescription sessionSpans sms suggestedFix telegram text token x",
    "bedrock-agentcore-control": "actorTokenContent actorTokenScopes additionalHeaderClaims additionalPayloadClaims apiKeySecretJsonKey apiKeySecretSource "
    "appSecretJsonKey appSecretSource appendToPrompt authorizationPrivateKeyJsonKey authorizationPrivateKeySource authorizationUrl "
    "clientSecretJsonKey clientSecretSource components credentialProviderVendor definition description dimensionInstruction "
    "dimensionRatingScale downloadUrl examples failureReason instructions llmExtractionInstruction name ratingScale targetName "
    "walletSecretJsonKey walletSecretSource",
    "bedrock-data-automation": "blueprintName description displayAsText libraryDescription libraryName projectDescription projectName schema text",
    "bedrock-runtime": "failureMessage",
    "billing": "description legalEntityName name",
    "billingconductor": "AccountEmail AccountName Description Name",
    "budgets": "Address",
    "chatbot": "ChannelName SlackChannelName TeamName WebhookDescription",
    "chime": "AlexaForBusinessRoomArn CallingName DisplayName E164PhoneNumber E164PhoneNumbers Email FullName LambdaFunctionArn Name "
    "OutboundEventsHTTPSEndpoint PrimaryEmail PrimaryProvisionedNumber",
    "chime-sdk-identity": "Key Metadata Name NextToken Value",
    "chime-sdk-media-pipelines": "Arn Destination ExternalUserIds InsightsTarget MediaInsightsPipelineConfigurationArn MediaInsightsRuntimeMetadata MediaPipelineArn "
    "PoolArn ResourceAccessRoleArn SinkArn SinkIamRoleArn SourceArn Url",
    "chime-sdk-meetings": "ExternalMeetingId MeetingHostId",
    "chime-sdk-messaging": "Content ContentType FilterRule Key MessageAttributes Metadata Name NextToken StringValues Value",
    "chime-sdk-voice": "AlexaSkillIds CallingName ConfigurationArn DefaultPhoneNumber E164PhoneNumber E164PhoneNumbers EmergencyPhoneNumber "
    "FallBackPhoneNumber Key KmsKeyArn LambdaArn Name PhoneNumber PhoneNumberId ProxyPhoneNumber TestPhoneNumber Usernames Value "
    "VoiceProfileArn VoiceProfileDomainArn",
    "cleanrooms": "analysisParameters parameters sqlParameters text",
    "cleanroomsml": "parameters sqlParameters",
    "cloud9": "Key Tags Value description",
    "cloudformation": "RegistrationTokenList",
    "cloudfront": "ConnectionFunctionCode FunctionCode ValidationTokenHost",
    "cloudfront-keyvaluestore": "Value",
    "cloudsearch": "JapaneseTokenizationDictionary",
    "cloudwatch": "Expression",
    "cloudwatchomni": "authorizationUrl",
    "codedeploy": "tokenNameList",
    "codepipeline": "token",
    "codestar-notifications": "Name TargetAddress",
    "cognito-idp": "ChallengeResponse ClientId CreateAuthChallenge DefineAuthChallenge LastIPAddress PreTokenGeneration Username Value "
    "VerifyAuthChallengeResponse",
    "cognito-sync": "SyncSessionToken",
    "comprehend": "ClassifierMetadata RecognizerMetadata",
    "config": "ResultToken",
    "connect": "Actions Description DeskPhoneNumber DisplayName Email EmailAddress FirstName InputSchema InstanceAlias LastName Name PhoneNumber "
    "PromptPresignedUrl SecondaryEmail SegmentAttributes",
    "connectcampaignsv2": "connectSourceEmailAddress sourceEmailAddressDisplayName",
    "connectcases": "customEntity name",
    "connecthealth": "dateOfBirth encounterDate encounterDurationMinutes encounterReason insurance sex status text",
    "connectscheduling": "Description",
    "continuum": "consoleOutput policy tokenRotation",
    "customer-profiles": "AccountNumber AdditionalInformation Address AttributeDetails Attributes BillingAddress BirthDate BusinessEmailAddress BusinessName "
    "BusinessPhoneNumber Category Code ConditionOverrides Conditions Content Description EmailAddress EngagementPreferences "
    "EventTriggerConditions Fields FirstName Gender GenderString HomePhoneNumber Id ImageLink Items Keys LastName Layout Link "
    "MailingAddress MiddleName MobilePhoneNumber Name Object PartyType PartyTypeString PersonalEmailAddress PhoneNumber Price "
    "ProfileAttributes ProfileType Recommendations RecommenderFilterExpression SegmentGroups SegmentSort SegmentSqlQuery "
    "ShippingAddress Statistic Type Value Values",
    "dataexchange": "ApiKey ApiSpecificationDownloadUrl",
    "datasync": "AccessKey",
    "datazone": "actionLink awsAccountName branch commitMessage database decisionComment description environmentConfigurationId "
    "environmentConfigurationName event firstName groupName id lastName longDescription message metadata model name parameters "
    "projectResourceTagsDescription repository requestReason schedule shortDescription technicalDescription technicalName title "
    "typeName uri username",
    "deadline": "description fileSystemLocations jobParameters manifests parameters pathMappingRules progressMessage scriptBody template",
    "detective": "EmailAddress",
    "devicefarm": "jobDetailsUrl testDetailsUrl url",
    "devops-agent": "customerEmail description",
    "devops-guru": "LogAnomalyToken",
    "discovery": "agentNetworkInfoList configurationsDownloadUrl",
    "dms": "AsmPassword AuthPassword Password PublicIpAddresses S3ObjectUrl SaslPassword SecurityDbEncryption SelectionRules "
    "SslClientKeyPassword",
    "docdb": "MasterUserPassword",
    "drs": "cfnStackName replicationStatusDetails stagingAreaTags tags",
    "ds": "ShareNotes",
    "ds-data": "BOOL DistinguishedName EmailAddress GivenName N NextToken S SS Surname UserPrincipalName",
    "ebs": "Blocks ChangedBlocks",
    "ec2": "HttpTokens HttpTokensEnforced KeyValue PurchaseToken SqlServerCredentials TokenValue UefiData Url",
    "ecr": "downloadUrl",
    "efs": "CreationToken",
    "eks": "activationCode",
    "elbv2": "ClientSecret",
    "elementalinference": "description requestExpression responseExpression",
    "emr": "ADDomainJoinPassword CrossRealmTrustPrincipalPassword KdcAdminPassword",
    "endusermessaging": "attributeName attributeValue description destinationCountryParameters inlineTemplateBody mediaDownloadUrl",
    "entityresolution": "token",
    "eventbridgev2": "EventBusV2Parameters HttpParameters JsonataConfiguration KinesisParameters LambdaParameters Pattern SnsParameters SqsParameters "
    "StepFunctionsParameters UniversalTargetParameters",
    "events": "GraphQLOperation Sql Sqls",
    "forecast": "Key Value",
    "frauddetector": "elements entities eventTypes eventVariables expression expressionWithValues inputVariables name outputVariables source value",
    "fsx": "DomainJoinServiceAccountSecret FsxAdminPassword",
    "gamelift": "ConnectionPort ContainerPort CustomEventData Events FromPort GameServerData GameSessionData IpAddress IpRange MatchmakerData "
    "PlayerData PlayerId Port PreSignedUrl ToPort Value",
    "gameliftstreams": "RoleArn",
    "geo-places": "AddressNumber AddressNumberCorrected BaseName Block Building Code Code2 Code3 Designator Direction Display Distance District "
    "EstimatedPointAddress Id Label Locality LocalizedName MapView Name Number Offset OffsetSeconds OpenDuration OpenNow OpenTime "
    "OriginalTerm PlaceAttributes PlaceId PlaceType PoliticalView Position PostalAuthority PostalCode PostalCodeType Preferred Prefix "
    "Primary QueryComponent QueryId RecordTypeCode Recurrence RefinedTerm Restricted RouteDistance Source SourcePlaceId Street SubBlock "
    "SubDistrict Suffix Title Transliterated Type Value ZipClassificationCode",
    "geo-routes": "AllHazardsRestricted AnchorText ApplicableTimes ArrivalCharge ArrivalTime Attributes AttributionType AvailableSeats "
    "BestCaseDuration BestCaseSpeed BoundingBox CarAccess Category Center Circle Code Color Confidence Constraint ConsumablePower "
    "Country Delay DepartureTime Description DesiredCharge DeviceType Direction Distance DistanceThreshold Duration Effect EndTime "
    "Engine Estimate FunctionalClassification Gate HazardousCargos Headsign Id IncludesReturnTrip Instruction LicensePlate LineString "
    "LongRouteName Margin Max MaxHeight MaxKpraLength MaxLength MaxPayloadCapacity MaxRadius MaxSpeed MaxWeightPerAxle MaxWidth Min "
    "Mode Model Name OriginalPosition PaymentMethods PedestrianAccess PerDuration Period PeriodCount PlatformName Polygon Polyline "
    "PolylinePolygon Position Quad Quint Radius RailwayCrossing Range Reason Region RelativeExit RestDuration RoadAttributes RouteName "
    "ScooterAccess SeniorPass ServiceDuration Severity ShortName ShortRouteName SideOfStreet Single SnappedDestination SnappedOrigin "
    "SnappedPosition StartTime Status SteeringDirection SystemName Tandem TextColor Time TimeDependent TimeThreshold Title "
    "TracePointIndexes TransferCount TravelDuration TravelMode TripCount Triple TruckAccess TruckRoadTypes TruckType "
    "TunnelRestrictionCode TurnDuration TurnIntensity Type TypicalDuration TypicalSpeed Unbounded Unlimited Url Value WaitDuration "
    "WaypointIndex",
    "glue": "Description EvaluatedDistributions EvaluatedMetrics EvaluatedRule EvaluationMessage Records RuleMetrics StatisticProperties",
    "grafana": "admin editor",
    "greengrassv2": "preSignedUrl",
    "guardduty": "Email IpAddressV4 IpAddressV6 PrivateIpAddress",
    "healthlake": "AuthorizationStrategy ProfileMapping",
    "iam": "Base32StringSeed QRCodePNG ServiceCredentialAlias",
    "identitystore": "Birthdate Country Description Display DisplayName FamilyName Formatted GivenName HonorificPrefix HonorificSuffix Id Issuer Locale "
    "Locality MiddleName NickName PostalCode PreferredLanguage ProfileUrl Region StreetAddress Timezone Title Type UserName UserType "
    "Value Website",
    "imagebuilder": "httpTokens",
    "inspector2": "authorizationUrl nextToken",
    "invoicing": "Environment ReceiverAddress ReceiverEmail TaxRegistrationNumber",
    "iot": "attributes description recipe sourceIp sourcePort targetIp targetPort thingName tokenSigningPublicKeys vpcEndpointId",
    "iot-managed-integrations": "Brand ClaimCertificate Classification ConnectorDeviceId Model Name OAuthAuthorizationUrl Owner SerialNumber Tags properties tags "
    "tokenEndpointAuthenticationScheme tokenUrl",
    "iotdeviceadvisor": "qualificationReportDownloadUrl",
    "iotfleetwise": "actions conditionExpression dataExtraDimensions expression signalsToCollect signalsToFetch storageLocation",
    "iotsitewise": "notificationSenderEmail portalContactEmail queryStatement",
    "iotwireless": "ApplicationServerPublicKey Fingerprint",
    "ivs-realtime": "publicKeyMaterial",
    "kafka": "SecretArnList TokenEndpointUrl",
    "kafkaconnect": "originConnectorConfiguration propertiesFileContent targetConnectorConfiguration",
    "kendra": "Credentials FeedbackToken FirstName GroupName IdentifiedUserName KmsKeyId LastName UserName",
    "kinesisvideo": "MediaUriSecretArn",
    "kms": "AccessKeyId ImportToken KeyMaterialDescription PublicKey",
    "lakeformation": "Authorization WorkUnitToken",
    "lambda": "ErrorData ErrorMessage ErrorType InputPayload Payload Reason Result StackTrace",
    "launch-wizard": "specifications",
    "lex-models": "botConfiguration",
    "lex-runtime": "activeContexts message parameters sessionAttributes slots",
    "lexv2-models": "downloadUrl",
    "lexv2-runtime": "content contextAttributes",
    "license-manager": "TokenProperties",
    "license-manager-linux-subscriptions": "tags",
    "license-manager-user-subscriptions": "Tags",
    "lightsail": "httpTokens passwordField",
    "location": "AddressNumber AllowReferers BiasPosition Categories Center Circle Country CreateTime CreatedAt Distance DurationSeconds "
    "EndPosition EndedAt ExpireTime FilterBBox FilterCategories FilterCountries ForecastedBreachTime Geobuf GeofenceProperties "
    "Horizontal Interpolated Label LineString MultiPolygon Municipality Name Neighborhood Offset PlaceId Point PoliticalView Polygon "
    "Position PositionProperties PostalCode Radius ReceivedTime Region Relevance ResultBBox RouteBBox SampleTime "
    "SnappedDeparturePositions SnappedDestinationPositions StartPosition Street SubMunicipality SubRegion SupplementalCategories Text "
    "UnitNumber UnitType UpdateTime UpdatedAt",
    "logs": "tokenString uploadSequenceToken",
    "mailmanager": "Address CAContent CrlContent DiagnosticMessage Message ReplaceWith Sender SenderIpAddress Values",
    "managedblockchain-query": "tokenStandard",
    "marketplace-agreement": "acceptorContact companyName description emailAddress firstName lastName name note requesterNote",
    "marketplace-catalog": "SourceAuthorization",
    "mediaconvert": "CertificateSecret",
    "medialive": "PasswordParam Token",
    "mediapackage": "CdnIdentifierSecret",
    "mediapackage-vod": "CdnIdentifierSecret",
    "mediatailor": "SecretStringKey",
    "medical-imaging": "DICOMAccessionNumber DICOMPatientBirthDate DICOMPatientId DICOMPatientName DICOMPatientSex DICOMSeriesBodyPart "
    "DICOMSeriesInstanceUID DICOMSeriesModality DICOMSeriesNumber DICOMStudyDate DICOMStudyDescription DICOMStudyId "
    "DICOMStudyInstanceUID DICOMStudyTime seriesInstanceUID studyInstanceUID",
    "mgn": "scopeTags sourceServerTags stagingAreaTags tags",
    "migration-hub-refactor-spaces": "Tags",
    "migrationhuborchestrator": "workflowInputs",
    "mpa": "Description Document Metadata PolicyDocument RequesterComment Tags",
    "mturk": "FileUploadURL",
    "neptune": "MasterUserPassword",
    "network-security-manager": "email name",
    "networkmanager": "Location",
    "notifications": "attachmentDownloadUrl",
    "notificationscontacts": "address name",
    "nova-act": "description",
    "observabilityadmin": "NextToken",
    "odb": "adminPasswordSource allConnectionStrings email passwordSource sshPublicKeys",
    "opensearchmemory": "content extractionPrompt matchedContent source text",
    "organizations": "AccountName Email Id ManagementAccountEmail MasterAccountEmail Name Value",
    "outposts": "Address Description",
    "partnercentral-account": "BusinessTitle FirstName InviterName LastName LegalName RegistrationId",
    "partnercentral-benefits": "Email FirstName LastName Phone",
    "partnercentral-revenue-measurement": "CustomerAwsAccountId",
    "partnercentral-selling": "AccountId Alias Amount AwsAccountId BusinessProblem BusinessTitle City CompanyName ContactBusinessTitle Country CountryCode "
    "CreatedBy CurrencyCode CustomerBusinessProblem Duns Email FirstName InvitationMessage LastName ModifiedBy NextSteps "
    "OptimizedAmount OtherSolutionDescription Phone PostalCode PotentialSavingsAmount SavingsAmount SenderAwsAccountId StateOrRegion "
    "StreetAddress TargetMemberAccounts Title TotalAmount TotalAmountByCategory TotalOptimizedAmount TotalPotentialSavingsAmount "
    "WebsiteUrl",
    "payment-cryptography": "CertificateSigningRequest",
    "personalize": "filterExpression tagKey tagValue",
    "personalize-runtime": "metadata",
    "pi": "Description RecommendationDescription RecommendationDetails",
    "pinpoint-email": "Tokens",
    "pipes": "NextToken tags",
    "polly": "Content",
    "proton": "deploymentStatusMessage description displayName outputs schema serviceSpec spec statusMessage templateFile",
    "qbusiness": "authorizationUrl displayName kmsKeyId payload presignedUrl secretsRole tokenUrl",
    "qconnect": "accountNumber action additionalInformation address address1 address2 address3 address4 annotations arguments attributes "
    "attributesInterpolated attributesNotInterpolated billingAddress1 billingAddress2 billingAddress3 billingAddress4 billingCity "
    "billingCountry billingCounty billingPostalCode billingProvince billingState birthDate blockedInputMessaging "
    "blockedOutputsMessaging businessEmailAddress businessName businessPhoneNumber calculatedAttributes caseAttributes category channel "
    "channels city code completion content contentText country county createdAt criteria custom customAttributes data definition "
    "description emailAddress examples exclusionFilters failedRecordReport firstName gender homePhoneNumber id imageIconUrl imageLink "
    "imageUrl inclusionFilters inputSchema inputSchemas inputStrength instruction intent key lastName link mailingAddress1 "
    "mailingAddress2 mailingAddress3 mailingAddress4 mailingCity mailingCountry mailingCounty mailingPostalCode mailingProvince "
    "mailingState maxTokensToSample mediaUrl messageText middleName mobilePhoneNumber name outputFilters outputSchema outputSchemas "
    "outputStrength overrideInputValues partyType pattern phoneNumber postalCode price profileARN profileId province score "
    "shippingAddress1 shippingAddress2 shippingAddress3 shippingAddress4 shippingCity shippingCountry shippingCounty shippingPostalCode "
    "shippingProvince shippingState smallImageIconUrl sound sourceId sourceURL state statusReason stringValue subject suggestedMessages "
    "temperature text threshold title toolResult topK topP type updatedAt url value values",
    "quicksight": "AuthorizationCodeGrantCredentialsSource CalculatedFieldDescription CalculatedFieldName CalculatedFieldSynonyms CellValue "
    "ClientCredentialsSource ColumnDescription ColumnFriendlyName ColumnSynonyms ConditionExpression Constant CustomInstructions "
    "CustomInstructionsString CustomValue DateTimeValues DecimalValues Description DownloadUrl Email EntityDescription EntitySynonyms "
    "Expression FalseyCellValue FalseyCellValueSynonyms FieldValue FilterDescription FilterSynonyms FlowDefinition HierarchyValues "
    "Identity InputPayload InstructionText IntegerValues KnowledgeBaseConfiguration MatchAllValue Maximum Minimum Name NullString "
    "OAuthAuthorizationEndpointUrl OAuthTokenEndpointUrl OnClause OutputPayload OutputStyle ParentValue PasswordButtonXpath "
    "PasswordFieldXpath PlainText Prefix PrimaryOwnerUsername Question ResponseLength S3Uri SingularConstant SqlQuery StarterPrompts "
    "StaticValue StaticValues StringValues Suffix Synonyms Text TokenProviderUrl Tone TruthyCellValue TruthyCellValueSynonyms Username "
    "Value Values WelcomeMessage description promptSummary",
    "rds": "InitQuery LogFileData MasterUserPassword Value",
    "redshift": "Authorization MasterUserPassword",
    "redshift-serverless": "adminUsername",
    "rekognition": "Bytes",
    "repostspace": "allowedDomains channelDescription channelName description name tags",
    "resiliencehub": "tags",
    "resiliencehubv2": "matchExpressions matchLabels tags",
    "resource-explorer-2": "Filters Tags",
    "rolesanywhere": "key value",
    "route53-recovery-readiness": "CrossAccountAuthorizations",
    "route53domains": "AbuseContactEmail AbuseContactPhone AddressLine1 AddressLine2 AdminContact BillingContact City CountryCode Email Fax FirstName "
    "LastName OrganizationName PhoneNumber RegistrantContact State TechContact Value ZipCode",
    "rtbfabric": "certificateAuthorityCertificates clusterApiServerCaCertificateChain",
    "s3": "KMSMasterKeyID KeyId SSEKMSKeyId",
    "sagemaker": "Content",
    "sagemaker-geospatial": "Coordinates NextToken TimeRangeFilter",
    "sagemakertrainingsessionruntime": "sample",
    "secretsmanager": "RandomPassword SecretVersionsToStages",
    "security-ir": "attachmentPresignedUrl body description email fileName ipAddress jobTitle membershipName name title",
    "securityagent": "body inlinePem mfaForwardingAddress sender subject token trustedCaCertificates",
    "servicecatalog": "PortfolioShareToken",
    "ses": "DkimTokens VerificationToken",
    "sesv2": "AdditionalContactEmailAddresses Destination FromEmailAddress Subject Tokens UseCaseDescription WebsiteURL",
    "snowball": "Email PhoneNumber",
    "sns": "PhoneNumber phoneNumbers",
    "socialmessaging": "downloadUrl",
    "ssm": "Configuration Description IPAddress IpAddress OwnerInformation SnapshotDownloadUrl",
    "ssm-quicksetup": "Tags",
    "ssm-sap": "SecretId",
    "stepfunctions": "assignedVariables cause code definition description error input location message output parameters redriveStatusReason "
    "variableReferences",
    "storagegateway": "GatewayNetworkInterfaces",
    "supplychain": "query",
    "taxsettings": "taxRegistrations",
    "timestream-query": "QueryString",
    "transcribe": "DownloadUri",
    "transfer": "Certificate CertificateChain FaviconFile LogoFile MessageSubject OrderedUserSecretVersionStages",
    "trustedadvisor": "updateReason",
    "verifiedpermissions": "actionId actionType clientIds description entityId entityIdPrefix entityType errors groupClaim groupEntityType namespaces "
    "principalEntityType principalIdClaim schema statement",
    "voice-id": "CustomerSpeakerId Description JobName Key Name Value",
    "wafv2": "ChallengeJavascriptSdkInjection TokenDomains",
    "wellarchitected": "Environment additionalContext applicationOverview architectureOverview businessOverview content description displayName "
    "downloadUrl industry title updateReason",
    "wickr": "firstName lastName",
    "wisdom": "attributesInterpolated attributesNotInterpolated channels content criteria failedRecordReport text url values",
    "workdocs": "EmailAddress GivenName Name OriginalName Source Surname Text Thumbnail Username WebUrl",
    "workmail": "City Company Country Department Description DisplayName FirstName Initials JobTitle LastName Office Street Telephone ZipCode",
    "workspaces": "ConnectionString ForgotPasswordLink",
    "workspaces-instances": "NextToken",
    "workspaces-thin-client": "lastUserId name tags",
    "workspaces-web": "Key Value allowedUrls blockedUrls browserPolicy bucket builtInPatternId clientIpAddresses cookieSynchronizationConfiguration "
    "description displayName domain enforcedUrls exemptUrls globalEnforcedUrls globalExemptUrls identityProviderName ipRange ipRules "
    "keyPrefix keywordRegex name path patternDescription patternName patternRegex redactionPlaceHolderText tags termsOfService username",
}
"""Members of replies. The trait `sensitive` marks far more than secrets, and here it marks personal data (names, addresses, telephone numbers),
texts and prompts, places, tags, identifiers and business data, which the caller asked to read. The names of secrets stand here for names,
ARNs and settings of secrets, for public keys and DNS records, for values that AWS itself masks (passwords of `rds`, `dms`, `fsx` and `emr`),
for URLs that download what the caller could read anyway, and for tokens that are worth nothing without a signed request."""

STATEMENTS = {
    "agent-registry": "searchQuery",
    "apigateway": "nameQuery",
    "appsync": "code",
    "athena": "Expression",
    "bedrock-agent": "code expression",
    "bedrock-agentcore": "searchQuery",
    "cloudsearchdomain": "filterQuery query",
    "cloudwatch": "Expression",
    "dynamodb": "FilterExpression KeyConditionExpression ProjectionExpression SearchConditionExpression",
    "gamelift": "FilterExpression SortExpression",
    "geo-places": "QueryText",
    "glue": "Expression PreProcessingQuery PythonScript",
    "iot": "queryString",
    "iottwinmaker": "expression",
    "kendra": "QueryText",
    "logs": "queryString",
    "mturk": "Query",
    "qbusiness": "queryText",
    "qconnect": "queryText retrievalQuery",
    "resource-explorer-2": "QueryString",
    "resource-groups": "Query",
    "s3": "Expression",
    "sdb": "SelectExpression",
    "ssm": "Expression",
    "wisdom": "queryText",
    "workdocs": "Query QueryText SearchQuery",
    "xray": "EntitySelectorExpression FilterExpression",
}
"""Members of requests. Each is a filter, a search text or a `SELECT` in a language that has no statement that writes or sends: S3 Select, AWS
Config, SimpleDB, CloudWatch Logs Insights (queries, no destinations), Metrics Insights, X-Ray, AWS IoT and Resource Explorer. AppSync's
`EvaluateCode` and Glue's `GetDataflowGraph` get code that AWS evaluates without any access."""
