"""From the settings to what terraform and DBOS are given."""

import asyncio
import base64
import json
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from gateway.core.errors import SettingsInvalid
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import ReconcileSettings, ServerSettings, Settings, StackSettings, SuggestSettings
from gateway.core.settings.notices import WebhookSettings
from gateway.core.settings.publish import GitHubSettings
from gateway.ledger.ledger import SqlLedger
from reconciler.app import _pushing, environment, run_reconciler, state_file, workflows_database
from reconciler.changes.backlog import Backlog
from reconciler.suggest.replacement import SUGGESTED
from tests.kit.hook import HookStub, receiving
from tests.kit.messages_api import messages_api
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect
from tests.kit.stores import MASTER


@pytest.fixture(autouse=True)
def no_machine_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".terraformrc").touch()


def test_terraform_reads_through_the_gateway_with_the_reconcilers_own_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "AWS_PROFILE", "SENTINEL_MASTER_KEY"):
        monkeypatch.setenv(name, "the user's own")
    settings = Settings(
        data=tmp_path,
        server=ServerSettings(port=9999),
        reconcile=ReconcileSettings(key_id="SNTL1", key_secret=SecretStr("s")),
    )
    given = environment(settings, tmp_path)
    assert given["AWS_ENDPOINT_URL"] == "http://127.0.0.1:9999"
    assert (given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"]) == ("SNTL1", "s")
    assert not {"AWS_SESSION_TOKEN", "AWS_PROFILE", "SENTINEL_MASTER_KEY"} & set(given)


def test_another_endpoint_and_no_key_leave_the_users_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    settings = Settings(data=tmp_path, reconcile=ReconcileSettings(endpoint="http://127.0.0.1:1"))
    given = environment(settings, tmp_path)
    assert (given["AWS_ENDPOINT_URL"], given["AWS_ACCESS_KEY_ID"]) == ("http://127.0.0.1:1", "mine")


def test_the_branch_is_pushed_only_if_a_remote_is_named(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    line: Any = SimpleNamespace(
        stack="shop", source=tmp_path, worktree=tmp_path, branch="sentinel/shop", protected="main"
    )
    backlog = Backlog(stack="shop")
    ledger: Any = None
    assert _pushing(settings, line, backlog, ledger) is None
    named = settings.model_copy(update={"reconcile": ReconcileSettings(push="origin")})
    pushing = _pushing(named, line, backlog, ledger)
    assert pushing is not None
    assert (pushing.remote.name, pushing.remote.branch, pushing.remote.protected) == ("origin", "sentinel/shop", "main")
    assert pushing.backlog is backlog
    assert pushing.proposing is None


@pytest.mark.parametrize(
    ("protected", "base", "wanted"),
    [
        ("refs/remotes/origin/main", "", "main"),
        ("refs/heads/release/1", "", "release/1"),
        ("HEAD", "main", "main"),
        ("HEAD", "", None),
    ],
)
def test_pull_requests_go_to_the_protected_branch(
    tmp_path: Path, protected: str, base: str, wanted: str | None
) -> None:
    github = GitHubSettings(repository="acme/infra", token_env="T", base=base, window_seconds=7, look_seconds=9)
    settings = Settings(data=tmp_path, reconcile=ReconcileSettings(push="origin", github=github))
    line: Any = SimpleNamespace(stack="shop", source=tmp_path, worktree=tmp_path, branch="b", protected=protected)
    ledger: Any = None
    if wanted is None:
        with pytest.raises(SettingsInvalid, match=r"reconcile\.github\.base"):
            _pushing(settings, line, Backlog(stack="shop"), ledger)
        return
    pushing = _pushing(settings, line, Backlog(stack="shop"), ledger)
    assert pushing is not None
    assert pushing.proposing is not None
    assert (pushing.proposing.base, pushing.window_seconds, pushing.look_seconds) == (wanted, 7, 9)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["", "sk-test"])
def test_only_with_a_key_a_model_names_the_intent_of_changes_from_outside(tmp_path: Path, key: str) -> None:
    reconcile = ReconcileSettings(
        push="origin",
        github=GitHubSettings(repository="acme/infra", token_env="T", base="main"),
        suggest=SuggestSettings(key=SecretStr(key)),
    )
    line: Any = SimpleNamespace(stack="shop", source=tmp_path, worktree=tmp_path, branch="b", protected="HEAD")
    ledger: Any = None
    pushing = _pushing(Settings(data=tmp_path, reconcile=reconcile), line, Backlog(stack="shop"), ledger)
    assert pushing is not None
    assert pushing.proposing is not None
    assert (pushing.proposing.namer is not None) is bool(key)


@pytest.mark.parametrize("name", ["--upload-pack=x", "a b", "https://x/y.git", "../x"])
def test_a_remote_is_a_name_and_nothing_else(name: str) -> None:
    with pytest.raises(ValidationError):
        ReconcileSettings(push=name)


def test_workflows_are_kept_beside_the_ledger(tmp_path: Path) -> None:
    assert workflows_database(Settings(data=tmp_path)) == f"sqlite:///{tmp_path}/reconciler/workflows.db"
    on_server = Settings(data=tmp_path, ledger="postgresql+psycopg://me:pw@db/sentinel")
    assert workflows_database(on_server) == "postgresql://me:pw@db/sentinel"


def test_the_state_is_found_by_the_codes_backend_unless_the_settings_name_a_file(tmp_path: Path) -> None:
    stack = StackSettings(name="shop", path=tmp_path)
    assert state_file(stack) == tmp_path / "terraform.tfstate"
    backend = 'terraform {\n  backend "s3" {\n    bucket = "b"\n    key = "k"\n    region = "eu-west-1"\n  }\n}\n'
    (tmp_path / "main.tf").write_text(backend)
    assert state_file(stack) is None
    (tmp_path / "main.tf").write_text('terraform {\n  backend "pg" {}\n}\n')
    assert state_file(stack) is None, "Terraform finds it"
    assert state_file(stack.model_copy(update={"state": tmp_path / "pulled"})) == tmp_path / "pulled"


COUNTED = {"period": 60, "evaluation_periods": 2, "threshold": 100}
"""Attributes of an alarm whose value is the length of a list: no editor makes a list longer."""


def _answer(now: int, replace: str) -> dict[str, Any]:
    find = f"length(range({now}))"
    return {"replacements": [{"path": "main.tf", "find": find, "replace": replace}], "reason": ""}


def _settings(live: Any, tmp_path: Path, suggest: SuggestSettings) -> Settings:
    return Settings(
        data=tmp_path / "data",
        ledger=f"sqlite:///{tmp_path / 'ledger.db'}",
        master_key=SecretStr(MASTER.decode()),
        reconcile=ReconcileSettings(endpoint=live.endpoint, suggest=suggest, pass_environment=("AWS_REGION",)),
        stacks=(StackSettings(name="shop", path=tmp_path / "fleet", state=tmp_path / "fleet" / "terraform.tfstate"),),
    )


@pytest.fixture
def counted(calm: Any, git: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The applied stack, in a repository of its own, with an alarm that no editor can change, and its threshold at 170."""
    calm.alarm(170)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.setenv(name, calm.environment[name])
    stack = tmp_path / "fleet"
    shutil.copytree(calm.path, stack)
    code = (stack / "main.tf").read_text()
    for name, value in COUNTED.items():
        code = re.sub(rf"(\b{name} += ){value}\b", rf"\1length(range({value}))", code)
    (stack / "main.tf").write_text(code)
    git(stack, "init", "--quiet", "-b", "main")
    git(stack, "add", "*.tf", "*.tfvars", "modules")
    git(stack, "commit", "--quiet", "-m", "first")
    return calm


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_the_service_asks_a_model_and_drops_what_does_not_pass(
    counted: Any, ledger: SqlLedger, applied: Callable[..., Awaitable[str]], tmp_path: Path
) -> None:
    bodies: list[Any] = []
    # The first does more than it should; the second is not formatted, which only a proof shows; the third is right.
    answers = [_answer(60, "120\n  actions_enabled = false"), _answer(2, "3  +  0"), _answer(100, "170")]
    async with messages_api(*answers) as api, asyncio.TaskGroup() as tasks:
        stop = asyncio.Event()
        suggest = SuggestSettings(key=SecretStr("sk-test"), endpoint=api.url)
        tasks.create_task(run_reconciler(_settings(counted, tmp_path, suggest), stop))
        try:
            for (name, before), value in zip(COUNTED.items(), (120, 3, 170), strict=True):
                mutation = await applied(("aws_cloudwatch_metric_alarm.errors", name, before, value))
                bodies.append(await _reconciled(ledger, mutation))
        finally:
            stop.set()
    assert len(api.asked) == 3
    assert [bool(body.get("commit")) for body in bodies] == [False, False, True]
    assert [len(body.get("left", [])) for body in bodies] == [1, 1, 0]
    assert "+  threshold           = 170 # per minute" in bodies[2]["diff"]
    assert bodies[2]["edits"][0]["chain"] == [SUGGESTED]
    kept = tmp_path / "data" / "suggest"
    assert (kept / "patterns.jsonl").read_text().count("\n") == 1
    assert json.loads((kept / "tokens.json").read_text())["tokens"] == 3000


async def _reconciled(ledger: SqlLedger, mutation: str) -> Any:
    """The body of a mutation's RECONCILED record, once there is one."""
    async with asyncio.timeout(300):
        while True:
            found = await ledger.records(RecordQuery(mutation_id=mutation, stage=Stage.RECONCILED))
            if found:
                return found[0].body.members
            await asyncio.sleep(0.2)


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_the_service_tells_the_receivers_of_the_settings(ledger: SqlLedger, tmp_path: Path) -> None:
    with receiving(HookStub()) as stub:
        secret = "whsec_" + base64.b64encode(b"s" * 32).decode()
        hook = {"name": "ops", "url": stub.url, "secret": secret, "private_addresses": ["127.0.0.0/8"]}
        settings = Settings(
            data=tmp_path / "data",
            ledger=f"sqlite:///{tmp_path / 'ledger.db'}",
            master_key=SecretStr(MASTER.decode()),
            reconcile=ReconcileSettings(endpoint="http://127.0.0.1:1", poll_seconds=0.05),
            webhooks=(WebhookSettings.model_validate(hook),),
        )
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as tasks, asyncio.timeout(300):
            tasks.create_task(run_reconciler(settings, stop))
            while not await ledger.records(RecordQuery(stage=Stage.NOTIFIED)):  # noqa: ASYNC110  another connection writes it
                await asyncio.sleep(0.05)
            made = await record_mutation(ledger, [(effect("aws_sqs_queue.a", "delay_seconds", 1), 0)])
            while len(stub.received) < 2:  # noqa: ASYNC110  another thread counts
                await asyncio.sleep(0.05)
            stop.set()
    assert [each.document["data"]["mutation_id"] for each in stub.received] == [made.id, made.id]
    assert [each.document["type"] for each in stub.received] == ["mutation.decided", "mutation.settled"]
