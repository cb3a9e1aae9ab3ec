"""Describes mistakes in the settings, one sentence each, with the nearest name for one that does not exist."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from gateway.core.errors import SettingsInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.model.data_plane import DEFAULT_TREATMENTS, DataTreatment
from gateway.core.model.verdict import Mode
from gateway.core.settings.agents import ContextSettings, McpSettings
from gateway.core.settings.console import ConsoleSettings, check_public_url
from gateway.core.settings.exports import ExportSettings
from gateway.core.settings.notices import ChatSettings, WebhookSettings, distinct_webhooks
from gateway.core.settings.publish import EventSourceSettings, GitHubSettings
from gateway.core.settings.run_task import RunTaskSettings
from gateway.core.settings.signals import SignalSourceSettings, check_stacks, distinct
from gateway.core.settings.telemetry import TelemetrySettings

_UNKNOWN = "extra_forbidden"
"""Pydantic's type of the error for a name that a model does not have."""


def mistake_text(mistake: Mapping[str, Any], model: type[BaseModel]) -> str:
    """The sentence for one error that pydantic found while it read `model`."""
    name = ".".join(str(part) for part in mistake["loc"])
    if mistake["type"] != _UNKNOWN:
        return f"{name}: {mistake['msg']}"
    *parents, last = (str(part) for part in mistake["loc"] if not isinstance(part, int))
    nearest = _nearest(tuple(parents), last, tuple(_names(model)))
    return f"{name}: There is no such setting. " + (
        f"Did you mean `{nearest}`?" if nearest else "`sentinel config` in another directory lists all of them."
    )


def _nearest(parents: Sequence[str], last: str, names: Sequence[tuple[str, ...]]) -> str:
    """The setting that was probably meant: one with nearly this name in this table, else one with this name in another; empty if none."""
    here = {name[-1]: name for name in names if name[:-1] == tuple(parents)}
    elsewhere = [name for name in names if name[-1] == last.lower()]
    # Where another table has the very name, only a slip of a letter makes one of this table likelier.
    close = difflib.get_close_matches(last.lower(), here, n=1, cutoff=0.8 if elsewhere else 0.6)
    found = here[close[0]] if close else elsewhere[0] if elsewhere else ()
    return ".".join(found)


