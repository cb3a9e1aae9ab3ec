"""The reconciler's composition root: builds one worker per stack from the settings and runs them."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy.engine import make_url

from gateway.core.errors import SentinelError, SettingsInvalid
from gateway.core.model.json import Json
from gateway.core.settings import Settings, StackSettings
from gateway.core.settings.publish import EventSourceKind, EventSourceSettings, GitHubSettings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.ledger_keys import master_key_of, workflows_key
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.terraform.config.backend import state_location
from gateway.terraform.origins import code_origin
from gateway.terraform.provider_mirror import read_mirror, terraform_environment
from gateway.terraform.repository import find_checkout
from reconciler.changes.backlog import Backlog
from reconciler.changes.event_sources import open_sources
from reconciler.drift.created_outside import CreatedBesideCode
from reconciler.drift.healing import Healer
from reconciler.drift.implicit_conflicts import ImplicitConflicts
from reconciler.drift.in_doubt.read_back import LiveReader, ReadBack
from reconciler.drift.in_doubt.trail_evidence import Trail
from reconciler.drift.put_backs.gateway_api import GatewayApi
from reconciler.drift.put_backs.put_back import PutBacks
from reconciler.drift.scan import DriftScan
from reconciler.line.loop import Line
from reconciler.notify.delivery import open_workers
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.proof.suggested_edits import SuggestionRounds
from reconciler.publish.github import GitHubApi, Token
from reconciler.publish.publisher import Publisher
from reconciler.publish.push import Remote
from reconciler.publish.stack_pull_request import StackPullRequest
from reconciler.publish.write_backs import WriteBacks
from reconciler.suggest.from_settings import open_namer, open_suggestions
from reconciler.suggest.suggestions import Suggestions
from reconciler.terraform.cli import Terraform, found_executable
from reconciler.terraform.code_guard import CodeGuard
from reconciler.terraform.credentials import check_credentials, passed_environment
from reconciler.terraform.live_reads import LiveReads
from reconciler.terraform.observation import observe
from reconciler.workflows import Worker, serve

log = structlog.get_logger()


async def run_reconciler(settings: Settings, stop: asyncio.Event) -> None:
    """Write mutations back until `stop` is set. Raises `errors.SettingsInvalid`, `errors.LedgerUnavailable`, `errors.LedgerBroken`."""
    async with open_sealed_ledger(settings) as ledger:
        clock = SystemClock()
        master = master_key_of(settings)
        keys = SqlKeyRing(ledger, master=master, clock=clock)
        await check_credentials(settings, keys, os.environ, clock.now())
        suggestions = open_suggestions(settings.reconcile.suggest, _suggest_folder(settings), clock)
        workers = {stack.name: _worker(settings, stack, ledger, suggestions) for stack in settings.stacks}
        for worker in workers.values():
            await _log_terraform_version(worker.line)
        await serve(
            workers,
            database=workflows_database(settings),
            key=workflows_key(master),
            poll_seconds=settings.reconcile.poll_seconds,
            stop=stop,
            receivers=open_workers(settings, ledger, clock),
            elsewhere=_read_back(settings, ledger, concerns=lambda stack: stack not in workers, read_live=None),
        )


def _suggest_folder(settings: Settings) -> Path:
    """Where the service keeps what models cost and which of their edits passed."""
    return (settings.data / "suggest").absolute()


def environment(settings: Settings, workdir: Path) -> dict[str, str]:
    """The environment of terraform: it reads through the gateway, with the reconciler's own key."""
    reconcile, server = settings.reconcile, settings.server
    base = passed_environment(os.environ, more=reconcile.pass_environment, own_key=bool(reconcile.key_id))
    base["AWS_ENDPOINT_URL"] = reconcile.endpoint or f"http://{server.host}:{server.port}"
    if reconcile.key_id:
        base |= {
            "AWS_ACCESS_KEY_ID": reconcile.key_id,
            "AWS_SECRET_ACCESS_KEY": reconcile.key_secret.get_secret_value(),
        }
    return terraform_environment(mirror=reconcile.provider_mirror, workdir=workdir, base=base)


def code_guard(settings: Settings) -> CodeGuard:
    """What the code may name, from the settings and the provider mirror named there."""
    reconcile = settings.reconcile
    mirror = read_mirror(reconcile.provider_mirror) if reconcile.provider_mirror else None
    return CodeGuard(
        providers=frozenset({*reconcile.allow.providers, *(mirror.providers if mirror else ())}),
        modules=frozenset(reconcile.allow.modules),
        blocks=frozenset(reconcile.allow.blocks),
    )


def state_file(stack: StackSettings) -> Path | None:
    """The state file that terraform is given; None if the code's own backend finds the state."""
    source = stack.path.absolute()
    if stack.state is not None:
        return stack.state.absolute()
    # Which backend counts is what the protected branch says, not what lies in the checkout.
    code, _ = code_origin(source, stack.protected_branch, stack.workspace).load()
    found = state_location(code.module.source, stack.name, given=stack.backend_config, workspace=stack.workspace)
    return source / "terraform.tfstate" if found is None else None


