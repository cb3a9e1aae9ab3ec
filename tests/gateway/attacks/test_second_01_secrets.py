"""An agent finds out a secret by trying: what is decided and recorded about a guess says whether it is the value of the state.

Its own record said `changes: false`; on a resource that it manages, a right guess beside a real change was let pass and a wrong one denied; so
did dry runs; and digests of guesses could be compared with those of the secret. What must hold: for a caller that is not told secrets, a right
guess and a wrong one have the same verdict, findings, effects and claims, and no answer carries a digest of a secret.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

RIGHT, WRONG = "correct horse battery staple", "wrong guess of the password"
MANAGED = """
contract "guessing" {
  resource "aws_db_instance" "*" {
    managed_by_agent = true
    attribute "allocated_storage" {
      min = 1
      max = 1000
    }
  }
  resource "aws_lambda_function" "*" {
    managed_by_agent = true
    attribute "memory_size" {
      min = 1
      max = 1000
    }
  }
}
"""

GUESSES = {
    "a password alone": ("rds", "ModifyDBInstance", {"DBInstanceIdentifier": "kafka-reports", "MasterUserPassword": "?"}),
    "a password beside a real change": ("rds", "ModifyDBInstance", {"DBInstanceIdentifier": "kafka-reports", "AllocatedStorage": 110, "MasterUserPassword": "?"}),
    "a password beside a value that is not allowed": ("rds", "ModifyDBInstance", {"DBInstanceIdentifier": "kafka-reports", "AllocatedStorage": 5000, "MasterUserPassword": "?"}),
    "a function's environment": ("lambda", "UpdateFunctionConfiguration", {"FunctionName": "kafka-rebalancer", "Environment": {"Variables": {"OFFSETS": "?"}}}),
    "an environment beside a real change": ("lambda", "UpdateFunctionConfiguration", {"FunctionName": "kafka-rebalancer", "MemorySize": 300, "Environment": {"Variables": {"OFFSETS": "?"}}}),
}  # fmt: skip
SECRETS = {"rds": RIGHT, "lambda": "kafka-offsets"}


@pytest.fixture(scope="module", params=["skeleton", "managed"])
def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway whose contracts do not let agents touch what has the secret, and one whose contracts do."""
    made = Gate(directory=tmp_path_factory.mktemp(str(request.param)))
    if request.param == "managed":
        (made.stack / "guessing.sentinel.hcl").write_text(MANAGED)
    with made as running:
        running.issue("deployer", kind=ActorKind.SERVICE)
        yield running


def _seen(gate: Gate, actor: str, case: str, guess: str, *, dry_run: bool) -> str:
    """Everything that the actor is told about its guess, without what differs between any two calls."""
    service, operation, given = GUESSES[case]
    parameters = json.loads(json.dumps(given).replace('"?"', json.dumps(guess)))
    motive = {"intent": "availability", "motivation": "routine"}
    body = {"service": service, "operation": operation, "parameters": parameters, "motive": motive, "dry_run": dry_run}
    headers = gate.bearer(actor)
    answer = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=headers)
    seen: dict[str, Any] = {"status": answer.status_code, "answer": answer.json()}
    if not dry_run:
        mutation = answer.json()["mutation"]["id"]
        seen["records"] = httpx.get(f"{gate.url}/v1/mutations/{mutation}", headers=headers).json()
        claims = httpx.get(f"{gate.url}/v1/claims", params={"every": True}, headers=headers).json()["claims"]
        # Their ids are random, and they come in the order of their ids.
        own = (claim for claim in claims if claim["mutation_id"] == mutation)
        seen["claims"] = sorted(own, key=lambda claim: str(claim["attribute"]))
    text = json.dumps(seen)
    assert guess not in text
    assert not re.search(r"hmac_sha256\W{1,6}[0-9a-f]{8}", text)
    # How many refusals or failures came before counts on from one call to the next, whatever they were about.
    text = re.sub(r"\"\w*in_a_row\": \d+, |(, )?\"\w*in_a_row\": \d+", "", text)
    # A call that repeats one that waits already is attached to it: that says what the actor asked before, and nothing about the secret.
    text = re.sub(r"\"held_as\": \"\w*\"", '"held_as": "…"', text)
    return re.sub(r"(mut|clm|apr|req)_\w+|[0-9a-f]{32,64}|\d{4}-\d\d-\d\dT[\d:.]+Z|\"seq\": \d+", "…", text)


@pytest.mark.parametrize("case", GUESSES)
@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("actor", ["agent", "deployer"])
def test_a_right_guess_looks_like_a_wrong_one(stack: Gate, actor: str, case: str, dry_run: bool) -> None:
    secret = SECRETS[GUESSES[case][0]]
    seen = []
    for guess in (secret, WRONG, secret):
        seen.append(_seen(stack, actor, case, guess, dry_run=dry_run))
        stack.release_all()
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("actor", ["human", "pipeline"])
def test_who_may_read_secrets_is_told_what_changes(stack: Gate, actor: str) -> None:
    body = {
        "service": "rds",
        "operation": "ModifyDBInstance",
        "parameters": {"DBInstanceIdentifier": "kafka-reports", "MasterUserPassword": RIGHT},
        "motive": {"intent": "consistency", "motivation": "routine"},
    }
    answer = httpx.post(f"{stack.url}/v1/mutations", json=body, headers=stack.bearer(actor)).json()
    found = httpx.get(f"{stack.url}/v1/mutations/{answer['mutation']['id']}", headers=stack.bearer(actor)).json()
    assert [effect["changes"] for effect in found["records"][0]["body"]["effects"]] == [False]
    stack.release_all()


def test_an_agent_still_sets_what_its_contract_lets_it(stack: Gate) -> None:
    body = {
        "service": "rds",
        "operation": "ModifyDBInstance",
        "parameters": {"DBInstanceIdentifier": "kafka-reports", "AllocatedStorage": 110},
        "motive": {"intent": "availability", "motivation": "routine"},
        "dry_run": True,
    }
    answer = httpx.post(f"{stack.url}/v1/mutations", json=body, headers=stack.bearer()).json()
    managed = (stack.stack / "guessing.sentinel.hcl").exists()
    assert answer["decision"]["verdict"] == ("allow" if managed else "deny")
