"""No request to `/v1`, however odd, is answered with a server error: generated calls of every route, over a whole gateway."""

import json
import ssl
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MOMENTS = [
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-12:00",
    "9999-12-31T23:59:59.999999Z",
    "2026-01-01T00:00:00+23:59",
    "2026-01-01T00:00:00-23:59:59",
    "2026-02-30T00:00:00Z",
    "2026-01-01T00:00:00",
    "-62135596801",
    "253402300800",
    "1e300",
    "NaN",
    "",
]
TEXT = st.one_of(
    st.text(max_size=40), st.sampled_from(["\x00", "%", "\ud7ff", "\U0010ffff", "a" * 5000, "..", "/", "_%"])
)
MOMENT = st.one_of(st.sampled_from(MOMENTS), st.datetimes().map(lambda at: f"{at.isoformat()}+14:00"), TEXT)
NUMBER = st.one_of(st.integers().map(str), st.floats().map(str), TEXT, st.just("9" * 5000))
QUERIES: dict[str, dict[str, st.SearchStrategy[str]]] = {
    "/v1/records": {
        **dict.fromkeys(
            ("actor", "intent", "motivation", "resource", "verdict", "stage", "key", "refused", "no_evidence"), TEXT
        ),
        **dict.fromkeys(("since", "until"), MOMENT),
        **dict.fromkeys(("after_seq", "limit"), NUMBER),
    },
    "/v1/claims": dict.fromkeys(("address", "actor", "every"), TEXT),
    "/v1/resources": {**dict.fromkeys(("q", "arn", "type", "stack", "after"), TEXT), "limit": NUMBER},
    "/v1/context": {**dict.fromkeys(("address", "attribute"), TEXT), "max_age_seconds": NUMBER},
    "/v1/history": {
        **dict.fromkeys(("address", "attribute"), TEXT),
        **dict.fromkeys(("after_seq", "before_seq", "limit"), NUMBER),
    },
    "/v1/drift": dict.fromkeys(("stack", "cause"), TEXT),
    "/v1/blame": dict.fromkeys(("address", "attribute"), TEXT),
    "/v1/holds": {"state": TEXT, "limit": NUMBER},
}
POSTS = [
    "/v1/mutations",
    "/v1/sessions",
    "/v1/mutations/{}/approve",
    "/v1/mutations/{}/reject",
    "/v1/mutations/{}/release",
    "/v1/mutations/{}/settle",
]
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)
WHEN = st.one_of(MOMENT, st.integers(), st.floats(), st.integers(-(10**20), 10**20))
PARAMETERS: list[tuple[str, str, st.SearchStrategy[Any]]] = [
    (
        "autoscaling",
        "PutScheduledUpdateGroupAction",
        st.fixed_dictionaries(
            {"AutoScalingGroupName": TEXT, "ScheduledActionName": TEXT},
            optional={"StartTime": WHEN, "EndTime": WHEN, "DesiredCapacity": st.one_of(JSON, st.integers())},
        ),
    ),
    (
        "autoscaling",
        "SetDesiredCapacity",
        st.fixed_dictionaries({"AutoScalingGroupName": st.one_of(st.just(ASG), TEXT), "DesiredCapacity": JSON}),
    ),
    ("sqs", "SetQueueAttributes", st.fixed_dictionaries({"QueueUrl": TEXT, "Attributes": JSON})),
    (
        "ec2",
        "AuthorizeSecurityGroupIngress",
        st.fixed_dictionaries({"GroupId": TEXT}, optional={"IpPermissions": JSON, "CidrIp": TEXT, "FromPort": JSON}),
    ),
    (
        "cloudwatch",
        "PutMetricAlarm",
        st.fixed_dictionaries({"AlarmName": TEXT}, optional={"Threshold": JSON, "AlarmActions": JSON, "Metrics": JSON}),
    ),
    ("lambda", "UpdateFunctionConfiguration", st.fixed_dictionaries({"FunctionName": TEXT, "Environment": JSON})),
    ("dynamodb", "PutItem", st.fixed_dictionaries({"TableName": TEXT, "Item": JSON})),
    ("s3", "PutObject", st.fixed_dictionaries({"Bucket": TEXT, "Key": TEXT}, optional={"Body": TEXT, "Expires": WHEN})),
]
FEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