def protected_ref(source: Path, wanted: str) -> str:
    """The ref of the stack's protected branch, found as the gateway finds it; `HEAD` outside git, where nothing can be written back.

    Raises `gateway.core.errors.CodeInvalid` if there is no such branch.
    """
    checkout = find_checkout(source)
    return checkout.protected_ref(wanted) if checkout else "HEAD"


def _terraform(settings: Settings, stack: StackSettings, workdir: Path) -> Terraform:
    return Terraform(
        environment=environment(settings, workdir),
        workdir=workdir / "terraform",
        executable=found_executable(settings.reconcile.terraform),
        shared_data=stack.path.absolute() / ".terraform",
        backend_config=stack.backend_config,
        workspace=stack.workspace,
        guard=code_guard(settings),
    )


async def observe_stack(settings: Settings, name: str, targets: Sequence[str]) -> list[dict[str, Json]]:
    """Resources of a stack as the state has them and as they are now. Only the state, the code and the provider are read.

    Raises `errors.SettingsInvalid` for an unknown stack or one without a state file, else as `observe`.
    """
    stack = next((each for each in settings.stacks if each.name == name), None)
    if stack is None:
        raise SettingsInvalid(f"The settings name no stack {name}.")
    state = state_file(stack)
    if state is None:
        raise SettingsInvalid(
            f"The state of {name} is in its backend; only a state in a file can be compared with what is live."
        )
    workdir = (settings.data / "reconciler" / stack.name).absolute()
    terraform = _terraform(settings, stack, workdir)
    async with LiveReads.beside(terraform) as reads:
        return await observe(reads, stack.path.absolute(), state=state, targets=targets)


def _worker(
    settings: Settings, stack: StackSettings, ledger: SqlLedger, suggestions: Suggestions | None = None
) -> Worker:
    workdir = (settings.data / "reconciler" / stack.name).absolute()
    source = stack.path.absolute()
    state = state_file(stack)
    terraform = replace(_terraform(settings, stack, workdir), background=True)
    line = Line(
        stack=stack.name,
        source=source,
        protected=protected_ref(source, stack.protected_branch),
        state=state,
        branch=settings.reconcile.branch.format(stack=stack.name),
        worktree=workdir / "worktree",
        terraform=terraform,
        frozen=stack.frozen,
        states={each.path.resolve(): each.state.absolute() for each in settings.stacks if each.state is not None},
        queries=ledger,
        commands=ledger,
        clock=SystemClock(),
        declared_cache=DeclaredCache(),
        asked=SuggestionRounds(suggestions=suggestions) if suggestions else None,
        refresh_state=settings.reconcile.refresh_state,
        adopt=settings.reconcile.adopt,
    )
    read_back = _read_back(settings, ledger, concerns=lambda name: name == stack.name, read_live=line.read_live)
    backlog = Backlog(stack=stack.name)
    pushing = _pushing(settings, line, backlog, ledger)
    drifting = _drifting(settings, line, backlog, ledger) if settings.reconcile.drift_every else None
    putting_back = _putting_back(settings, line, ledger)
    return Worker(
        line=line,
        backlog=backlog,
        read_back=read_back,
        pushing=pushing,
        drifting=drifting,
        putting_back=putting_back,
        together=timedelta(seconds=settings.reconcile.together_seconds),
    )


def _putting_back(settings: Settings, line: Line, ledger: SqlLedger) -> PutBacks:
    """The gateway is asked directly, whatever `reconcile.endpoint` says: nobody else puts changes back.

    Live values are read with directories of its own, since it runs beside everything else.
    """
    reconcile, server = settings.reconcile, settings.server
    own = line.worktree.with_name("put_backs")
    terraform = replace(line.terraform, workdir=own / "terraform", background=False)
    beside = replace(line, worktree=own / "worktree", terraform=terraform)
    gateway = GatewayApi(
        url=server.public_url or f"http://{server.host}:{server.port}",
        key_id=reconcile.key_id,
        key_secret=reconcile.key_secret.get_secret_value(),
    )
    return PutBacks(
        stack=line.stack,
        ledger=ledger,
        clock=line.clock,
        read_live=beside.read_live,
        gateway=gateway,
        patience=timedelta(seconds=reconcile.put_back_patience_seconds),
    )