def _names(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names of all tables and settings, as paths."""
    for name, field in model.model_fields.items():
        yield (*above, name)
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _names(kind, (*above, name))


CONFIG_FILE = "sentinel.toml"

_PASSWORD = re.compile(r"(://[^/:@]*:)[^/]*@|([?&]password=)[^&]*")


class PolicyEngineKind(StrEnum):
    """Where Rego is evaluated."""

    EMBEDDED = "embedded"
    OPA = "opa"


class UnsignedUploads(StrEnum):
    """Which S3 objects are accepted although the signature does not cover their bytes."""

    PROTECTED = "protected"
    """Those that nobody can change on the way: from this machine, by https, or with a `public_url` that begins with https."""
    ALWAYS = "always"
    NEVER = "never"


class DataPlaneSettings(BaseModel):
    """How calls of the data plane (items, messages, objects, records) are treated, by kind of actor: `pass` sends and counts them, `record`
    counts them by resource, `policy` decides each as a change.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    service: DataTreatment | None = None
    """Applications with keys of their own. Default: `pass`."""
    human: DataTreatment | None = None
    """Default: `record`."""
    pipeline: DataTreatment | None = None
    """Default: `record`."""
    agent: DataTreatment | None = None
    """Default: `policy`."""

    def over(self, defaults: Mapping[ActorKind, DataTreatment]) -> Mapping[ActorKind, DataTreatment]:
        """The treatment of every kind: the one that is set here, else the default."""
        return {kind: getattr(self, kind.value) or defaults[kind] for kind in ActorKind}


def _for_every_kind(given: Any) -> Any:
    """One word stands for every kind of actor."""
    return dict.fromkeys([kind.value for kind in ActorKind], given) if isinstance(given, str) else given


DataPlaneSetting = Annotated[DataPlaneSettings, BeforeValidator(_for_every_kind)]


class StackSettings(BaseModel):
    """One Terraform root module that Sentinel guards."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    path: Path
    """The root module's directory, in a git checkout that has the protected branch."""
    state: Path | None = None
    """State file, format version 4; default: where the code keeps its state: `terraform.tfstate` in `path`, the object of its backend `s3`,
    or any other backend that `reconcile.allow.blocks` lists, read by `terraform state pull`."""
    backend_config: Mapping[str, str] = {}
    """What `terraform init -backend-config` gives to the code's backend, e.g. `{ bucket = "states" }`."""
    workspace: Annotated[str, Field(pattern=r"^([A-Za-z0-9._-]{1,90})?$")] = ""
    """Terraform workspace; default: `default`."""
    protected_branch: str = ""
    """Branch whose commit holds the code and contracts that count, e.g. `main` or `origin/main`; `HEAD` for what is checked out.
    Default: the upstream of the branch that is checked out at the start, else `main`. A stack outside git is read as it is on disk."""
    frozen: tuple[str, ...] = ()
    """Directories of the repository with somebody else's modules, with `*`: the reconciler edits their calls and never them, as with those
    named `vendor`, `vendored`, `third_party`, `third-party` and `.external_modules`."""
    mode: Mode = Mode.ENFORCE
    data_plane: DataPlaneSetting = DataPlaneSettings()
    """For the resources of this stack, e.g. `{ agent = "record" }` or `"policy"` for every kind; a kind that is left out has the treatment of
    the setting `data_plane` outside the stacks."""
    account: str = ""
    """AWS account id of the stack; empty if the gateway serves only one account."""
    region: Annotated[str, Field(pattern=r"^([a-z]{2}(-[a-z]+)+-\d)?$")] = ""
    """AWS region of the resources for which neither their ARN nor the code's provider says it; default: the default region."""


class ServerSettings(BaseModel):
    """The HTTP server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 8484
    max_body_bytes: Annotated[int, Field(ge=1024)] = 6 * 1024 * 1024
    """Largest body of a change whose parameters are in the body, in bytes. Reads and uploads have `max_upload_bytes` instead."""
    max_upload_bytes: Annotated[int, Field(ge=1024)] = 64 * 1024 * 1024
    """Largest body of a read, or of an upload whose body is one blob (S3 objects and parts, Lambda payloads), in bytes. Clients upload
    larger objects in parts."""
    max_object_bytes: Annotated[int, Field(ge=1024)] = 5 * 1024 * 1024 * 1024
    """Largest S3 object or part in one request, in bytes. It is streamed, so it takes no memory. S3 accepts 5 GiB."""
    unsigned_uploads: UnsignedUploads = UnsignedUploads.PROTECTED
    """Whether an S3 object whose bytes the signature does not cover is accepted, as presigned URLs and streams of JavaScript send it."""
    public_url: Annotated[str, Field(pattern=r"^(https?://[A-Za-z0-9._\[\]:-]+)?$")] = ""
    """URL at which clients reach this gateway, e.g. `https://sentinel.example`; URLs in AWS's replies lead there. Default: the host that
    the client signed."""
    s3_hosts: tuple[
        Annotated[
            str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$")
        ],
        ...,
    ] = ()
    """Host names, without a port, before which clients put an S3 bucket, e.g. `["sentinel.internal"]` for `bucket.sentinel.internal`. Always:
    `localhost`, the host of `public_url`, both also with `s3.` before them, and AWS's own names of S3."""
    max_buffered_bytes: Annotated[int, Field(ge=1024)] = 256 * 1024 * 1024
    """Bytes of all request bodies in memory together. A request for which there is no room gets 503 with Retry-After."""
    clock_skew_seconds: Annotated[int, Field(ge=1, le=900)] = 300
    """Largest difference between the time of a signature and the clock of this machine, in seconds. AWS accepts 300, S3 900."""
    lease_seconds: Annotated[float, Field(ge=1, le=3600)] = 15.0
    """How long the mutations that a gateway sends are left to it after its last sign of life. Then they are in doubt."""


class UpstreamSettings(BaseModel):
    """The connection to AWS."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    simulated: str = ""
    """URL of a simulated AWS on this machine, e.g. `http://127.0.0.1:5555`; empty for the real AWS. Must be a loopback address."""
    regions: tuple[str, ...] = (
        "us-east-1",
        "us-east-2",
        "us-west-1",
        "us-west-2",
        "eu-west-1",
        "eu-west-2",
        "eu-west-3",
        "eu-central-1",
        "eu-north-1",
        "ap-south-1",
        "ap-southeast-1",
        "ap-southeast-2",
        "ap-northeast-1",
        "ap-northeast-2",
        "ca-central-1",
        "sa-east-1",
    )
    """Regions that may be called. The region of a request determines the host, so any other is refused."""
    default_region: str = "us-east-1"
    connect_seconds: float = 5.0
    reply_seconds: float = 900.0
    """How long to wait for the answer to a mutation before it is in doubt, in seconds. A read waits as long for its reply, and for each
    next byte of it."""


class PolicySettings(BaseModel):
    """The policy engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: PolicyEngineKind = PolicyEngineKind.EMBEDDED
    path: Path | None = None
    """Directory of the policies; default: those shipped with Sentinel."""
    opa_url: str = ""
    """URL of the OPA server, for `engine = "opa"`."""
    deadline_ms: Annotated[int, Field(ge=1, le=10_000)] = 250
    memory_mb: Annotated[int, Field(ge=8, le=1024)] = 64


class AllowedCode(BaseModel):
    """What Terraform code may name that runs a program or reaches a server when the reconciler plans it, or the gateway reads its state."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    providers: tuple[str, ...] = tuple(
        f"registry.terraform.io/hashicorp/{name}"
        for name in ("archive", "aws", "awscc", "cloudinit", "local", "null", "random", "time", "tls")
    )
    """Provider addresses, with `*`. The providers in `provider_mirror` are allowed too."""
    modules: tuple[str, ...] = ()
    """Sources of modules outside the repository, with `*`, e.g. `terraform-aws-modules/*`."""
    blocks: tuple[str, ...] = ()
    """Other blocks and arguments, e.g. `data.http`, `provisioner.local-exec`, `backend.gcs`, `provider.endpoints`."""


class SuggestSettings(BaseModel):
    """A language model that is asked for an edit where no editor can make one. Off without a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: SecretStr = SecretStr("")
    """Key of Anthropic's API; `SENTINEL_RECONCILE__SUGGEST__KEY` keeps it out of the file."""
    model: str = "claude-sonnet-5-5"
    endpoint: str = "https://api.anthropic.com"
    tokens_a_day: Annotated[int, Field(ge=0)] = 200_000
    """What may be spent on a day (UTC), over all stacks."""


class ReconcileSettings(BaseModel):
    """The reconciler."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str = ""
    """AWS endpoint that Terraform reads live values from; empty: the gateway."""
    key_id: str = ""
    key_secret: SecretStr = SecretStr("")
    branch: str = "sentinel/{stack}"
    """Branch for the commits; `{stack}` is replaced by the name of the stack."""
    push: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$")] = ""
    """Name of the git remote, in each stack's repository, to which the branch is pushed after each commit; empty: nothing is pushed."""
    github: GitHubSettings = GitHubSettings()
    """Where the pushed branches are proposed as pull requests. Needs `push`."""
    poll_seconds: float = 0.5
    doubt_first_look_seconds: Annotated[float, Field(ge=0.1)] = 20.0
    """How long after its decision the live values are first looked at for a mutation in doubt; then after twice the time, and so on."""
    doubt_settle_seconds: Annotated[float, Field(ge=1)] = 960.0
    """How long after its decision a mutation in doubt that the live values do not show is taken as not carried out, or left to a human.
    AWS accepts a signed request for up to 15 minutes, so less than 900 is unsafe."""
    put_back_patience_seconds: Annotated[float, Field(ge=0)] = 3600.0
    """How long after its end a change for a time is tried to be put back, if that is refused, before it is left to a human."""
    cloudtrail: Path | None = None
    """CloudTrail events, a file or a directory of `.json` files: they settle mutations in doubt too. Needs `gateway_identity`."""
    gateway_identity: Annotated[str, Field(pattern=r"^(arn:[a-z-]+:iam::\d{12}:(role|user)/[\w+=,.@/-]+)?$")] = ""
    """ARN of the IAM role or user with whose credentials the gateway sends: CloudTrail events of anyone else settle nothing."""
    refresh_state: bool = True
    """Whether the state is brought up to date (`terraform apply` of a plan that changes nothing else) once the protected branch has the
    values; otherwise its outputs stay old until somebody applies."""
    drift_every: Annotated[float, Field(ge=0)] = 0.0
    """How often, in seconds, each stack's protected code is planned to find changes from outside; 0: never."""
    events: tuple[EventSourceSettings, ...] = ()
    """Where CloudTrail's events are that say who made them; `cloudtrail` is one of them too."""
    heal_replace: tuple[str, ...] = ()
    """Addresses of resources, with `*`, that may be replaced to heal them, if a human decides so."""
    terraform: str = "terraform"
    """Terraform or OpenTofu (`tofu`, which is also taken if there is no `terraform`)."""
    provider_mirror: Path | None = None
    """Directory of a Terraform provider mirror; default: searched for if the registry cannot be reached."""
    allow: AllowedCode = AllowedCode()
    suggest: SuggestSettings = SuggestSettings()
    pass_environment: tuple[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], ...] = ()
    """Variables of the reconciler's environment that terraform gets besides those it always gets, e.g. `TF_VAR_size`. Those
    named `SENTINEL_…` are never passed on."""

    @model_validator(mode="after")
    def _proposals_are_pushed(self) -> Self:
        if self.github.repository and not self.push:
            raise ValueError("`github` needs `push`, the git remote of the stacks' repository at GitHub.")
        return self

    @model_validator(mode="after")
    def _trail_has_an_owner(self) -> Self:
        if self.cloudtrail and not self.gateway_identity:
            raise ValueError(
                "`cloudtrail` needs `gateway_identity`, the ARN of the IAM role or user with whose credentials the gateway sends: anyone "
                "with AWS credentials can make an event that names a mutation."
            )
        return self


