"""The session of a plan from the client's side: opened with the plan's changes, waited for, and ended."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from gateway.cli.aws_environment import aws_variables
from gateway.cli.client import CliIdentity, call_api, identity, mutation_path
from gateway.cli.options import Json
from gateway.cli.output import console, error_console, fail, run, show_json
from gateway.core.errors import Malformed
from gateway.core.model.plan import Plan, change_to_json
from gateway.core.model.verdict import Verdict

HELD: Final = "Held as"
"""What is said of a plan that waits for a person begins so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A plan to be judged, or to be applied."""

    plan: Plan
    stack: str = ""
    motive: Mapping[str, Any] | None = None
    lasts: str = ""
    """How long the session is to last; empty if none is to be opened."""

    def body(self) -> dict[str, Any]:
        """As the API takes it."""
        return {
            "stack": self.stack,
            "terraform_version": self.plan.terraform_version,
            "changes": [change_to_json(change) for change in self.plan.changes],
            "motive": self.motive,
            **({"open_session": {"lasts": self.lasts}} if self.lasts else {}),
        }


async def ask(caller: CliIdentity, request: PlanRequest) -> dict[str, Any]:
    """The report about the plan, with its session if one was asked for and opened. Raises as `call_api`."""
    return await call_api(caller, "POST", "/plans", member="passes", body=request.body())


async def ask_until_decided(caller: CliIdentity, request: PlanRequest) -> dict[str, Any]:
    """As `ask`; while the plan is held, wait until a person has decided, and ask again."""
    while is_held(reply := await ask(caller, request)):
        plan = reply["mutation"]
        error_console.print(
            f"{HELD} {plan}: waits until a person runs `sentinel approve {plan}`, or `sentinel reject {plan}`."
        )
        decided = False
        while not decided:
            path = mutation_path(str(reply["mutation"]))
            found = await call_api(caller, "GET", path, member="state", query={"wait": "30s"})
            decided = found["state"] != "held"
    return reply


def is_held(report: Mapping[str, Any]) -> bool:
    """Whether the plan waits for a person."""
    return report["session"] is None and report["decision"]["verdict"] == Verdict.HOLD


def next_step(report: Mapping[str, Any]) -> str:
    """What to do about a plan whose session was not opened."""
    if not is_held(report):
        return "Denied, and nothing was applied. Change the code, or what stands against it, and plan again."
    plan = report["mutation"]
    return f"{HELD} {plan}, and nothing was applied. Once a person has approved it (`sentinel approve {plan}`), run the same command again."


async def end(caller: CliIdentity, plan: str, exit_code: int | None) -> None:
    """End a session. Raises as `call_api`."""
    await call_api(caller, "DELETE", f"/plans/{plan}/session", member="ended", body={"exit_code": exit_code})


def session_variables(caller: CliIdentity, report: Mapping[str, Any]) -> dict[str, str]:
    """The environment of the session: for Terraform's provider and backend, and for Sentinel's own commands."""
    key = report["session"]
    key_id, secret = key["access_key_id"], key["secret_access_key"]
    return {
        **aws_variables(url=caller.url, key_id=key_id, secret=secret, region=_region(caller)),
        "SENTINEL_URL": caller.url,
        "SENTINEL_TOKEN": f"{key_id}.{secret}",
        "SENTINEL_PLAN": report["mutation"],
    }


def standing_variables(caller: CliIdentity) -> dict[str, str]:
    """The environment in which Terraform plans: reads with the caller's own key."""
    key_id, _, secret = caller.token.partition(".")
    return aws_variables(url=caller.url, key_id=key_id, secret=secret, region=_region(caller))


def _region(caller: CliIdentity) -> str:
    given = (os.environ.get(name, "") for name in ("AWS_REGION", "AWS_DEFAULT_REGION"))
    return next((region for region in given if region), caller.region)


def end_session(
    plan: Annotated[str, typer.Argument(help="The plan, mut_…; default: SENTINEL_PLAN.")] = "",
    *,
    exit_code: Annotated[int | None, typer.Option(help="Terraform's exit code. Recorded.")] = None,
    as_json: Json = False,
) -> None:
    """End the session that `sentinel plan-check --open-session` opened. Its key ends with it; what was planned and not done is free again."""
    named = plan or os.environ.get("SENTINEL_PLAN", "")
    if not named:
        fail(Malformed("Name the plan whose session is to end, or set SENTINEL_PLAN."), as_json=as_json)
    run(_end(named, exit_code), as_json=as_json)
    if as_json:
        show_json({"ended": True})
    else:
        console.print("The session has ended.")


async def _end(plan: str, exit_code: int | None) -> None:
    mutation_path(plan)  # refuses what is no id
    await end(identity(default="pipeline"), plan, exit_code)
