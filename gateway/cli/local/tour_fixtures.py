"""What the tour plays on: AWS clients for each actor, Terraform, the ledger, and a place to tell what happens."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.syntax import Syntax

from gateway.cli.client import ask, mutation_path
from gateway.cli.environment import aws_variables, pointed
from gateway.cli.identity import CliIdentity
from gateway.cli.local.credentials import SavedCredentials
from gateway.cli.output import safe
from gateway.errors import SentinelError
from gateway.settings import Settings
from gateway.terraform.provider_mirror import terraform_environment

ASG = "kafka-consumer-processor-asg"
_RECONCILE_SECONDS = 90.0


class TourFailed(SentinelError):
    """A step did not go as the story tells."""

    code = "story_broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class TourFixtures:
    """One running `sentinel up`, seen from outside."""

    home: Path
    kept: SavedCredentials
    settings: Settings
    out: Console
    """Where the story is told."""
    told: list[dict[str, Any]] = field(default_factory=list)
    """What each step saw, for `--json`."""

    def client(self, service: str, actor: str, intent: str = "", motivation: str = "") -> Any:
        """A boto3 client that goes through Sentinel as one actor. The hook is all an agent needs to state its motive."""
        import boto3
        from botocore.config import Config

        key = self.kept.key(actor)
        client = boto3.client(
            service,
            endpoint_url=self.kept.url,
            region_name=self.kept.region,
            aws_access_key_id=key.id,
            aws_secret_access_key=key.secret,
            config=Config(retries={"total_max_attempts": 1}),
        )
        if intent:
            motive = {"x-sentinel-intent": intent, "x-sentinel-motivation": motivation}
            client.meta.events.register("before-call", lambda params, **_: params["headers"].update(motive))
        return client

    def identity(self, actor: str) -> CliIdentity:
        """The API as one actor."""
        return CliIdentity(url=self.kept.url, token=self.kept.key(actor).token)

    async def records(self, **query: str) -> list[dict[str, Any]]:
        """Records of the ledger, as the human sees them, oldest first."""
        found = await ask(self.identity("human"), "GET", "/records", holds="records", query={"limit": "200", **query})
        return list(reversed(found["records"]))

    async def life(self, mutation_id: str) -> list[dict[str, Any]]:
        """All records of one mutation, oldest first."""
        found = await ask(self.identity("human"), "GET", mutation_path(mutation_id), holds="records")
        return list(found["records"])

    async def reconciliation_of(self, mutation_id: str) -> dict[str, Any]:
        """Wait for the RECONCILED record of a mutation; its body. Raises StoryBroken after a while."""
        for _ in range(int(_RECONCILE_SECONDS / 0.5)):
            for record in await self.life(mutation_id):
                if record["stage"] == "reconciled":
                    body: dict[str, Any] = record["body"]
                    return body
            await asyncio.sleep(0.5)
        raise TourFailed(
            f"{mutation_id} was not written back within {_RECONCILE_SECONDS:.0f} seconds; see the reconciler's log."
        )

    async def terraform(
        self, *arguments: str, actor: str = "pipeline", directory: Path | None = None
    ) -> tuple[int, str]:
        """Run terraform through Sentinel as one actor; exit code and output."""
        key = self.kept.key(actor)
        aws = aws_variables(url=self.kept.url, key_id=key.id, secret=key.secret, region=self.kept.region)
        environment = terraform_environment(
            mirror=self.settings.reconcile.provider_mirror,
            workdir=self.home,
            base={**pointed(os.environ, aws), "AWS_EC2_METADATA_DISABLED": "true"},
        )
        process = await asyncio.create_subprocess_exec(
            self.settings.reconcile.terraform,
            *arguments,
            cwd=directory or self.home / "stack",
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        return process.returncode or 0, output.decode(errors="replace")

    def title(self, number: int, words: str) -> None:
        """Begin a step."""
        self.out.print(f"\n[bold cyan]{number}. {safe(words)}[/bold cyan]")

    def say(self, label: str, words: str, style: str = "") -> None:
        """One line of a step: what it is, and what was seen."""
        text = safe(words.strip())
        self.out.print(f"   [dim]{label:<9}[/dim] " + (f"[{style}]{text}[/{style}]" if style else text))

    def show_diff(self, diff: str) -> None:
        """A diff in colour."""
        self.out.print(Syntax(diff.rstrip(), "diff", background_color="default"))

    def show_record(self, record: Mapping[str, Any]) -> None:
        """One line of the ledger."""
        body = record["body"]
        verdict = (body.get("decision") or {}).get("verdict") or body.get("outcome") or ""
        motive = body.get("motive") or {}
        why = "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part)
        line = f"#{record['seq']} {record['stage'].upper()} {verdict} {record['actor']} {why} {record['hash'][:12]}…"
        self.say("ledger", line)


async def called(call: Callable[[], Any]) -> Any:
    """Make a boto3 call off the loop; its result."""
    return await asyncio.to_thread(call)


async def refused(call: Callable[[], Any]) -> Any:
    """Make a boto3 call that must be refused; boto3's error. Raises StoryBroken where it passes."""
    from botocore.exceptions import ClientError

    try:
        result = await called(call)
    except ClientError as error:
        return error
    raise TourFailed(f"This should have been refused, and was not: {json.dumps(result, default=str)[:300]}")


def expect(condition: object, otherwise: str) -> None:
    """Raise StoryBroken with a sentence unless the condition holds."""
    if not condition:
        raise TourFailed(otherwise)


Step = Callable[[TourFixtures], Awaitable[None]]