class Settings(BaseSettings):
    """All settings. Frozen; an unknown name is an error."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix="SENTINEL_", env_nested_delimiter="__")

    data: Path = Path(".sentinel")
    """Directory of everything that Sentinel stores: ledger, master key, working copies."""
    ledger: str = ""
    """SQLAlchemy URL of the ledger, `sqlite:///…` or `postgresql+psycopg://…`; default SQLite in `data`."""
    master_key: SecretStr = SecretStr("")
    """Key that the secrets of all issued keys and the keys of the ledger are derived from, at least 32 characters; default: generated once
    and stored in `data` with mode 0600. Gateway, reconciler and commands need the same one."""
    checkpoints: Path | None = None
    """File of the ledger's last signed checkpoint; default `ledger.checkpoint` in `data`. Best on another disk or host than the database."""
    account: str = ""
    """AWS account id of the calls if the stack names none."""
    mode: Mode = Mode.ENFORCE
    """Mode for resources that no stack declares."""
    data_plane: DataPlaneSetting = DataPlaneSettings()
    """For resources that no stack declares, for calls that name no resource, and the default of the stacks."""
    server: ServerSettings = ServerSettings()
    upstream: UpstreamSettings = UpstreamSettings()
    policy: PolicySettings = PolicySettings()
    reconcile: ReconcileSettings = ReconcileSettings()
    run_task: RunTaskSettings = RunTaskSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    context: ContextSettings = ContextSettings()
    console: ConsoleSettings = ConsoleSettings()
    chat: ChatSettings = ChatSettings()
    webhooks: Annotated[tuple[WebhookSettings, ...], AfterValidator(distinct_webhooks)] = ()
    exports: tuple[ExportSettings, ...] = ()
    mcp: McpSettings = McpSettings()
    stacks: tuple[StackSettings, ...] = ()
    signals: Annotated[tuple[SignalSourceSettings, ...], AfterValidator(distinct)] = ()
    """Sources of alerts and the like. With any, evidence is checked against what they say."""

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Self:
        check_stacks(self.signals, [stack.name for stack in self.stacks])
        check_public_url(self.console, self.server.public_url)
        return self

    @property
    def ledger_url(self) -> str:
        """The URL of the ledger, or the default."""
        return self.ledger or f"sqlite:///{self.data / 'ledger.db'}"

    @property
    def data_treatments(self) -> Mapping[ActorKind, DataTreatment]:
        """The treatment of the data plane by kind of actor, where no stack has its own."""
        return self.data_plane.over(DEFAULT_TREATMENTS)

    @property
    def data_treatments_by_stack(self) -> Mapping[str, Mapping[ActorKind, DataTreatment]]:
        """The treatment of the data plane by kind of actor, in each stack."""
        return {stack.name: stack.data_plane.over(self.data_treatments) for stack in self.stacks}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the base class's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the base class's signature
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Sources by precedence: arguments, then environment, then file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, cls.model_config.get("toml_file"))


