"""Terraform as the harness runs it: the real command with the real provider, which stays warm between commands."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.terraform.provider_mirror import find_mirrors, terraform_environment

PROVIDER = "registry.terraform.io/hashicorp/aws"
_ATTACH = re.compile(r"TF_REATTACH_PROVIDERS='([^']+)'")
_START_SECONDS = 300
_LONGEST_SECONDS = 600
"""What a provider waits for may never come: what it imports is the contestant's choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command's exit code and output."""

    code: int
    out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What `plan -detailed-exitcode` said, with the changes it would make."""

    code: int
    changes: Mapping[str, str]
    """Action by address; outputs are not among them."""
    text: str
    imported: frozenset[str] = frozenset()
    """Addresses that it would import, also where it would change them too."""

    @property
    def clean(self) -> bool:
        """Whether nothing is to be done, outputs included."""
        return self.code == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Terraform against one endpoint."""

    environment: Mapping[str, str]

    def run(self, root: Path, *argv: str, data: Path | None = None) -> Ran:
        """Run a command in `root`; `data` replaces its `.terraform`."""
        environment = {**self.environment, **({"TF_DATA_DIR": str(data)} if data else {})}
        try:
            done = subprocess.run(
                ["terraform", *argv], cwd=root, env=environment, capture_output=True, text=True, check=False,
                timeout=_LONGEST_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Ran(code=1, out=f"terraform {argv[0]} had not ended after {_LONGEST_SECONDS} s.")
        return Ran(code=done.returncode, out=done.stdout + done.stderr)

    def must(self, root: Path, *argv: str) -> str:
        """As `run`, for a command that has to succeed. Raises RuntimeError."""
        ran = self.run(root, *argv)
        if ran.code:
            raise RuntimeError(f"terraform {' '.join(argv)} in {root} failed:\n{ran.out[-4000:]}")
        return ran.out

    def plan(self, root: Path, *more: str, data: Path | None = None) -> Planned:
        """Plan, without touching the state."""
        ran = self.run(root, "plan", "-detailed-exitcode", "-lock=false", "-json", *more, data=data)
        return read_plan(ran)

    def wanted(self, root: Path) -> dict[tuple[str, str], str]:
        """What a plan would set, as JSON by (address, attribute). Raises RuntimeError if there is no plan."""
        self.must(root, "plan", "-lock=false", "-no-color", "-out=wanted.plan")
        try:
            return read_wanted(json.loads(self.must(root, "show", "-json", "-no-color", "wanted.plan")))
        finally:
            (root / "wanted.plan").unlink()


def read_wanted(document: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """The attributes that a plan changes, with their new values as JSON, by (address, attribute); outputs as ("output", name)."""
    found: dict[tuple[str, str], str] = {}
    for resource in document.get("resource_changes", []):
        found |= _changed(resource["address"], resource["change"])
    for name, change in document.get("output_changes", {}).items():
        found |= _changed(
            "output", {**change, "before": {name: change["before"]}, "after": {name: change.get("after")}}
        )
    return found


def _changed(address: str, change: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    before, after = change["before"] or {}, change["after"] or {}
    names = {*before, *after} if change["actions"] != ["no-op"] else set()
    return {
        (address, name): json.dumps(after.get(name), sort_keys=True)
        for name in names
        if before.get(name) != after.get(name)
    }


def read_plan(ran: Ran) -> Planned:
    """A plan from the machine-readable output of `plan -json`."""
    lines = [json.loads(line) for line in ran.out.splitlines() if line.startswith("{")]
    changes = {
        line["change"]["resource"]["addr"]: line["change"]["action"]
        for line in lines
        if line["type"] == "planned_change"
    }
    imported = [
        line["change"]["resource"]["addr"]
        for line in lines
        if line["type"] == "planned_change" and "importing" in line["change"]
    ]
    errors = [_sentence(line["diagnostic"]) for line in lines if line.get("@level") == "error" and "diagnostic" in line]
    outputs = [name for line in lines if line["type"] == "outputs" for name in _changed_outputs(line["outputs"])]
    said = [f"{address} ({action})" for address, action in changes.items()] + [f"output {name}" for name in outputs]
    return Planned(
        code=ran.code, changes=changes, text="; ".join(errors + said) or ran.out[-400:], imported=frozenset(imported)
    )


def environment_for(endpoint: str, workdir: Path) -> dict[str, str]:
    """The variables that a user of the simulated AWS at `endpoint` would have set, and no key of any LLM."""
    base = {name: os.environ[name] for name in ("PATH", "LANG", "GOGC") if name in os.environ}
    base |= {"HOME": str(workdir), "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    base |= {"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": endpoint}
    return terraform_environment(mirror=None, workdir=workdir, base=base)


@contextmanager
def warm_tool(endpoint: str, workdir: Path) -> Iterator[Tool]:
    """Terraform with a provider that keeps running. The provider's endpoint is fixed."""
    environment = environment_for(endpoint, workdir)
    with warm_provider(environment, workdir) as attached:
        yield Tool(environment={**environment, **attached})


@contextmanager
def warm_provider(environment: Mapping[str, str], workdir: Path) -> Iterator[Mapping[str, str]]:
    """The variable that names terraform a provider that keeps running: a command then costs half as much."""
    workdir.mkdir(parents=True, exist_ok=True)
    log = workdir / "provider.log"
    lasting = {**environment, "GOGC": "200"}  # more would add up: it lives as long as all the plans
    with (
        log.open("w") as output,
        subprocess.Popen([str(provider()), "-debug"], env=lasting, stdout=output, stderr=output) as process,
    ):
        try:
            yield {"TF_REATTACH_PROVIDERS": _attached(log, process)}
        finally:
            process.kill()


def provider() -> Path:
    """The AWS provider of this machine. Raises RuntimeError."""
    for mirror in find_mirrors(os.environ):
        if found := sorted((mirror.path / PROVIDER).glob("*/*/terraform-provider-aws*")):
            return found[-1]
    raise RuntimeError(f"No mirror on this machine has {PROVIDER}.")


def _attached(log: Path, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + _START_SECONDS
    while not (found := _ATTACH.search(log.read_text())):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"The provider did not start: {log.read_text()[-1000:]}")
        time.sleep(0.1)
    return found[1]


def _sentence(diagnostic: Mapping[str, Any]) -> str:
    return f"{diagnostic['summary']}: {diagnostic.get('detail', '')}".strip()


def _changed_outputs(outputs: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    return [name for name, output in outputs.items() if output.get("action", "noop") != "noop"]
