"""Resolving endpoints: where calls may go, and where not."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.aws.client.endpoints import Endpoints, simulated_origin
from gateway.core.errors import NotSendable, SettingsInvalid
from gateway.core.model.mutation import Call


def call(service: str, operation: str, region: str = "us-east-1", **parameters: object) -> Call:
    return Call(service=service, operation=operation, parameters=parameters, region=region)


@pytest.fixture(scope="session")
def real(models: Any) -> Endpoints:
    return Endpoints(models=models, regions=("us-east-1", "eu-west-1"))


@pytest.mark.parametrize(
    ("made", "origin", "path", "signing", "region"),
    [
        (call("sqs", "CreateQueue", "eu-west-1"), "https://sqs.eu-west-1.amazonaws.com", "", "sqs", "eu-west-1"),
        (call("iam", "CreateRole", "eu-west-1"), "https://iam.amazonaws.com", "", "iam", "us-east-1"),
        (call("route53", "CreateHostedZone"), "https://route53.amazonaws.com", "", "route53", "us-east-1"),
        (
            call("cloudwatch", "PutMetricAlarm"),
            "https://monitoring.us-east-1.amazonaws.com",
            "",
            "monitoring",
            "us-east-1",
        ),
        (
            call("sts", "GetCallerIdentity"),
            "https://sts.us-east-1.amazonaws.com",
            "",
            "sts",
            "us-east-1",
        ),
        (
            call("stepfunctions", "StartSyncExecution"),
            "https://sync-states.us-east-1.amazonaws.com",
            "",
            "states",
            "us-east-1",
        ),
        (call("s3", "PutObject", Bucket="orders"), "https://orders.s3.us-east-1.amazonaws.com", "", "s3", "us-east-1"),
        (
            call("s3", "CreateBucket", Bucket="orders"),
            "https://orders.s3.us-east-1.amazonaws.com",
            "",
            "s3",
            "us-east-1",
        ),
        (call("s3", "PutObject", Bucket="a.b"), "https://s3.us-east-1.amazonaws.com", "/a.b", "s3", "us-east-1"),
        (call("s3", "ListBuckets"), "https://s3.us-east-1.amazonaws.com", "", "s3", "us-east-1"),
        (
            call("s3control", "CreateAccessPoint", AccountId="123456789012"),
            "https://123456789012.s3-control.us-east-1.amazonaws.com",
            "",
            "s3",
            "us-east-1",
        ),
    ],
)
def test_aws_rules_choose_the_host(
    real: Endpoints, made: Call, origin: str, path: str, *, signing: str, region: str
) -> None:
    found = real.of(made)
    assert (found.origin, found.path, found.signing_name, found.region) == (origin, path, signing, region)
    assert found.origin == f"https://{found.host}"


def test_reads_of_s3_go_by_path_and_share_one_endpoint(real: Endpoints) -> None:
    one = real.of_read(call("s3", "GetBucketLifecycleConfiguration", Bucket="orders"))
    other = real.of_read(call("s3", "GetBucketLifecycleConfiguration", Bucket="evil.com/#"))
    assert one is other
    assert (one.origin, one.path, one.signing_name) == ("https://s3.us-east-1.amazonaws.com", "", "s3")


def test_the_simulated_aws_stands_for_every_host_and_signs_as_the_real_one(models: Any) -> None:
    endpoints = Endpoints(models=models, regions=("us-east-1",), simulated="http://127.0.0.1:5555/")
    for made, signing in (
        (call("stepfunctions", "StartSyncExecution"), "states"),
        (call("s3", "CreateBucket", Bucket="orders"), "s3"),
        (call("iam", "CreateRole"), "iam"),
    ):
        found = endpoints.of(made)
        assert (found.origin, found.host, found.path, found.signing_name) == (
            "http://127.0.0.1:5555",
            "127.0.0.1:5555",
            "",
            signing,
        )


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:5555",
        "http://127.8.9.10",
        "http://localhost:5555/",
        "https://[::1]:5555",
    ],
)
def test_a_simulated_aws_may_be_on_loopback(url: str) -> None:
    assert simulated_origin(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1:5555",
        "http://169.254.169.254",
        "http://0.0.0.0:5555",
        "http://moto:5555",
        "http://127.0.0.1.evil.com",
        "http://localhost.evil.com",
        "http://127.0.0.1@evil.com",
        "http://evil.com@127.0.0.1",
        "http://evil.com#@127.0.0.1",
        "http://127.0.0.1/path",
        "http://127.0.0.1?x",
        "http://127.0.0.1#x",
        "http://127.0.0.1:x",
        "http://127.0.0.1:0",
        "http://127.0.0.1:99999",
        "http://2130706433",
        "http://0x7f000001",
        "http://127.1",
        "http://[::ffff:10.0.0.1]",
        "ftp://127.0.0.1",
        "127.0.0.1:5555",
        "//127.0.0.1",
        "http://",
        "http://127.0.0.1\\@evil.com",
        "http://loc\u212bl",
        "",
    ],
)
def test_a_simulated_aws_may_be_nowhere_else(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="this machine"):
        simulated_origin(url)


HOSTILE = [
    "evil.com/#",
    "evil.com",
    "a.evil.com#",
    "a@b",
    "a:80",
    "a/b",
    "a?b",
    "..",
    "",
    " ",
    "a b",
    "ａ",
    "a\r\nHost: b",
    "%2e",
    "-",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_no_account_id_changes_the_domain(real: Endpoints, value: str) -> None:
    for made in (
        call("s3control", "CreateAccessPoint", AccountId=value),
        call("kinesis", "DeleteStream", StreamARN=f"arn:aws:kinesis:us-east-1:{value}:stream/x"),
    ):
        _goes_to_aws_or_nowhere(real, made)


@pytest.mark.parametrize(
    "value",
    [*HOSTILE, f"arn:aws:s3:us-east-1:123456789012:accesspoint/{HOSTILE[0]}", "arn:aws:s3:evil.com/#:1:accesspoint/a"],
)
def test_no_bucket_changes_the_domain(real: Endpoints, value: str) -> None:
    _goes_to_aws_or_nowhere(real, call("s3", "PutObject", Bucket=value))


@pytest.mark.parametrize("value", HOSTILE)
def test_no_modelled_host_prefix_changes_the_domain(real: Endpoints, models: Any, value: str) -> None:
    operation = models.operation("servicediscovery", "DiscoverInstances")
    assert operation.endpoint["hostPrefix"] == "data-"
    _goes_to_aws_or_nowhere(real, call("iot-data", "Publish", topic=value))
    _goes_to_aws_or_nowhere(real, call("mediastore-data", "PutObject", Path=value))


@pytest.mark.parametrize("region", [*HOSTILE, "us-west-1", "us-east-1.evil.com", "aws-global", "US-EAST-1"])
def test_no_region_but_those_allowed(real: Endpoints, region: str) -> None:
    for find in (real.of, real.of_read):
        with pytest.raises(NotSendable, match="region"):
            find(call("sqs", "CreateQueue", region))


@given(bucket=st.text(max_size=70))
def test_whatever_the_bucket_the_host_is_one_of_aws(real: Endpoints, bucket: str) -> None:
    _goes_to_aws_or_nowhere(real, call("s3", "PutObject", Bucket=bucket))


def _goes_to_aws_or_nowhere(endpoints: Endpoints, made: Call) -> None:
    for find in (endpoints.of, endpoints.of_read):
        try:
            found = find(made)
        except NotSendable:
            continue
        assert found.origin == f"https://{found.host}"
        assert found.host.endswith((".amazonaws.com", ".api.aws"))
        assert set(found.host) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")


@pytest.mark.parametrize(
    "made",
    [
        call("events", "PutEvents", EndpointId="abc.def"),
        call("s3", "PutObject", Bucket="arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap"),
    ],
)
def test_what_needs_another_signature_is_not_sendable(real: Endpoints, made: Call) -> None:
    with pytest.raises(NotSendable):
        real.of(made)


@pytest.mark.parametrize("operation", ["BatchGetItem", "TransactGetItems", "Query", "BatchWriteItem"])
def test_a_call_whose_parameters_are_not_parsed_has_an_endpoint(real: Endpoints, operation: str) -> None:
    """Reads are forwarded unparsed, also those for which botocore looks for a list of resources in the parameters."""
    assert real.of(call("dynamodb", operation)).origin == "https://dynamodb.us-east-1.amazonaws.com"


_STREAM = "arn:aws:kinesis:us-east-1:{}:stream/x"
OF_PARAMETERS = [
    ("kinesis", "DeleteStream", {"StreamARN": _STREAM}),
    ("kinesis", "DeleteStream", {"StreamARN": _STREAM, "EnforceConsumerDeletion": True}),
    ("s3control", "CreateAccessPoint", {"AccountId": "{}", "Name": "a", "Bucket": "b"}),
    ("s3control", "DeleteBucket", {"AccountId": "{}", "Bucket": "arn:aws:s3-outposts:us-east-1:{}:outpost/op-1/bucket/b"}),
    ("dynamodb", "PutItem", {"TableName": "arn:aws:dynamodb:us-east-1:{}:table/t", "Item": {"id": {"S": "1"}}}),
    ("dynamodb", "BatchWriteItem", {"RequestItems": {"arn:aws:dynamodb:us-east-1:{}:table/t": []}}),
    ("events", "PutEvents", {"Entries": [{"Source": "{}"}]}),
]  # fmt: skip


def _filled(value: Any, account: str) -> Any:
    match value:
        case str():
            return value.format(account)
        case dict():
            return {_filled(name, account): _filled(item, account) for name, item in value.items()}
        case list():
            return [_filled(item, account) for item in value]
        case _:
            return value


@pytest.mark.parametrize(("service", "operation", "parameters"), OF_PARAMETERS)
def test_an_endpoint_that_is_remembered_is_that_of_the_parameters(
    real: Endpoints, models: Any, service: str, operation: str, parameters: dict[str, Any]
) -> None:
    """Whatever was asked for before, by whom: the rules see the whole call here and what is remembered there."""
    for account in ("111111111111", "222222222222", "111111111111", "1" * 600):
        made = call(service, operation, **_filled(parameters, account))
        try:
            expected = real._resolve(made, models.operation(service, operation), made.parameters)
        except NotSendable:
            with pytest.raises(NotSendable):
                real.of(made)
            continue
        assert real.of(made) == real.of(made) == expected


def test_endpoints_are_remembered_by_short_texts_only(models: Any) -> None:
    real = Endpoints(models=models, regions=("us-east-1",))
    for value in ("a" * 600, ["a"], None, 7):
        with suppress(NotSendable):
            real.of(call("dynamodb", "PutItem", TableName=value))
    assert real._by_values.cache_info().currsize == 0
    real.of(call("dynamodb", "PutItem", TableName="a", Item={}))
    real.of(call("dynamodb", "PutItem", TableName="a"))
    assert real._by_values.cache_info() == (1, 1, 1024, 1)


def test_a_region_that_is_not_allowed_is_refused_whatever_is_remembered(models: Any) -> None:
    made = call("dynamodb", "PutItem", "eu-west-1", TableName="a")
    assert Endpoints(models=models, regions=("eu-west-1",)).of(made).region == "eu-west-1"
    with pytest.raises(NotSendable, match="not one that this gateway may call"):
        Endpoints(models=models, regions=("us-east-1",)).of(made)