def without_password(url: str) -> str:
    """The URL with its password masked."""
    return _PASSWORD.sub(lambda match: f"{match[1]}***@" if match[1] else f"{match[2]}***", url)


def read_settings_of_server(config: Path | None) -> Settings:
    """The settings of a process that keeps running. Raises `errors.SettingsInvalid` also if nothing names what it should guard."""
    settings = read_settings(config)
    if config is None and not Path(CONFIG_FILE).is_file() and not settings.stacks:
        message = (
            f"There is no {CONFIG_FILE} in {Path.cwd()}, and SENTINEL_STACKS is not set, so no stack would be guarded. Write one (see "
            '"Go to production" in docs/operators.md), name it with --config, or try everything on this machine with `sentinel up`.'
        )
        raise SettingsInvalid(message)
    return settings


def read_settings(config: Path | None = None) -> Settings:
    """The settings from `config` (default `sentinel.toml` in the current directory, if it exists) and the environment.

    Raises `errors.SettingsInvalid`, which lists every mistake.
    """
    path = config or Path(CONFIG_FILE)
    if config is not None and not config.is_file():
        message = f"The settings file {config} does not exist."
        raise SettingsInvalid(message)

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=path)

    try:
        return FromFile()
    except ValidationError as error:
        lines = [f"  {mistake_text(mistake, Settings)}" for mistake in error.errors()]
        message = f"The settings (from {path} and SENTINEL_… variables) have {len(lines)} mistake(s):\n" + "\n".join(
            lines
        )
        raise SettingsInvalid(message) from error
    except ValueError as error:
        message = f"The settings file {path} cannot be read: {error}"
        raise SettingsInvalid(message) from error
