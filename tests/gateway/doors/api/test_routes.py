"""The JSON API through a running gateway: who may do what on which route, and every mistake as a problem document."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from gateway.core.records.record import Stage
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

PARAMETERS = {"AutoScalingGroupName": ASG, "DesiredCapacity": 6}
MOTIVE = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}
PROPOSAL = {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": PARAMETERS, "motive": MOTIVE}
HELD = {**PROPOSAL, "service": "events", "operation": "CancelReplay", "parameters": {"ReplayName": "n"}}  # fmt: skip
ADDRESS = "aws_autoscaling_group.kafka_consumer"


def _held() -> dict[str, Any]:
    """A call of its own each time, so that no consent to an earlier one lets it through."""
    return {**HELD, "parameters": {"ReplayName": f"n-{uuid4()}"}}


def ask(gate: Gate, method: str, path: str, actor: str | None, body: Any = None, **more: Any) -> httpx.Response:
    """One request of an actor; None for no key."""
    headers = {**(gate.bearer(actor) if actor else {}), **more.pop("headers", {})}
    return httpx.request(method, f"{gate.url}{path}", headers=headers, json=body, **more)


def propose(gate: Gate, body: Any = None, actor: str = "agent") -> str:
    """A proposal; the id of its mutation."""
    return str(ask(gate, "POST", "/v1/mutations", actor, body or PROPOSAL).json()["mutation"]["id"])


MATRIX: list[tuple[str, str, Any, tuple[Any, ...]]] = [
    # method, path, body, (no key, the agent whose mutation it is, another agent, a human)
    ("POST", "/v1/mutations", {**PROPOSAL, "dry_run": True}, (401, 200, 200, 200)),
    ("GET", "/v1/mutations", None, (401, 200, 200, 200)),
    ("GET", "/v1/activity", None, (401, 403, 403, 200)),
    ("GET", "/v1/activity?actor=agent", None, (401, 200, 403, 200)),
    ("GET", "/v1/keys?actor=agent", None, (401, 200, 403, 200)),
    ("GET", "/v1/mutations/{held}", None, (401, 200, 404, 200)),
    ("GET", "/v1/mutations/mut_none", None, (401, 404, 404, 404)),
    ("GET", "/v1/mutations/{held}/explanation", None, (401, 200, 404, 200)),
    ("GET", "/v1/mutations/{applied}/undo", None, (401, 200, 404, 200)),
    ("GET", "/v1/verification", None, (401, 403, 403, 200)),
    ("POST", "/v1/verification", {}, (401, 403, 403, 200)),
    ("POST", "/v1/mutations/{held}/approve", None, (401, 403, 403, 200)),
    ("POST", "/v1/mutations/{held}/reject", {"reason": "No."}, (401, 403, 403, 200)),
    ("POST", "/v1/mutations/{held}/break-glass", {"reason": "INC-7"}, (401, 403, 403, 403)),
    ("POST", "/v1/mutations/{applied}/release", None, (401, 200, {403, 404}, 200)),
    ("POST", "/v1/mutations/{applied}/extend", {"lasts": "1h"}, (401, 404, 404, 404)),
    ("POST", "/v1/mutations/{applied}/end", None, (401, 404, 404, 404)),
    ("POST", "/v1/mutations/{applied}/put-back", None, (401, 403, 403, 403)),
    ("POST", "/v1/mutations/{applied}/settle", {"outcome": "failed", "reason": "I saw it."}, (401, 403, 403, 403)),
    ("POST", "/v1/sessions", {"motive": MOTIVE}, (401, 200, 200, 200)),
    ("POST", "/v1/credentials", {}, (401, 200, 200, 200)),
    ("GET", "/v1/records", None, (401, 200, 200, 200)),
    ("GET", "/v1/claims", None, (401, 200, 200, 200)),
    ("GET", "/v1/holds", None, (401, 200, 200, 200)),
    ("GET", "/v1/left", None, (401, 200, 200, 200)),
    ("GET", "/v1/drift", None, (401, 403, 403, 200)),
    ("POST", "/v1/drift/drift_none/decide", {"action": "codify", "reason": "It is right."}, (401, 403, 403, 404)),
    ("GET", "/v1/heal/report", None, (401, 403, 403, 200)),
    ("GET", "/v1/signals", None, (401, 403, 403, 200)),
    # A source has no key: its message proves itself.
    ("POST", "/v1/signals/no_source", {}, (401, 401, 401, 401)),
    ("POST", "/v1/plans", {"changes": []}, (401, 200, 200, 200)),
    ("DELETE", "/v1/plans/mut_none/session", {}, (401, 404, 404, 404)),
    ("POST", "/v1/stops", {"scope": "all", "reason": "Stop."}, (401, 403, 403, 403)),
    ("GET", "/v1/stops", None, (401, 200, 200, 200)),
    ("DELETE", "/v1/stops/stp_none", None, (401, 403, 403, 403)),
    ("POST", "/v1/replay", {"limit": 1}, (401, 403, 403, 200)),
    ("GET", "/v1/playground/files", None, (401, 403, 403, 200)),
    ("GET", "/v1/playground/file?path=data/priorities.json", None, (401, 403, 403, 200)),
    ("POST", "/v1/playground", {}, (401, 403, 403, 200)),
    ("GET", "/v1/policy", None, (401, 200, 200, 200)),
    ("GET", "/v1/policy/rules/rule_none", None, (401, 403, 403, 404)),
    ("GET", "/v1/policy/numbers", None, (401, 403, 403, 200)),
    ("GET", "/v1/policy/contest", None, (401, 403, 403, 200)),
    ("GET", "/v1/map", None, (401, 200, 200, 200)),
    ("GET", "/v1/mutations/mut_none/asked", None, (401, 403, 403, 404)),
    ("GET", "/v1/budgets", None, (401, 200, 200, 200)),
    ("POST", "/v1/budgets/actor_none/reset", {"reason": "Mended."}, (401, 403, 403, 403)),
    # This gateway has no chat.
    ("GET", "/v1/chat/links", None, (401, 404, 404, 404)),
    ("POST", "/v1/chat/links", {"user": "U1"}, (401, 404, 404, 404)),
    ("DELETE", "/v1/chat/links/user_none", None, (401, 404, 404, 404)),
    ("GET", "/v1/deliveries", None, (401, 403, 403, 200)),
    ("POST", "/v1/deliveries/resend", {"receiver": "ops", "id": "rec_1_ab"}, (401, 403, 403, 403)),
    ("GET", "/v1/resources?q=kafka", None, (401, 200, 200, 200)),
    ("GET", f"/v1/context?address={ADDRESS}", None, (401, 200, 200, 200)),
    ("GET", f"/v1/history?address={ADDRESS}", None, (401, 200, 200, 200)),
    ("GET", f"/v1/blame?address={ADDRESS}&attribute=desired_capacity", None, (401, 200, 200, 200)),
]


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: f"{row[0]} {row[1]}")
@pytest.mark.parametrize("who", range(4), ids=["no key", "owner", "other agent", "human"])
def test_who_may_do_what(gate: Gate, row: tuple[str, str, Any, tuple[Any, ...]], who: int) -> None:
    method, path, body, expected = row
    named = path.format(held=propose(gate, _held()), applied=propose(gate)) if "{" in path else path
    if "blame" in path:
        propose(gate)
    reply = ask(gate, method, named, (None, "agent", "rival", "human")[who], body)
    allowed = expected[who] if isinstance(expected[who], set) else {expected[who]}
    assert reply.status_code in allowed, reply.text
    if reply.status_code >= 400:
        assert reply.headers["content-type"] == "application/problem+json"
    if reply.status_code == 401:
        assert reply.headers["www-authenticate"] == "Bearer"


UNKEYED = {("POST", "/v1/signals/{source}")}
"""Routes of the matrix whose requests carry a proof of their own instead of a key."""


def test_no_route_is_forgotten(gate: Gate) -> None:
    schema = httpx.get(f"{gate.url}/v1/openapi.json").json()
    routes = {(method.upper(), path) for path, methods in schema["paths"].items() for method in methods}
    known = {(row[0], row[1].partition("?")[0].replace("held", "mutation_id").replace("applied", "mutation_id").replace("mut_none", "{mutation_id}").replace("drift_none", "{drift_id}").replace("no_source", "{source}").replace("stp_none", "{stop_id}").replace("actor_none", "{actor}").replace("user_none", "{user}").replace("rule_none", "{rule}")) for row in MATRIX}  # fmt: skip
    assert routes == known | {("GET", "/readyz"), ("POST", "/v1/run-tasks/hcp"), ("POST", "/v1/chat/slack")}
    for path, header in {"/v1/run-tasks/hcp": "X-Tfc-Task-Signature", "/v1/chat/slack": "X-Slack-Signature"}.items():
        signed = schema["paths"][path]["post"]
        assert "security" not in signed
        assert signed["parameters"][0]["name"] == header
    for method, path in known:
        operation = schema["paths"][path][method.lower()]
        assert operation.get("security") == (None if (method, path) in UNKEYED else [{"HTTPBearer": []}])
        assert operation["summary"]
    assert "requestBody" in schema["paths"]["/v1/sessions"]["post"]


def test_the_description_names_the_idempotency_key(gate: Gate) -> None:
    parameters = httpx.get(f"{gate.url}/v1/openapi.json").json()["paths"]["/v1/mutations"]["post"]["parameters"]
    assert [(each["name"], each["in"], each["required"]) for each in parameters] == [
        ("Idempotency-Key", "header", False)
    ]


def test_authentication_precedes_parsing(gate: Gate) -> None:
    before = len(gate.records(stage=Stage.TURNED_AWAY))
    for path in ("/v1/mutations/x/approve", "/v1/mutations/x/reject", "/v1/sessions", "/v1/mutations"):
        assert httpx.post(f"{gate.url}{path}", content=b"{" * 100_000).status_code == 401
    assert httpx.get(f"{gate.url}/v1/records?limit=none").status_code == 401
    assert len(gate.records(stage=Stage.TURNED_AWAY)) == before + 5


def test_an_agent_sees_its_own_records_and_claims_only(gate: Gate) -> None:
    propose(gate)
    everyone = ask(gate, "GET", "/v1/records?limit=1000", "human").json()["records"]
    own = ask(gate, "GET", "/v1/records?limit=1000", "rival").json()["records"]
    assert {record["actor"] for record in everyone} > {record["actor"] for record in own}
    assert {record["actor"] for record in own} <= {"rival"}
    assert ask(gate, "GET", "/v1/records?actor=agent", "rival").json() == {"records": []}
    others = ask(gate, "GET", "/v1/claims", "rival").json()
    assert (others["claims"], others["time_boxes"]) == ([], [])
    assert [claim["actor"] for claim in ask(gate, "GET", "/v1/claims", "agent").json()["claims"]] == ["agent"]
    assert ask(gate, "GET", "/v1/claims", "human").json()["claims"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/v1", "/v1/nonsense", "/v1/records/x", "/v1/mutations/a/b/c", "/v1/mutations/..%2F"])
def test_unknown_api_paths_are_404_problems(gate: Gate, method: str, path: str) -> None:
    if (method, path) == ("GET", "/v1/mutations/..%2F"):
        path += "x/"
    reply = ask(gate, method, path, "agent")
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "body", "says"),
    [
        ("GET", "/v1/records?limit=0", None, "limit"),
        ("GET", "/v1/records?limit=many", None, "limit"),
        ("GET", "/v1/records?after_seq=99999999999999999999", None, "after_seq"),
        ("GET", "/v1/records?stage=unheard", None, "stage"),
        ("GET", "/v1/records?since=2026-11-21T09:00:00", None, "zone"),
        ("GET", "/v1/blame?address=x", None, "attribute"),
        ("POST", "/v1/sessions", {}, "motive"),
        ("POST", "/v1/sessions", {"motive": MOTIVE, "lasts": "for ever"}, "for ever"),
        ("POST", "/v1/sessions", {"motive": MOTIVE, "roles": ["approver"]}, "roles"),
        ("POST", "/v1/mutations/x/approve", {"status": "approved"}, "status"),
        ("POST", "/v1/mutations/x/approve", [], "body"),
        ("POST", "/v1/mutations/x/reject", {"reason": "r" * 1001}, "reason"),
        ("POST", "/v1/mutations/x/reject", {}, "reason"),
    ],
)
def test_a_mistake_is_named(gate: Gate, method: str, path: str, body: Any, says: str) -> None:
    reply = ask(gate, method, path, "human", body)
    assert (reply.status_code, reply.headers["content-type"]) == (400, "application/problem+json"), reply.text
    assert says in reply.json()["detail"]


@pytest.mark.parametrize("path", ["/v1/mutations", "/v1/sessions", "/v1/mutations/x/approve", "/v1/mutations/x/reject"])
def test_a_body_over_the_limit_is_413(gate: Gate, path: str) -> None:
    reply = ask(gate, "POST", path, "human", content=bytes(6 * 1024 * 1024 + 1), headers={"content-type": "application/json"})  # fmt: skip
    assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_type_is_refused(gate: Gate, kind: str) -> None:
    reply = ask(gate, "POST", "/v1/sessions", "human", content=b"{}", headers={"content-type": kind})
    assert (reply.status_code, reply.json()["code"]) == (400, "content_type")


def test_a_session_key_makes_no_further_keys(gate: Gate) -> None:
    given = ask(gate, "POST", "/v1/sessions", "agent", {"motive": MOTIVE}).json()
    token = {"Authorization": f"Bearer {given['access_key_id']}.{given['secret_access_key']}"}
    assert httpx.post(f"{gate.url}/v1/sessions", json={"motive": MOTIVE}, headers=token).status_code == 403
    assert httpx.get(f"{gate.url}/v1/records", headers=token).status_code == 200


def test_a_record_tells_where_the_request_came_from(gate: Gate) -> None:
    client = gate.client("autoscaling", user_agent_extra="tool/1")
    client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=5)
    ask(gate, "POST", "/v1/mutations", "agent", PROPOSAL)
    bodies: Any = [record.body.members for record in gate.records(stage=Stage.DECIDED)[-2:]]
    aws, api = bodies
    assert (aws["door"], aws["sender"]["peer"]) == ("aws", "127.0.0.1")
    assert aws["sender"]["user_agent"].startswith("Boto3/")
    assert aws["sender"]["user_agent"].endswith("tool/1")
    assert (api["door"], api["sender"]["user_agent"].split("/")[0]) == ("api", "python-httpx")


def test_a_held_call_is_202_and_its_rejection_is_for_good(gate: Gate) -> None:
    held = ask(gate, "POST", "/v1/mutations", "agent", _held())
    assert (held.status_code, held.json()["code"]) == (202, "held")
    mutation = held.json()["mutation"]["id"]
    assert ask(gate, "POST", f"/v1/mutations/{mutation}/reject", "human", {"reason": "not today"}).status_code == 200
    assert gate.records(mutation_id=mutation)[-1].body.members["door"] == "api"
    assert ask(gate, "POST", f"/v1/mutations/{mutation}/approve", "human").status_code in (403, 404, 409)
    assert gate.upstream.asked == []


@pytest.mark.parametrize(("behaviour", "status", "code"), [("refuse", 422, "aws_refused"), ("cut", 409, "outcome_unknown")])  # fmt: skip
def test_failures_and_doubts_are_problems(gate: Gate, behaviour: str, status: int, code: str) -> None:
    gate.upstream.behaviour = behaviour
    reply = ask(gate, "POST", "/v1/mutations", "agent", PROPOSAL)
    gate.upstream.behaviour = "ok"
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.json()["mutation"]["id"]


def test_aws_own_paths_under_v1_reach_the_aws_door(gate: Gate) -> None:
    gate.client("batch", "human", motive=None).describe_job_queues()
    assert gate.upstream.asked == ["POST /v1/describejobqueues"]


def test_the_description_says_of_every_route_how_it_refuses(gate: Gate) -> None:
    paths = httpx.get(f"{gate.url}/v1/openapi.json").json()["paths"]
    routes = {
        f"{method} {path}": route for path, each in paths.items() if path != "/readyz" for method, route in each.items()
    }
    assert {"post /v1/mutations", "get /v1/claims", "post /v1/stops", "post /v1/mutations/{mutation_id}/end"} <= set(
        routes
    )
    for name, route in routes.items():
        assert "422" not in route["responses"], (
            f"{name}: FastAPI's own form of mistakes is not what the gateway answers"
        )
        schema = route["responses"]["default"]["content"]["application/problem+json"]["schema"]
        assert {"code", "detail", "status"} <= set(schema["required"]), name


def test_pages_of_records_and_holds_follow_each_other(gate: Gate) -> None:
    actor, headers = gate.issue("pager"), gate.bearer("human")
    for _ in range(3):
        httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(actor), json=_held())
    url = f"{gate.url}/v1/records?actor=pager&stage=decided"
    newest = httpx.get(f"{url}&limit=2", headers=headers).json()["records"]
    rest = httpx.get(f"{url}&before_seq={newest[-1]['seq']}", headers=headers).json()["records"]
    assert [len(newest), len(rest)] == [2, 1]
    made = [record["mutation_id"] for record in (*newest, *rest)]
    holds = f"{gate.url}/v1/holds?actor=pager&limit=2"
    first = httpx.get(holds, headers=headers).json()["holds"]
    second = httpx.get(f"{holds}&before={first[-1]['mutation_id']}&stack=kafka", headers=headers).json()["holds"]
    assert [hold["mutation_id"] for hold in (*first, *second)] == made
    assert httpx.get(f"{holds}&before=mut_none", headers=headers).json() == {"holds": []}
    assert httpx.get(f"{holds}&stack=other", headers=headers).json() == {"holds": []}
    assert httpx.get(holds, headers=gate.bearer("rival")).json() == {"holds": []}


def test_the_reason_of_an_approval_is_recorded(gate: Gate) -> None:
    mutation = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(), json=_held()).json()["mutation"]["id"]
    url, headers = f"{gate.url}/v1/mutations/{mutation}", gate.bearer("human")
    assert httpx.post(f"{url}/approve", headers=headers, json={"reason": "two\nlines"}).status_code == 400
    assert httpx.post(f"{url}/approve", headers=headers, json={"reason": "The alarm is real"}).is_success
    [answer] = httpx.get(f"{url}/explanation", headers=headers).json()["approval"]["answers"]
    assert (answer["by"], answer["reason"]) == ("human", "The alarm is real")
