"""Which executable runs, as a child with a time limit, and what its output says. OpenTofu is spoken to as Terraform is."""

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path

import pytest

from reconciler.errors import CodeRefused, TerraformFailed, TerraformMissing
from reconciler.terraform.cli import Terraform, found_executable
from reconciler.terraform.code_guard import CodeGuard
from tests.kit.moto import MotoUpstream

TOFU = """#!{python}
import json, sys
if sys.argv[1:] == ["version", "-json"]:
    print(json.dumps({version}))
elif sys.argv[1] == "plan" and not any(word.startswith("-out=") for word in sys.argv):
    sys.exit(9)
elif sys.argv[1] == "plan":
    sys.exit(0)
"""
VERSION = {
    "terraform_version": "1.10.6",
    "platform": "linux_amd64",
    "provider_selections": {"registry.opentofu.org/hashicorp/aws": "5.100.0"},
}
"""As OpenTofu 1.10 prints it."""


@pytest.mark.parametrize(
    ("wanted", "installed", "runs"),
    [
        ("terraform", {"terraform", "tofu"}, "terraform"),
        ("terraform", {"terraform"}, "terraform"),
        ("terraform", {"tofu"}, "tofu"),
        ("terraform", set(), "terraform"),
        ("tofu", {"terraform", "tofu"}, "tofu"),
        ("/opt/terraform", {"tofu"}, "/opt/terraform"),
    ],
)
def test_the_executable(wanted: str, installed: set[str], runs: str) -> None:
    assert found_executable(wanted, lambda name: name if name in installed else None) == runs


async def test_opentofu_answers_the_same_questions(tmp_path: Path) -> None:
    path = tmp_path / "tofu"
    path.write_text(TOFU.format(python=sys.executable, version=json.dumps(VERSION)))
    path.chmod(0o755)
    (tmp_path / "data").mkdir()
    tofu = Terraform(
        environment={"PATH": os.environ["PATH"]}, workdir=tmp_path / "work", executable=str(path), shared_data=tmp_path
    )
    assert await tofu.version() == "1.10.6"
    assert await tofu.plan(tmp_path) is None


FAKE = """#!{python}
import os, sys, time
with open(os.environ["SEEN"], "a") as seen:
    print(sys.argv[1], os.environ.get("TF_DATA_DIR", ""), file=seen)
{body}
"""


def _terraform(tmp_path: Path, body: str, **changes: object) -> Terraform:
    path = tmp_path / "terraform"
    path.write_text(FAKE.format(python=sys.executable, body=body))
    path.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "SEEN": str(tmp_path / "seen")}
    given = {"environment": environment, "workdir": tmp_path / "work", "executable": str(path), "shared_data": tmp_path}
    return Terraform(**(given | changes))  # type: ignore[arg-type]  # a table of keyword arguments


def _seen(tmp_path: Path) -> list[str]:
    return [line.split()[0] for line in (tmp_path / "seen").read_text().splitlines()]


@pytest.mark.parametrize(("code", "planned"), [(0, None), (2, "plan")])
async def test_the_exit_code_says_whether_there_is_a_plan(tmp_path: Path, code: int, planned: str | None) -> None:
    found = await _terraform(tmp_path, f"sys.exit({code})").plan(tmp_path)
    assert (found.name.partition("-")[0] if found else None) == planned


@pytest.mark.parametrize("code", [0, 1])
async def test_a_plan_file_that_nobody_reads_is_removed(tmp_path: Path, code: int) -> None:
    """It may hold secrets; terraform writes it even if the plan is empty."""
    body = f"open(next(word[5:] for word in sys.argv if word.startswith('-out=')), 'w').close(); sys.exit({code})"
    terraform = _terraform(tmp_path, body)
    for work in (terraform.plan(tmp_path), terraform.refresh(tmp_path, state=None, targets=["a.b"])):
        with contextlib.suppress(TerraformFailed, ValueError):
            await work
    assert not list((tmp_path / "work").glob("plan-*"))


