"""What the scripts of the six users share: the shop, an own stack of 21 resources, applied once and copied for each script, and its users."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from gateway.cli.aws_environment import aws_variables, with_aws_variables
from gateway.cli.demo.credentials import SavedCredentials, SavedKey, read_credentials
from gateway.terraform.provider_mirror import terraform_environment
from tests.kit.console import Person
from tests.kit.git import git, repository
from tests.kit.up import ROOT, Up, environment

_CODE = Path(__file__).parent / "shop"
_NOT_CODE = shutil.ignore_patterns(".terraform*", "*.tfstate*")
_PATIENCE_SECONDS = 600.0
_REGION = "us-east-1"
BRANCH = "sentinel/infra"
"""Where Sentinel writes what was changed."""


@dataclass
class Shop:
    """The shop's repository, and the `sentinel up` that guards its root module `infra`."""

    root: Path
    up: Up

    @property
    def code(self) -> Path:
        """The root module. Its modules stand beside it."""
        return self.root / "infra"

    @property
    def config(self) -> Path:
        """The settings of gateway and reconciler, for the commands of operators."""
        return self.up.home / "sentinel.toml"

    @property
    def credentials(self) -> SavedCredentials:
        """The keys that `sentinel up` saved."""
        found = read_credentials(self.up.home)
        assert found is not None
        return found

    def key(self, user: str) -> SavedKey:
        """The key of `agent`, `optimizer`, `human` or `pipeline`."""
        return self.credentials.key(user)

    def new_key(self, actor: str, kind: str, *options: str) -> SavedKey:
        """A key that an operator issues."""
        done = self.operator("key", "create", actor, "--kind", kind, *options, "--json")
        issued = json.loads(done.stdout)
        return SavedKey(id=issued["access_key_id"], secret=issued["secret_access_key"], actor=actor)

    # What its users run ---------------------------------------------------------------------------------------------

    def sentinel(self, user: str | SavedKey, *arguments: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run a command as this user, without a terminal, and require its exit code; None for any."""
        return _ran([sys.executable, "-m", "gateway", *arguments], ROOT, self.variables(user), code)

    def json(self, user: str | SavedKey, *arguments: str, code: int | None = 0) -> Any:
        """The one JSON document that a command prints."""
        return json.loads(self.sentinel(user, *arguments, "--json", code=code).stdout)

    def operator(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command that reads the ledger itself, with the gateway's settings."""
        command = [sys.executable, "-m", "gateway", *arguments, "--config", str(self.config)]
        return _ran(command, ROOT, environment(), code)

    def propose(
        self, user: str | SavedKey, call: str, parameters: Mapping[str, object], *more: str, code: int | None = 0
    ) -> Any:
        """What the gateway decides about a call, such as `ecs:UpdateService`."""
        service, _, operation = call.partition(":")
        return self.json(user, "propose", service, operation, json.dumps(parameters), *more, code=code)

    def client(self, user: str, service: str, *, intent: str = "", motivation: str = "") -> Any:
        """A boto3 client as an agent's program makes it: AWS's own, with another endpoint and key, and perhaps a motive."""
        key = self.key(user)
        client = boto3.client(
            service,
            endpoint_url=self.credentials.url,
            region_name=_REGION,
            aws_access_key_id=key.id,
            aws_secret_access_key=key.secret,
        )
        motive = {"x-sentinel-intent": intent, "x-sentinel-motivation": motivation} if intent else {}
        client.meta.events.register("before-call", lambda params, **_: params["headers"].update(motive))
        return client

    def past_the_gate(self, service: str) -> Any:
        """A boto3 client of the simulated AWS itself, as somebody uses it who goes round Sentinel."""
        return boto3.client(
            service,
            endpoint_url=f"http://127.0.0.1:{self.up.aws_port}",
            region_name=_REGION,
            aws_access_key_id="simulated",
            aws_secret_access_key="simulated",
        )

    def variables(self, user: str | SavedKey) -> dict[str, str]:
        """The environment in which Terraform, and Sentinel's commands that run it, reach AWS through the gateway."""
        key = self.key(user) if isinstance(user, str) else user
        url = self.credentials.url
        aws = aws_variables(url=url, key_id=key.id, secret=key.secret, region=_REGION)
        base = with_aws_variables({**os.environ, **aws}, aws)
        found = terraform_environment(mirror=None, workdir=self.up.home, base=base)
        return {**found, "SENTINEL_URL": url, "SENTINEL_TOKEN": key.token, "COLUMNS": "160"}

    def terraform(self, user: str | SavedKey, *arguments: str, directory: Path | None = None, code: int = 0) -> str:
        """What Terraform prints, run with this user's key in the root module, or in a clone of it."""
        command = ["terraform", *arguments, "-no-color"]
        return _ran(command, directory or self.code, self.variables(user), code).stdout

    def apply(self, user: str | SavedKey, *options: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """`sentinel apply` in the root module."""
        command = [sys.executable, "-m", "gateway", "apply", "--chdir", str(self.code), "--yes", *options]
        return _ran([*command, "--", "-no-color"], ROOT, self.variables(user), code)

    def plan(self, user: str | SavedKey) -> Path:
        """A plan of the code in Terraform's JSON, as `plan-check` takes it."""
        self.terraform(user, "plan", "-out=plan.bin", "-lock=false")
        path = self.up.home / "plan.json"
        shown = self.terraform(user, "show", "-json", "plan.bin")
        path.write_text(shown)
        (self.code / "plan.bin").unlink()
        return path

    def console(self, user: str, page: str) -> str:
        """A page of the console, as a signed-in person sees it."""
        person = Person(self.credentials.url)
        assert person.post("/console/sign-in", data={"key": self.key(user).token}).status_code == httpx.codes.SEE_OTHER
        return person.get(page).text

    def restart(self, *options: str, **settings: str) -> None:
        """End `sentinel up`, and start it again with these options and settings (`SENTINEL_…`)."""
        if self.up.process is not None and self.up.process.poll() is None:
            assert self.up.signal(signal.SIGINT) == 0
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            self.up.ready("--stack", str(self.code), *options)

    # What becomes of it ---------------------------------------------------------------------------------------------

    def edit(self, file: str, old: str, new: str) -> None:
        """Change a text of the code that is there once, and commit it to the protected branch."""
        path = self.root / file
        text = path.read_text()
        assert text.count(old) == 1, (file, old)
        path.write_text(text.replace(old, new))
        self.commit(f"{file}: {new.strip().splitlines()[0]}")

    def commit(self, message: str) -> None:
        """Commit what was edited; the state and Terraform's own files are ignored."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)

    def records(self, stage: str) -> list[Any]:
        """The records of a stage, newest first."""
        found: list[Any] = self.json("human", "records", "--stage", stage, "--limit", "1000")["records"]
        return found

    def written(self, *mutations: str) -> dict[str, Any]:
        """What the reconciler recorded of these mutations; waits until it has."""
        wanted = set(mutations)

        def recorded() -> dict[str, Any]:
            # Newest first: of several records of a mutation the newest counts.
            return {each["mutation_id"]: each["body"] for each in reversed(self.records("reconciled"))}

        self.wait_until(lambda: wanted <= recorded().keys(), f"the reconciler looked at {sorted(wanted)}")
        return {name: body for name, body in recorded().items() if name in wanted}

    def left(self) -> list[Any]:
        """What is left to a person."""
        found: list[Any] = self.json("human", "left")["left"]
        return found

    def git(self, *arguments: str) -> str:
        """What git prints, in the shop's repository."""
        return git(self.root, *arguments)

    def on_branch(self, file: str) -> str:
        """A file of the code as Sentinel's branch has it."""
        return git(self.root, "show", f"{BRANCH}:{file}")

    def merge(self, *mutations: str) -> None:
        """Merge what Sentinel wrote, as its reviewer does; waits until the state has followed these mutations, which takes Terraform's lock."""
        git(self.root, "merge", "--quiet", "--no-edit", BRANCH)
        self.wait_until(lambda: set(mutations) <= self._merged(), f"the state follows {mutations}")

    def _merged(self) -> set[str]:
        found = self.operator("query", "SELECT mutation FROM writebacks WHERE merged = 1", "--json")
        return {str(row[0]) for row in json.loads(found.stdout)["rows"]}

    def differences(self) -> dict[str, tuple[str, ...]]:
        """What a plan of the code would still do, by address."""
        plan = json.loads(self.plan("pipeline").read_text())
        changes = {each["address"]: tuple(each["change"]["actions"]) for each in plan["resource_changes"]}
        return {address: actions for address, actions in changes.items() if actions not in {("no-op",), ("read",)}}

    def wait_until(self, true: Callable[[], object], what: str) -> None:
        """Wait until a condition holds."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not true():
            assert time.monotonic() < deadline, f"Never: {what}. {self.log('reconciler')}"
            time.sleep(1)

    def log(self, part: str) -> str:
        """The end of the log of `gateway` or `reconciler`."""
        return (self.up.home / "logs" / f"{part}.log").read_text()[-4000:]

    def ends_well(self) -> None:
        """The end of every story: merged, the plan is clean, or every difference stands in `left`; and the ledger is intact."""
        self.merge()
        left = self.left()
        assert self.differences().keys() <= {each["address"] for each in left}, left
        assert self.operator("verify").stdout.startswith("The ledger is intact: ")


def mutation_of(refusal: str) -> str:
    """The mutation that a message names."""
    found = re.search(r"mut_[0-9a-z]{26}", refusal)
    assert found is not None, refusal
    return found[0]


def _ran(
    command: list[str], directory: Path, variables: Mapping[str, str], code: int | None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=directory, env=dict(variables), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    if code not in (None, done.returncode):
        pytest.fail(f"{command} ended with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done


@pytest.fixture(scope="session")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop after `sentinel up --stack … --apply`, ended. A copy of it is kept beside it."""
    here = tmp_path_factory.mktemp("users") / "here"
    shutil.copytree(_CODE, here / "shop", ignore=_NOT_CODE)
    (here / "shop" / ".gitignore").write_text(".terraform*\n*.tfstate*\n*.bin\n")
    shop = Shop(root=repository(here / "shop"), up=Up(home=here / "home"))
    shop.restart("--apply")
    assert "stack applied by Terraform, through the gateway" in shop.up.output
    assert shop.up.signal(signal.SIGTERM) == 0
    here.rename(here.with_name("kept"))
    return shop


@pytest.fixture
def shop(applied: Shop) -> Iterator[Shop]:
    """The applied shop, guarded by a running `sentinel up`. Each script has a copy of its own, at the same place and ports."""
    here = applied.up.home.parent
    shutil.copytree(here.with_name("kept"), here, symlinks=True)
    try:
        applied.restart()
        yield applied
        assert applied.up.signal(signal.SIGINT) == 0
    finally:
        if applied.up.process is not None and applied.up.process.poll() is None:
            applied.up.signal(signal.SIGTERM)
        shutil.rmtree(here)
