"""AWS's reply as JSON; an unreadable reply is None, because the change is already settled."""

import pytest

from gateway.doors.api.response import reply_to_json
from gateway.model.outcome import Reply
from gateway.service_models import ServiceModels


@pytest.fixture(scope="module")
def models() -> ServiceModels:
    return ServiceModels()


def _reply(body: bytes, status: int = 200) -> Reply:
    return Reply(status=status, headers=(("Content-Type", "application/x-amz-json-1.1"),), body=body)


@pytest.mark.parametrize(
    ("service", "operation", "body", "value"),
    [
        ("logs", "PutRetentionPolicy", b"", {}),
        ("logs", "PutDestination", b'{"destination": {"arn": "a", "creationTime": 1}}', {"destination": {"arn": "a", "creationTime": 1}}),
        ("sns", "CreateTopic", b"<CreateTopicResponse><CreateTopicResult><TopicArn>t</TopicArn></CreateTopicResult></CreateTopicResponse>", {"TopicArn": "t"}),
        ("kms", "CreateKey", b'{"KeyMetadata": {"CreationDate": 0}}', {"KeyMetadata": {"CreationDate": "1970-01-01T00:00:00Z"}}),
        ("sns", "CreateTopic", b"<html", None),
        ("logs", "PutDestination", b'{"destination": 3}', None),
    ],
)  # fmt: skip
def test_it_is_json_or_nothing(models: ServiceModels, service: str, operation: str, body: bytes, value: object) -> None:
    found = reply_to_json(models.operation(service, operation), _reply(body))
    if service == "kms":
        assert "1970-01-01T00:00:00" in str(found)
    else:
        assert found == value