async def test_code_that_is_refused_is_never_given_to_terraform(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('data "external" "x" {\n}\n')
    terraform = _terraform(tmp_path, "sys.exit(0)", guard=CodeGuard())
    for work in (
        terraform.plan(tmp_path),
        terraform.refresh(tmp_path, state=None, targets=[]),
        terraform.init(tmp_path),
        terraform.show(tmp_path, tmp_path / "plan"),
    ):
        with pytest.raises(CodeRefused):
            await work
    assert not (tmp_path / "seen").exists()


async def test_an_error_ends_with_terraforms_last_lines(tmp_path: Path) -> None:
    body = "print('\\n'.join(map(str, range(99))) + '\\nError: no', file=sys.stderr); sys.exit(1)"
    with pytest.raises(TerraformFailed, match=r"(?s)`terraform plan` failed.*98\nError: no") as caught:
        await _terraform(tmp_path, body).plan(tmp_path)
    assert "\n12\n" not in str(caught.value)


async def test_a_missing_terraform_is_named(tmp_path: Path) -> None:
    with pytest.raises(TerraformMissing, match="no-such"):
        await Terraform(environment={}, workdir=tmp_path, executable="no-such").version()


async def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(TerraformFailed, match="longer than"):
        await asyncio.wait_for(_terraform(tmp_path, "time.sleep(600)", seconds=1.0).plan(tmp_path), 60)


async def test_plug_ins_that_do_not_fit_are_installed_into_our_own_directory(tmp_path: Path) -> None:
    body = """
own = os.environ.get("TF_DATA_DIR", "").endswith("work/data")
if sys.argv[1] == "init":
    os.makedirs(os.environ["TF_DATA_DIR"])
elif not own:
    print("Error: Module not installed. Run terraform init.", file=sys.stderr)
    sys.exit(1)
"""
    terraform = _terraform(tmp_path, body)
    assert await terraform.plan(tmp_path) is None
    assert _seen(tmp_path) == ["plan", "init", "plan"]
    assert await terraform.plan(tmp_path) is None
    assert _seen(tmp_path) == ["plan", "init", "plan", "plan"]


async def test_an_apply_that_changes_resources_is_never_run_twice(tmp_path: Path) -> None:
    """What AWS says in an error is printed, and it may be anything."""
    terraform = _terraform(
        tmp_path, "print('Error: ValidationError: run terraform init', file=sys.stderr); sys.exit(1)"
    )
    done = await terraform.apply_and_log(tmp_path, tmp_path / "plan", state=None, lock_seconds=1)
    assert (done.code, _seen(tmp_path)) == (1, ["apply"])


async def test_plug_ins_of_the_user_that_come_later_are_used(tmp_path: Path) -> None:
    terraform = _terraform(tmp_path, "sys.exit(0)", shared_data=tmp_path / "later")
    (tmp_path / "later").mkdir()
    await terraform.plan(tmp_path)
    assert _seen(tmp_path) == ["plan"]


async def test_only_the_given_environment_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_MASTER_KEY", "secret")
    body = "sys.exit(1 if 'SENTINEL_MASTER_KEY' in os.environ else 0)"
    assert await _terraform(tmp_path, body).plan(tmp_path) is None
    assert "environment" not in repr(_terraform(tmp_path, body))


@pytest.mark.terraform
async def test_the_real_terraform_reports_its_version(tmp_path: Path) -> None:
    terraform = Terraform(environment={"PATH": os.environ["PATH"], "CHECKPOINT_DISABLE": "1"}, workdir=tmp_path)
    assert (await terraform.version()).startswith("1.")


async def test_init_and_every_command_get_the_backend_and_the_workspace(tmp_path: Path) -> None:
    body = (
        "print(*sys.argv[1:], 'workspace', os.environ.get('TF_WORKSPACE'), file=open(os.environ['SEEN'] + '.all', 'a'))\n"
        "if sys.argv[1] == 'plan' and not os.path.exists(os.environ['SEEN'] + '.init'):\n"
        '    sys.exit("Backend initialization required, please run \\"tofu init\\"")\n'
        "if sys.argv[1] == 'init': open(os.environ['SEEN'] + '.init', 'w').close()\n"
    )
    terraform = _terraform(tmp_path, body, backend_config={"bucket": "states", "key": "a b"}, workspace="blue")
    assert await terraform.plan(tmp_path) is None
    _, init, plan = (tmp_path / "seen.all").read_text().splitlines()
    assert "-reconfigure -backend-config=bucket=states -backend-config=key=a b workspace blue" in init
    assert "-state" not in plan
    assert plan.endswith("workspace blue")


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_a_state_in_s3_with_a_lock_table_is_planned_by_the_codes_own_backend(tmp_path: Path) -> None:
    """Real Terraform, no provider: the state's own output is what the plan is held against."""
    moto = MotoUpstream()
    await moto.start()
    try:
        moto.client("s3").create_bucket(Bucket="states")
        moto.client("dynamodb").create_table(
            TableName="locks",
            KeySchema=[{"AttributeName": "LockID", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "LockID", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        state = {"version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "x", "resources": []}
        state |= {"outputs": {"size": {"value": 5, "type": "number"}}}
        moto.client("s3").put_object(Bucket="states", Key="env:/blue/shop", Body=json.dumps(state).encode())
        backend = 'terraform {\n  backend "s3" {\n    key = "shop"\n    dynamodb_table = "locks"\n    use_path_style = true\n    skip_region_validation = true\n  }\n}\n'
        (tmp_path / "main.tf").write_text(backend + 'output "size" {\n  value = 5\n}\n')
        environment = {
            **os.environ,
            "AWS_ENDPOINT_URL": moto.url,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
        }
        terraform = Terraform(
            environment=environment,
            workdir=tmp_path / "work",
            backend_config={"bucket": "states", "region": "us-east-1"},
            workspace="blue",
        )
        assert await terraform.plan(tmp_path) is None
        (tmp_path / "main.tf").write_text(backend + 'output "size" {\n  value = 6\n}\n')
        assert await terraform.plan(tmp_path) is not None
    finally:
        moto.server.stop()


@pytest.mark.parametrize("background", [False, True])
async def test_what_runs_in_the_background_gives_way_to_all_others(tmp_path: Path, *, background: bool) -> None:
    """Its threads and what it starts, too: they are started again and again until the group has its priority."""
    wait = "while os.getpriority(os.PRIO_PROCESS, 0) == own: time.sleep(0.01)" if background else ""
    child = "os.spawnlp(os.P_WAIT, 'nice', 'nice')"
    body = f"own = {os.getpriority(os.PRIO_PROCESS, 0)}\n{wait}\nsys.stdout.flush()\n{child}"
    terraform = _terraform(tmp_path, body, background=background)
    done = await terraform._run("plan")
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert int(done.out) == (10 if background else own)