def _drifting(settings: Settings, line: Line, backlog: Backlog, ledger: SqlLedger) -> DriftScan:
    reconcile = settings.reconcile
    sources = [*reconcile.events]
    if reconcile.cloudtrail:
        sources.append(EventSourceSettings(kind=EventSourceKind.FILES, path=reconcile.cloudtrail))
    return DriftScan(
        line=line,
        backlog=backlog,
        events=ledger,
        stops=ledger,
        every_seconds=reconcile.drift_every,
        sources=open_sources(
            sources, aws_clients(settings), identity=reconcile.gateway_identity, assumed=settings.assumed_roles
        ),
        healer=None if reconcile.endpoint else _healer(reconcile.heal_replace, line),
        created=CreatedBesideCode(line=line) if sources else None,
        claimed=ImplicitConflicts(
            stack=line.stack, ledger=ledger, queries=ledger, clock=line.clock, read_live=line.read_live
        ),
    )


def _healer(replaceable: Sequence[str], line: Line) -> Healer:
    return Healer(
        terraform=replace(line.terraform, background=False),
        state=line.state,
        open_root=line.protected_root,
        directory=line.worktree.with_name("healing"),
        replaceable=replaceable,
    )


def aws_clients(settings: Settings) -> Callable[[str, str], Any]:
    """Makes boto3 clients, by service and region, whose calls go where terraform's go: through the gateway, with the reconciler's key."""
    import boto3  # noqa: PLC0415  only services that read events need it

    reconcile = settings.reconcile
    endpoint = reconcile.endpoint or f"http://{settings.server.host}:{settings.server.port}"

    def client(service: str, region: str) -> Any:
        make: Any = boto3.client
        return make(
            service,
            region_name=region or settings.upstream.default_region,
            endpoint_url=endpoint,
            aws_access_key_id=reconcile.key_id or None,
            aws_secret_access_key=reconcile.key_secret.get_secret_value() or None,
        )

    return client


def _pushing(settings: Settings, line: Line, backlog: Backlog, ledger: SqlLedger) -> Publisher | None:
    if not settings.reconcile.push:
        return None
    remote = Remote(
        name=settings.reconcile.push,
        source=line.source,
        worktree=line.worktree,
        branch=line.branch,
        protected=line.protected,
    )
    github = settings.reconcile.github
    if not github.repository:
        return Publisher(stack=line.stack, remote=remote, backlog=backlog)
    return Publisher(
        stack=line.stack,
        remote=remote,
        backlog=backlog,
        proposing=replace(
            _proposing(github, remote, WriteBacks(queries=ledger, backlog=backlog), ledger),
            namer=open_namer(settings.reconcile.suggest, _suggest_folder(settings), SystemClock()),
        ),
        window_seconds=github.window_seconds,
        look_seconds=github.look_seconds,
    )


def _proposing(github: GitHubSettings, remote: Remote, stories: WriteBacks, ledger: SqlLedger) -> StackPullRequest:
    return StackPullRequest(
        stack=stories.backlog.stack,
        remote=remote,
        api=GitHubApi(url=github.api, token=Token(file=github.token_file, variable=github.token_env)),
        repository=github.repository,
        base=github.base or _name_at(remote),
        stories=stories,
        events=ledger,
        clock=SystemClock(),
        ask_reviewers=github.ask_reviewers,
    )


def _name_at(remote: Remote) -> str:
    """The protected branch's name at the remote. Raises `errors.SettingsInvalid` if its ref does not tell."""
    for prefix in (f"refs/remotes/{remote.name}/", "refs/heads/"):
        if remote.protected.startswith(prefix):
            return remote.protected.removeprefix(prefix)
    raise SettingsInvalid(
        f"The protected branch of {remote.source} is {remote.protected}, which names no branch at {remote.name}. Set "
        "`reconcile.github.base`, the branch that pull requests are to be merged into."
    )


def _read_back(
    settings: Settings, ledger: SqlLedger, *, concerns: Callable[[str], bool], read_live: LiveReader | None
) -> ReadBack:
    return ReadBack(
        ledger=ledger,
        queries=ledger,
        clock=SystemClock(),
        concerns=concerns,
        read_live=read_live,
        first_look=timedelta(seconds=settings.reconcile.doubt_first_look_seconds),
        settle_after=timedelta(seconds=settings.reconcile.doubt_settle_seconds),
        trail=_trail(settings),
    )


def _trail(settings: Settings) -> Trail | None:
    path = settings.reconcile.cloudtrail
    return (
        Trail(path=path, identity=settings.reconcile.gateway_identity, assumed=settings.assumed_roles) if path else None
    )


def workflows_database(settings: Settings) -> str:
    """The SQLAlchemy URL where DBOS keeps its state: its own file beside an SQLite ledger, its own schema in PostgreSQL."""
    url = make_url(settings.ledger_url)
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql").render_as_string(hide_password=False)
    directory = (settings.data / "reconciler").absolute()
    directory.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{directory / 'workflows.db'}"


async def _log_terraform_version(line: Line) -> None:
    """Log at the start which terraform was found, or an error if there is none; mutations then wait until there is one."""
    try:
        log.info("stack_attended", stack=line.stack, branch=line.branch, terraform=await line.terraform.version())
    except SentinelError as error:
        log.error("cannot_write_back", stack=line.stack, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback
