"""One run of `sentinel reconcile`: finds Terraform and the state, and runs with a plan or without."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.core.errors import SettingsInvalid
from gateway.core.model.adopt import Adopt
from gateway.terraform.config.source import parsed_once
from gateway.terraform.provider_mirror import terraform_environment
from reconciler.changes.cloudtrail import Event
from reconciler.terraform.cli import Terraform, found_executable
from reconciler.terraform.plugin.warm import warm_provider
from reconciler.working_copy.report import Report, write

if TYPE_CHECKING:
    from reconciler.suggest.suggestions import Suggestions


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingCopyRun:
    """The options of one run."""

    path: Path
    events: Sequence[Event] = ()
    endpoint: str = ""
    state: Path | None = None
    executable: str = "terraform"
    mirror: Path | None = None
    frozen: Sequence[str] = ()
    written: bool = False
    refreshed: bool = True
    only: Sequence[str] = ()
    planned: bool = True
    tokens: int = 0
    adopt: Adopt = Adopt.LINKED

    @property
    def known_state(self) -> Path | None:
        """The state file; None if the code's own backend has it."""
        default = self.path / "terraform.tfstate"
        return (self.state or default).absolute() if self.state or default.is_file() else None


async def reconcile_working_copy(run: WorkingCopyRun, environment: Mapping[str, str] = os.environ) -> Report:
    """The report of one run. `environment` is the user's.

    Raises `gateway.core.errors.SettingsInvalid` for options that do not go together, else as `reconcile_with_plan` and `reconcile_without_plan`.
    """
    _check(run, environment)
    base = {**environment, **({"AWS_ENDPOINT_URL": run.endpoint} if run.endpoint else {})}
    with tempfile.TemporaryDirectory(prefix="sentinel-") as directory:
        workdir = Path(directory)
        shared = run.path / ".terraform"
        given = terraform_environment(mirror=run.mirror, workdir=workdir, base=base)
        async with warm_provider(given) as warm:
            terraform = Terraform(
                environment=given,
                workdir=workdir,
                executable=found_executable(run.executable),
                shared_data=shared if shared.is_dir() else None,
                warm=warm,
            )
            with parsed_once():
                return await (
                    _planned(run, terraform, environment) if run.planned else _unplanned(run, terraform, environment)
                )


def _check(run: WorkingCopyRun, environment: Mapping[str, str]) -> None:
    if bool(run.only) == run.planned:
        raise SettingsInvalid(
            "--only and --no-plan go together: name the resources to read, e.g. --no-plan --only aws_sqs_queue.jobs."
        )
    if run.tokens and not environment.get("ANTHROPIC_API_KEY"):
        raise SettingsInvalid("--suggest needs ANTHROPIC_API_KEY in the environment.")


async def _planned(run: WorkingCopyRun, terraform: Terraform, environment: Mapping[str, str]) -> Report:
    # Each of the two ways imports only what it needs: a run without a plan takes no longer than a second.
    from reconciler.working_copy.with_plan import finish, reconcile_with_plan  # noqa: PLC0415

    report = await reconcile_with_plan(
        terraform,
        run.path,
        state=run.known_state,
        events=run.events,
        workdir=terraform.workdir,
        frozen=run.frozen,
        suggestions=_suggestions(run, environment),
        how=run.adopt,
    )
    return await finish(run.path, report, written=run.written, refreshed=run.refreshed)


async def _unplanned(run: WorkingCopyRun, terraform: Terraform, environment: Mapping[str, str]) -> Report:
    state = run.known_state
    if state is None:
        raise SettingsInvalid("Without a plan, the state must be a file: give it with --state.")
    from reconciler.terraform.live_reads import LiveReads  # noqa: PLC0415  as above
    from reconciler.working_copy.without_plan import reconcile_without_plan  # noqa: PLC0415

    async with LiveReads.beside(terraform, cache_of(environment)) as reads:
        report = await reconcile_without_plan(
            reads, run.path, run.only, state=state, events=run.events, workdir=terraform.workdir, frozen=run.frozen
        )
    if run.written and report.edited.files:
        write(run.path, report)
    return replace(report, planned=False)


def cache_of(environment: Mapping[str, str]) -> Path | None:
    """The user's directory for what can be asked for again, by the XDG Base Directory Specification; None if there is none."""
    given, home = environment.get("XDG_CACHE_HOME", ""), environment.get("HOME", "")
    base = Path(given) if Path(given).is_absolute() else Path(home, ".cache")
    return base / "sentinel" / "providers" if base.is_absolute() else None


def _suggestions(run: WorkingCopyRun, environment: Mapping[str, str]) -> "Suggestions | None":
    if not run.tokens:
        return None
    from pydantic import SecretStr  # noqa: PLC0415  as above

    from gateway.core.settings import SuggestSettings  # noqa: PLC0415
    from gateway.core.times import SystemClock  # noqa: PLC0415
    from reconciler.suggest.from_settings import open_suggestions, users_folder  # noqa: PLC0415

    given = {"endpoint": endpoint} if (endpoint := environment.get("ANTHROPIC_BASE_URL")) else {}
    key = SecretStr(environment.get("ANTHROPIC_API_KEY", ""))
    settings = SuggestSettings(key=key, tokens_a_day=run.tokens, **given)
    return open_suggestions(settings, users_folder(environment), SystemClock())
