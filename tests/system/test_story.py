"""`sentinel up` and `sentinel tour` in their own processes: the whole pipeline, and a clean end."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest

from gateway.cli.aws_environment import aws_variables, with_aws_variables
from gateway.cli.demo.credentials import SavedCredentials, read_credentials
from gateway.terraform.provider_mirror import terraform_environment
from tests.kit.up import Up, sentinel

pytestmark = [pytest.mark.system, pytest.mark.terraform, pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

Make = Callable[..., Up]
ADDRESS = "aws_autoscaling_group.kafka_consumer"
GROUP = "kafka-consumer-processor-asg"


@pytest.mark.usefixtures("slim_environment")
def test_the_story_is_told_from_nothing_to_the_end(an_up: Make) -> None:
    up = an_up().ready()
    told(up)
    second_says_that_the_port_is_in_use(up, an_up("another"))
    assert_ends(up, signal.SIGINT)


def told(up: Up) -> list[dict[str, Any]]:
    """The whole pipeline; returns what the steps of the tour observed."""
    each_wait_ended_with_a_line(up)
    steps = tour(up)
    assert sentinel("verify", "--config", str(up.home / "sentinel.toml")).stdout.startswith("The ledger is intact: ")
    commit_names_actor_and_motive(up, steps[0])
    return steps


def each_wait_ended_with_a_line(up: Up) -> None:
    """Each says nothing for a few seconds when it begins, so two in a row would be silent for twice as long."""
    ended = [line.split()[1] for line in up.output.splitlines() if line.startswith("✓ ")]
    assert ended == ["stack", "simulated", "gateway", "stack", "reconciler"]
    assert "✓ stack applied by Terraform, through the gateway" in up.output


@pytest.mark.long
def test_after_the_story_its_branch_is_clean_and_there_is_a_second_start(an_up: Make, tmp_path: Path) -> None:
    """With the whole provider, as everybody has it."""
    up = an_up().ready()
    steps = told(up)
    plan_of_the_branch_is_clean(up, tmp_path / "worktree")
    assert_ends(up, signal.SIGINT)

    with (up.home / "aws.journal").open("a") as journal:
        journal.write('{"number": 99, "envi')  # as if the simulated AWS had been killed while it wrote
    up.ready()
    assert "stack was already applied" in up.output
    assert live(up) == 6
    history = json_of(up, "blame", f"{ADDRESS}.desired_capacity")
    assert (history["actor"], history["value"], history["commit"]) == ("agent-scaler", 6, steps[0]["commit"])
    gateway_is_killed(up)

    up.ready("--fresh", "--no-apply")
    assert {record["stage"] for record in json_of(up, "records")["records"]} == {"key_issued"}
    assert not (up.home / "applied").exists()
    assert_ends(up, signal.SIGTERM)


def tour(up: Up) -> list[dict[str, Any]]:
    """Run the tour; returns what its steps observed."""
    done = sentinel("tour", "--home", str(up.home), "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    steps: list[dict[str, Any]] = json.loads(done.stdout)["steps"]
    assert [step["stages"][:2] for step in steps if "stages" in step] == [["decided", "settled"]] * 2
    assert steps[0]["files"] == ["terraform.tfvars"]
    assert [step["code"] for step in steps if "code" in step] == ["AccessDenied", *(["AccessDeniedException"] * 2),
        "UnauthorizedOperation", "AccessDenied", "AccessDenied"]  # fmt: skip
    assert "11. Who set this, and why?" in done.stderr
    return steps


def commit_names_actor_and_motive(up: Up, step: dict[str, Any]) -> None:
    """The commit's trailers (git-interpret-trailers) are those of the mutation."""
    keys = ("Mutation", "Actor", "Intent", "Motivation")
    wanted = "%n".join(f"%(trailers:key=Sentinel-{key},valueonly)" for key in keys)
    shown = git(up, "log", "-1", f"--format={wanted}", step["commit"]).split()
    assert shown[:4] == [step["mutation"], "agent-scaler", "availability", "incident"]
    assert step["commit"] in git(up, "rev-list", step["branch"]).split()
    assert git(up, "status", "--porcelain") == ""


def plan_of_the_branch_is_clean(up: Up, worktree: Path) -> None:
    """After a merge of the branch there is nothing to apply: a plan through the gateway, with the pipeline's key and the same state."""
    git(up, "worktree", "add", "--quiet", "--detach", str(worktree), "sentinel/example")
    shutil.copy(up.home / "stack" / ".terraform.lock.hcl", worktree)
    key = saved_credentials(up).key("pipeline")
    variables = aws_variables(url=saved_credentials(up).url, key_id=key.id, secret=key.secret, region="us-east-1")
    environment = terraform_environment(mirror=None, workdir=up.home, base=with_aws_variables(os.environ, variables))
    for arguments in (
        ["init"],
        ["plan", "-detailed-exitcode", "-lock=false", f"-state={up.home}/stack/terraform.tfstate"],
    ):
        done = subprocess.run(
            ["terraform", *arguments, "-no-color"],
            cwd=worktree, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    git(up, "worktree", "remove", "--force", str(worktree))


def second_says_that_the_port_is_in_use(up: Up, second: Up) -> None:
    """One sentence, and exit code 1."""
    second.port = up.port
    assert second.start().ended() == 1
    assert second.output == (
        f"Port {up.port} on 127.0.0.1 is in use by another Sentinel. Choose another with --port, or end the process that uses it.\n"
    )


def gateway_is_killed(up: Up) -> None:
    """If one process dies, all end, with exit code 1 and the last lines of its log."""
    os.kill(up.gateway(), signal.SIGKILL)
    assert up.ended() == 1
    assert f"The gateway process was ended by SIGKILL. Last lines of {up.home / 'logs' / 'gateway.log'}:" in up.output
    assert_nothing_left(up)


def assert_ends(up: Up, how: signal.Signals) -> None:
    """A signal ends it and all its processes, with exit code 0."""
    assert {"gateway", "simulated"} <= up.parts()
    assert up.signal(how) == 0
    assert up.output.endswith("Ending all processes. The next `sentinel up` resumes from here.\n")
    assert_nothing_left(up)


def assert_nothing_left(up: Up) -> None:
    """No process runs, and the ports are free."""
    assert up.children() == {}
    for port in (up.port, up.aws_port):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))


