"""Tells the reads that may return what is in an S3 object or a DynamoDB item: those of S3 and DynamoDB, and of services that fetch objects.

The second group is reviewed: of the reads whose parameters name a bucket, an S3 object or the URL of a template, those that fetch it.
`tests/gateway/aws/models/test_object_reads.py` fails when botocore has one that nobody looked at.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

STORES: Final = frozenset({"s3", "s3control", "dynamodb", "dynamodbstreams"})
"""Services of which every read is looked at."""
FETCHING: Final[Mapping[str, frozenset[str]]] = {
    "bedrock-agent": frozenset({"GetKnowledgeBaseDocuments", "ValidateFlowDefinition"}),
    "bedrock-runtime": frozenset({"CountTokens"}),
    "cloudformation": frozenset({"EstimateTemplateCost", "GetTemplateSummary", "ValidateTemplate"}),
    "codedeploy": frozenset({"BatchGetApplicationRevisions", "GetApplicationRevision", "ListApplicationRevisions"}),
    "glue": frozenset({"GetMapping", "GetPlan"}),
    "rekognition": frozenset(
        {
            *("CompareFaces", "DetectFaces", "DetectLabels", "DetectModerationLabels", "DetectProtectiveEquipment"),
            *("DetectText", "RecognizeCelebrities", "SearchFacesByImage", "SearchUsersByImage"),
        }
    ),
    "taxsettings": frozenset({"GetTaxRegistrationDocument"}),
    "textract": frozenset({"AnalyzeDocument", "AnalyzeExpense", "AnalyzeID", "DetectDocumentText"}),
}
"""Reads of other services that fetch the object which they name, or write one."""
HARMLESS: Final[Mapping[str, frozenset[str]]] = {
    "ec2": frozenset({"GetFlowLogsIntegrationTemplate"}),
    "greengrassv2": frozenset({"GetComponentVersionArtifact"}),
    "iot": frozenset({"GetBucketsAggregation"}),
    "lightsail": frozenset({"GetBucketMetricData", "GetBuckets"}),
    "macie2": frozenset({"SearchResources"}),
    "omics": frozenset({"GetS3AccessPolicy"}),
    "s3files": frozenset({"ListFileSystems"}),
    "securityhub": frozenset({"GetFindings"}),
    "ssm": frozenset({"GetDeployablePatchSnapshotForInstance"}),
}
"""Reads whose parameters only sound like it: filters, options, buckets of other kinds. `s3tables` and `s3vectors` have buckets of their own."""


@lru_cache(maxsize=4096)
def may_fetch(service: str, operation: str) -> bool:
    """Whether the read may return what is in an object or an item."""
    return service in STORES or operation in FETCHING.get(service, ())