_PLAIN = ssl.SSLContext(
    ssl.PROTOCOL_TLS_CLIENT
)  # reading the system's certificates for each client takes longer than the request


def _client(gate: Gate, actor: str = "human") -> httpx.Client:
    return httpx.Client(base_url=gate.url, headers=gate.bearer(actor), timeout=300, verify=_PLAIN)


def _is_no_server_error(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"].startswith("application/problem+json"), answer.text
        assert answer.json()["detail"].endswith("."), answer.text


def _post(client: httpx.Client, path: str, body: bytes, key: str | None = None) -> httpx.Response:
    headers = {"content-type": "application/json", **({} if key is None else {"idempotency-key": key})}
    return client.post(path, content=body, headers=headers)


@pytest.mark.parametrize("path", QUERIES)
@FEW
@given(data=st.data())
def test_no_query_breaks_a_route(gate: Gate, path: str, data: st.DataObject) -> None:
    given_query = data.draw(st.fixed_dictionaries({}, optional=QUERIES[path]))
    with _client(gate) as client:
        _is_no_server_error(client.get(path, params=given_query))


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", ["since", "until"])
def test_no_edge_of_the_calendar_breaks_a_query(gate: Gate, name: str, moment: str) -> None:
    with _client(gate) as client:
        _is_no_server_error(client.get("/v1/records", params={name: moment}))


@pytest.mark.parametrize("path", POSTS)
@FEW
@given(
    mutation=st.text(max_size=30),
    body=JSON,
    key=st.one_of(st.none(), st.from_regex(r"([!-~]([ -~]{0,298}[!-~])?)?", fullmatch=True)),
)
@example(mutation="x", body={"lasts": "99999999w"}, key=None)
@example(mutation="x", body={"reason": "a" * 10_000}, key="")
def test_no_body_breaks_a_route(gate: Gate, path: str, mutation: str, body: Any, key: str | None) -> None:
    with _client(gate) as client:
        target = path.format(quote(mutation, safe=""))
        _is_no_server_error(_post(client, target, json.dumps(body).encode("utf-8", "surrogatepass"), key))


@FEW
@given(raw=st.binary(max_size=60))
@example(raw=b"\xff\xfe")
@example(raw=b"[" * 10_000)
@example(raw=b'{"a":' + b"9" * 5000 + b"}")
def test_no_bytes_break_a_route(gate: Gate, raw: bytes) -> None:
    with _client(gate) as client:
        for path in ("/v1/mutations", "/v1/sessions", "/v1/mutations/mut_x/approve"):
            _is_no_server_error(_post(client, path, raw))


@pytest.mark.parametrize("case", range(len(PARAMETERS)), ids=lambda case: PARAMETERS[case][1])
@pytest.mark.parametrize("actor", ["agent", "human"])
@FEW
@given(data=st.data())
def test_no_parameter_breaks_a_proposal(gate: Gate, case: int, actor: str, data: st.DataObject) -> None:
    service, operation, parameters = PARAMETERS[case]
    proposal = {"service": service, "operation": operation, "parameters": data.draw(parameters), "dry_run": True}
    with _client(gate, actor) as client:
        _is_no_server_error(_post(client, "/v1/mutations", json.dumps(proposal).encode("utf-8", "surrogatepass")))


@pytest.mark.parametrize("name", ["q" * 3_000, "ü" * 1_500, "q" * 100_000])
def test_a_long_name_is_refused_in_words(gate: Gate, name: str) -> None:
    proposal = {"service": "sqs", "operation": "DeleteQueue", "parameters": {"QueueUrl": f"https://sqs/1/{name}"}}
    with _client(gate, "agent") as client:
        _is_no_server_error(_post(client, "/v1/mutations", json.dumps(proposal).encode()))