def test_without_terraform_everything_but_write_back_works(an_up: Make, tmp_path: Path) -> None:
    up = an_up().ready(path=path_without_terraform(tmp_path / "bin"))
    assert "terraform is not on PATH: the stack is not applied and changes are not written back" in up.output
    assert up.parts() == {"gateway", "simulated"}
    queue = '{"QueueName": "jobs"}'
    held = json_of(
        up, "propose", "sqs", "CreateQueue", queue, "--intent", "availability", "--motivation", "launch", "--dry-run"
    )
    assert held["decision"]["verdict"] in ("allow", "hold", "deny")
    assert sentinel("tour", "--home", str(up.home), path=str(tmp_path / "bin")).returncode == 1
    assert status_of_a_bucket_policy(up) == 204
    gateway_is_killed(up)


def test_an_apply_that_fails_shows_why_and_ends_all(an_up: Make, tmp_path: Path) -> None:
    path = path_without_terraform(tmp_path / "bin")
    broken = tmp_path / "bin" / "terraform"
    broken.write_text('#!/bin/sh\necho "Error: no quota for [$1]"; [ "$1" = init ]\n')
    broken.chmod(0o755)
    up = an_up().start(path=path)
    assert up.ended() == 1
    assert "terraform apply failed in" in up.output
    assert up.output.endswith("Error: no quota for [apply]\n")
    assert_nothing_left(up)


def test_the_users_own_stack_is_used_in_place_and_not_applied(an_up: Make, tmp_path: Path) -> None:
    own = tmp_path / "infra" / "Prod West"
    own.mkdir(parents=True)
    (own / "main.tf").write_text('resource "aws_sqs_queue" "jobs" {\n  name = "jobs"\n}\n')
    up = an_up()
    assert up.start("--stack", str(own)).ended() == 1
    assert "is not in a git repository with a commit" in up.output
    for arguments in (
        ["init", "--quiet"],
        ["add", "--all"],
        ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "mine"],
    ):
        subprocess.run(["git", *arguments], cwd=own, check=True)
    before = sorted(own.iterdir())
    up.ready("--stack", str(own))
    assert "the stack is not applied; `sentinel up --apply` does that" in up.output
    assert f"sentinel apply --chdir '{own}'" in up.output
    assert sorted(own.iterdir()) == before
    assert up.signal(signal.SIGTERM) == 0


@pytest.mark.long
def test_the_real_aws_prints_a_warning_and_nothing_is_applied(an_up: Make) -> None:
    up = an_up().ready("--aws")
    assert "Real AWS: changes that Sentinel allows are made to real infrastructure" in up.output
    assert "the stack is not applied; `sentinel up --apply` does that" in up.output
    assert "simulated AWS on" not in up.output
    assert up.parts() == {"gateway", "reconciler"}
    assert up.signal(signal.SIGINT) == 0


def status_of_a_bucket_policy(up: Up) -> int:
    """The status of the simulated AWS's reply to PutBucketPolicy, which is 204 in AWS. Any other form of it would leave the change in doubt."""
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{up.aws_port}",
        region_name="us-east-1",
        aws_access_key_id="simulated",
        aws_secret_access_key="simulated",
    )
    client.create_bucket(Bucket="policied")
    reply = client.put_bucket_policy(Bucket="policied", Policy='{"Version": "2012-10-17", "Statement": []}')
    return int(reply["ResponseMetadata"]["HTTPStatusCode"])


def path_without_terraform(directory: Path) -> str:
    """A search path with git, and no terraform."""
    directory.mkdir()
    git_program = shutil.which("git")
    assert git_program
    (directory / "git").symlink_to(git_program)
    return str(directory)


def saved_credentials(up: Up) -> SavedCredentials:
    """The saved credentials of this `sentinel up`."""
    found = read_credentials(up.home)
    assert found is not None
    return found


def live(up: Up) -> int:
    """The number of consumers in AWS, read as the agent."""
    key = saved_credentials(up).key("agent")
    client = boto3.client(
        "autoscaling",
        endpoint_url=saved_credentials(up).url,
        region_name="us-east-1",
        aws_access_key_id=key.id,
        aws_secret_access_key=key.secret,
    )
    found = client.describe_auto_scaling_groups(AutoScalingGroupNames=[GROUP])
    return int(found["AutoScalingGroups"][0]["DesiredCapacity"])


def json_of(up: Up, *arguments: str) -> dict[str, Any]:
    """The JSON output of a command, run as the human."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENTINEL_URL", saved_credentials(up).url)
        patch.setenv("SENTINEL_TOKEN", saved_credentials(up).key("human").token)
        document: dict[str, Any] = json.loads(sentinel(*arguments, "--json").stdout)
    return document


def git(up: Up, *arguments: str) -> str:
    """Git in the stack's repository."""
    done = subprocess.run(["git", *arguments], cwd=up.home / "stack", check=True, capture_output=True, text=True)
    return done.stdout
