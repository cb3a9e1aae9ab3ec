"""The operations of the data plane that name no resource which Terraform could declare, so no stack's settings are about them."""

WITHOUT_RESOURCE = frozenset(
    {
        ("cloudwatch", "PutMetricData"),
        ("xray", "PutTelemetryRecords"),
        ("xray", "PutTraceSegments"),
    }
)
"""(botocore service, operation). They have no effect, so as a mutation each is held for a human."""
