"""The stub: it reads requests as the gateway does, and answers in the protocol of the operation with what the requests said."""

import json

from gateway.core.service_models import ServiceModels
from tests.tools.effects_tracing.answer_encoding import cbor
from tests.tools.effects_tracing.request_reader import RequestReader
from tests.tools.effects_tracing.stub import Stub


def headers(service: str, *, signing: str = "", **more: str) -> tuple[tuple[str, str], ...]:
    """Headers of a request to a service, in the form of a signed one; nobody verifies the signature."""
    given = {"host": f"{service}.aws.test", "x-amz-date": "20260102T030405Z", "x-amz-content-sha256": "b" * 64}
    given |= {name.replace("_", "-"): value for name, value in more.items()}
    scope = f"AKIAMARKERMARKER0001/20260102/us-east-1/{signing or service}/aws4_request"
    signed = ";".join(sorted(given))
    given["authorization"] = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={signed}, Signature={'a' * 64}"
    return tuple(given.items())


JSON_1_0 = {"content_type": "application/x-amz-json-1.0"}


def test_a_request_is_recorded_with_its_operation_and_parameters() -> None:
    stub = Stub()
    asked = headers("sqs", x_amz_target="AmazonSQS.CreateQueue", **JSON_1_0)
    stub.answer("POST", "http://sqs.aws.test/", asked, b'{"QueueName": "mk0a1b2c"}')
    (request,) = stub.requests
    assert (request.service, request.operation, request.parameters) == ("sqs", "CreateQueue", {"QueueName": "mk0a1b2c"})
    assert request.changes


def test_a_request_that_the_gateway_would_refuse_is_recorded_with_the_reason() -> None:
    stub = Stub()
    answer = stub.answer(
        "POST", "http://sqs.aws.test/", headers("sqs", x_amz_target="AmazonSQS.NoSuch", **JSON_1_0), b"{}"
    )
    assert answer.status == 400
    assert stub.requests[0].problem
    assert not stub.requests[0].changes


def test_an_answer_repeats_what_the_change_said() -> None:
    stub = Stub()
    body = b'{"name": "mk0a1b2c", "roleArn": "arn:aws:iam::1:role/r", "definition": "{}"}'
    target = {"x_amz_target": "AWSStepFunctions.CreateStateMachine", **JSON_1_0}
    stub.answer("POST", "/", headers("stepfunctions", signing="states", **target), body)
    described = {"x_amz_target": "AWSStepFunctions.DescribeStateMachine", **JSON_1_0}
    asked = b'{"stateMachineArn": "arn:aws:states:us-east-1:1:stateMachine:m"}'
    said = json.loads(stub.answer("POST", "/", headers("stepfunctions", signing="states", **described), asked).body)
    assert said["name"] == "mk0a1b2c"
    assert said["stateMachineArn"] == "arn:aws:states:us-east-1:1:stateMachine:m"
    assert said["status"] == "ACTIVE"


def test_nothing_is_found_after_a_delete_and_before_a_create() -> None:
    stub = Stub()
    read = headers("sqs", x_amz_target="AmazonSQS.GetQueueUrl", **JSON_1_0)
    stub.begin(absent=True)
    assert b"NotExist" in stub.answer("POST", "/", read, b'{"QueueName": "q"}').body
    stub.begin(deleting=True)
    assert stub.answer("POST", "/", read, b'{"QueueName": "q"}').status == 200
    stub.answer(
        "POST", "/", headers("sqs", x_amz_target="AmazonSQS.DeleteQueue", **JSON_1_0), b'{"QueueUrl": "https://u"}'
    )
    assert stub.answer("POST", "/", read, b'{"QueueName": "q"}').status == 404


def test_a_waiter_gets_the_status_that_it_wants() -> None:
    stub = Stub()
    stub.begin(status="UPDATING")
    described = headers("dynamodb", x_amz_target="DynamoDB_20120810.DescribeTable", **JSON_1_0)
    answer = stub.answer("POST", "/", described, b'{"TableName": "t"}')
    assert json.loads(answer.body)["Table"]["TableStatus"] == "UPDATING"


def test_xml_protocols_are_answered_in_xml() -> None:
    stub = Stub()
    form = {"content_type": "application/x-www-form-urlencoded"}
    body = b"Action=CreateVpc&Version=2016-11-15&CidrBlock=10.0.0.0%2F16"
    answer = stub.answer("POST", "/", headers("ec2", **form), body)
    assert b"<cidrBlock>10.0.0.0/16</cidrBlock>" in answer.body
    body = b"Action=CreateTopic&Version=2010-03-31&Name=mk0a1b2c"
    assert b"<CreateTopicResult><TopicArn>arn:aws:sns:" in stub.answer("POST", "/", headers("sns", **form), body).body


def test_bodies_in_chunks_are_read_as_what_they_hold() -> None:
    reader = RequestReader(ServiceModels())
    signature = "c" * 64
    chunks = f"6;chunk-signature={signature}\r\nmarker\r\n0;chunk-signature={signature}\r\n\r\n".encode()
    sent = headers(
        "s3",
        x_amz_content_sha256="STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
        x_amz_decoded_content_length="6",
        content_encoding="aws-chunked",
        content_length=str(len(chunks)),
    )
    request = reader.read("PUT", "http://s3.aws.test/bucket/key", sent, chunks)
    assert (request.operation, request.problem) == ("PutObject", "")
    assert request.parameters["Body"] == b"marker"


def test_cbor_has_the_forms_of_its_standard() -> None:
    assert cbor({"a": [1, -1, 300, True, None, 1.5]}).hex() == "a161618601201 9012cf5f6fb3ff8000000000000".replace(
        " ", ""
    )
