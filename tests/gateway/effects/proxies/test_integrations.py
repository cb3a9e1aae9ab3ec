"""An integration of an API is judged as the call that AWS makes for each request."""

from typing import Any

import pytest

from gateway.effects.proxies.carriers import CARRIERS
from tests.gateway.effects.conftest import ACCOUNT, REGION
from tests.gateway.effects.proxies.conftest import FUNCTION, ROLE, Understand

URI = f"arn:aws:apigateway:{REGION}:lambda:path/2015-03-31/functions/{FUNCTION}/invocations"
FIRST = {"restApiId": "a", "resourceId": "r", "httpMethod": "GET", "integrationHttpMethod": "POST"}


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("apigateway", "PutIntegration", {**FIRST, "type": "AWS_PROXY", "uri": URI, "credentials": ROLE}),
        ("apigatewayv2", "CreateIntegration", {"ApiId": "a", "IntegrationType": "AWS_PROXY", "IntegrationUri": FUNCTION, "CredentialsArn": ROLE}),
        ("apigatewayv2", "UpdateIntegration", {"ApiId": "a", "IntegrationId": "i", "IntegrationType": "AWS_PROXY", "IntegrationUri": URI, "CredentialsArn": ROLE}),
    ],
)  # fmt: skip
def test_a_function_is_invoked(
    understand: Understand, service: str, operation: str, parameters: dict[str, Any]
) -> None:
    (inner,) = understand(service, operation, parameters).inner
    assert (inner.name, inner.role) == ("lambda:Invoke", ROLE)
    assert [effect.address for effect in inner.effects] == ["aws_lambda_function.worker"]


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("apigateway", "PutIntegration", {**FIRST, "type": "MOCK"}),
        ("apigateway", "PutIntegration", {**FIRST, "type": "HTTP_PROXY", "uri": "https://example.com"}),
        ("apigatewayv2", "CreateIntegration", {"ApiId": "a", "IntegrationType": "HTTP_PROXY", "IntegrationUri": "https://example.com"}),
        ("apigatewayv2", "UpdateIntegration", {"ApiId": "a", "IntegrationId": "i", "TimeoutInMillis": 1000}),
    ],
)  # fmt: skip
def test_what_calls_nothing_of_aws_carries_no_call(
    understand: Understand, service: str, operation: str, parameters: dict[str, Any]
) -> None:
    found = understand(service, operation, parameters)
    assert found.inner == ()
    assert "an integration that calls AWS" not in found.not_understood


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("apigateway", "PutIntegration", {**FIRST, "type": "AWS", "uri": f"arn:aws:apigateway:{REGION}:iam:action/CreateUser"}),
        ("apigateway", "PutIntegration", {**FIRST, "type": "AWS", "uri": f"arn:aws:apigateway:{REGION}:sqs:path/{ACCOUNT}/q"}),
        ("apigateway", "PutIntegration", {**FIRST}),
        ("apigatewayv2", "CreateIntegration", {"ApiId": "a", "IntegrationType": "AWS_PROXY", "IntegrationSubtype": "SQS-SendMessage"}),
        ("apigatewayv2", "UpdateIntegration", {"ApiId": "a", "IntegrationId": "i", "IntegrationUri": "https://example.com"}),
        ("apigateway", "PutRestApi", {"restApiId": "a", "body": b"{}"}),
    ],
)  # fmt: skip
def test_every_other_integration_is_held(
    understand: Understand, service: str, operation: str, parameters: dict[str, Any]
) -> None:
    found = understand(service, operation, parameters)
    assert found.effects == ()
    assert "integration" in found.not_understood
    assert (service, operation) in CARRIERS or operation == "PutRestApi"
