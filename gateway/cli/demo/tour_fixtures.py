"""Fixtures for `sentinel tour`: boto3 clients per actor, a Terraform runner, ledger queries and console output."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.syntax import Syntax

from gateway.cli.aws_environment import aws_variables
from gateway.cli.client import CliIdentity, call_api, mutation_path
from gateway.cli.demo.credentials import SavedCredentials
from gateway.cli.demo.stack import environment_of_terraform
from gateway.cli.output import AnyConsole, safe
from gateway.core.errors import SentinelError
from gateway.core.waiting import waiting

if TYPE_CHECKING:
    from gateway.core.settings import Settings

ASG = "kafka-consumer-processor-asg"
_RECONCILE_SECONDS = 90.0


class TourFailed(SentinelError):
    """A step of the tour did not have the expected result."""

    code = "story_broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class TourFixtures:
    """Access to one running `sentinel up`, as its clients have it."""

    home: Path
    credentials: SavedCredentials
    settings: "Settings"
    out: AnyConsole
    """Where the steps are printed."""
    observations: list[dict[str, Any]] = field(default_factory=list)
    """What each step observed, for `--json`."""

    def client(self, service: str, actor: str, intent: str = "", motivation: str = "") -> Any:
        """A boto3 client of one actor that calls Sentinel. The event hook is all that an agent needs to state its motive."""
        import boto3
        from botocore.config import Config

        key = self.credentials.key(actor)
        client = boto3.client(
            service,
            endpoint_url=self.credentials.url,
            region_name=self.credentials.region,
            aws_access_key_id=key.id,
            aws_secret_access_key=key.secret,
            config=Config(retries={"total_max_attempts": 1}),
        )
        if intent:
            motive = {"x-sentinel-intent": intent, "x-sentinel-motivation": motivation}
            client.meta.events.register("before-call", lambda params, **_: params["headers"].update(motive))
        return client

    def identity(self, actor: str) -> CliIdentity:
        """The identity of one actor for the API."""
        return CliIdentity(url=self.credentials.url, token=self.credentials.key(actor).token)

    async def records(self, **query: str) -> list[dict[str, Any]]:
        """Records that match `query`, read as the human, oldest first."""
        reply = await call_api(
            self.identity("human"), "GET", "/records", member="records", query={"limit": "200", **query}
        )
        return list(reversed(reply["records"]))

    async def mutation_records(self, mutation_id: str) -> list[dict[str, Any]]:
        """Every record of one mutation, oldest first."""
        reply = await call_api(self.identity("human"), "GET", mutation_path(mutation_id), member="records")
        return list(reply["records"])

    async def reconciliation_of(self, mutation_id: str) -> dict[str, Any]:
        """Wait for the RECONCILED record of a mutation; returns its body. Raises TourFailed after 90 seconds."""
        with waiting("Waiting for the reconciler, which proves the change by a plan and commits it"):
            for _ in range(int(_RECONCILE_SECONDS / 0.5)):
                for record in await self.mutation_records(mutation_id):
                    if record["stage"] == "reconciled":
                        body: dict[str, Any] = record["body"]
                        return body
                await asyncio.sleep(0.5)
        raise TourFailed(
            f"{mutation_id} was not written back within {_RECONCILE_SECONDS:.0f} seconds; see the reconciler's log."
        )

    async def terraform(self, *arguments: str) -> tuple[int, str]:
        """Run terraform on the stack through Sentinel, as the pipeline; returns exit code and output."""
        key = self.credentials.key("pipeline")
        aws = aws_variables(url=self.credentials.url, key_id=key.id, secret=key.secret, region=self.credentials.region)
        process = await asyncio.create_subprocess_exec(
            self.settings.reconcile.terraform,
            *arguments,
            cwd=self.home / "stack",
            env=environment_of_terraform(self.home, self.settings, aws),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        with waiting(f"Running terraform {arguments[0]} through Sentinel"):
            output, _ = await process.communicate()
        return process.returncode or 0, output.decode(errors="replace")

    def title(self, number: int, text: str) -> None:
        """Print the title of a step."""
        self.out.print(f"\n[bold cyan]{number}. {safe(text)}[/bold cyan]")

    def show(self, label: str, text: str, style: str = "") -> None:
        """Print one line of a step, with a label."""
        text = safe(text.strip())
        self.out.print(f"   [dim]{label:<9}[/dim] " + (f"[{style}]{text}[/{style}]" if style else text))

    def show_diff(self, diff: str) -> None:
        """Print a diff in colour."""
        self.out.print(Syntax(diff.rstrip(), "diff", background_color="default"))

    def show_record(self, record: Mapping[str, Any]) -> None:
        """Print a record on one line."""
        body = record["body"]
        verdict = (body.get("decision") or {}).get("verdict") or body.get("outcome") or ""
        motive = body.get("motive") or {}
        why = "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part)
        line = f"#{record['seq']} {record['stage'].upper()} {verdict} {record['actor']} {why} {record['hash'][:12]}…"
        self.show("ledger", line)


async def in_thread(call: Callable[[], Any]) -> Any:
    """Make a blocking boto3 call in a thread; returns its result."""
    with waiting("Waiting for Sentinel's answer"):
        return await asyncio.to_thread(call)


async def expect_refused(call: Callable[[], Any]) -> Any:
    """Make a boto3 call that must be refused; returns boto3's error. Raises TourFailed if the call succeeds."""
    from botocore.exceptions import ClientError

    try:
        result = await in_thread(call)
    except ClientError as error:
        return error
    raise TourFailed(f"This call should have been refused, but succeeded: {json.dumps(result, default=str)[:300]}")


def expect(condition: object, message: str) -> None:
    """Raise TourFailed with the message unless the condition holds."""
    if not condition:
        raise TourFailed(message)


Step = Callable[[TourFixtures], Awaitable[None]]
