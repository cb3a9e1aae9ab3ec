"""Every knob, typed: read once from `sentinel.toml` and the environment (`SENTINEL_…`), all mistakes reported together."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from gateway.errors import SettingsInvalid
from gateway.model.verdict import Mode

CONFIG_FILE = "sentinel.toml"


class PolicyEngineKind(StrEnum):
    """Where Rego runs."""

    EMBEDDED = "embedded"
    OPA = "opa"


class StackSettings(BaseModel):
    """One Terraform root that Sentinel guards."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    path: Path
    """The root module's directory: a checkout of the protected branch."""
    state: Path | None = None
    """State file; default `terraform.tfstate` in `path`. Format version 4."""
    mode: Mode = Mode.ENFORCE
    account: str = ""
    """AWS account id of the stack, empty where the gate serves one account."""
    region: Annotated[str, Field(pattern=r"^([a-z]{2}(-[a-z]+)+-\d)?$")] = ""
    """AWS region of the stack's resources where neither their ARNs nor the code's provider says it; default: the default region."""


class ServerSettings(BaseModel):
    """The doors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 8484
    max_body_bytes: Annotated[int, Field(ge=1024)] = 6 * 1024 * 1024
    """Largest body of a mutation, in bytes. Reads and uploads that are streamed have no limit here."""
    clock_skew_seconds: Annotated[int, Field(ge=1, le=900)] = 300
    """How far a signature's time may be from ours, in seconds. AWS takes 300, S3 900."""


class UpstreamSettings(BaseModel):
    """AWS."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    simulated: str = ""
    """URL of a simulated AWS on this machine, e.g. `http://127.0.0.1:5555`; empty for the real one. Only loopback is taken."""
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
    """Regions that may be called. The region of a request chooses the host, so nothing else is taken."""
    default_region: str = "us-east-1"
    connect_seconds: float = 5.0
    reply_seconds: float = 900.0
    """How long a mutation may take to answer before it is in doubt, in seconds."""


class PolicySettings(BaseModel):
    """Rego."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: PolicyEngineKind = PolicyEngineKind.EMBEDDED
    path: Path | None = None
    """Directory of the policies; default: the ones that come with Sentinel."""
    opa_url: str = ""
    """URL of the OPA server, for `engine = "opa"`."""
    deadline_ms: Annotated[int, Field(ge=1, le=10_000)] = 250
    memory_mb: Annotated[int, Field(ge=8, le=1024)] = 64


class ReconcileSettings(BaseModel):
    """The reconciler."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str = ""
    """AWS endpoint that Terraform uses to read back; empty: the gateway's own."""
    key_id: str = ""
    key_secret: SecretStr = SecretStr("")
    branch: str = "sentinel/{stack}"
    """Branch the commits go to; `{stack}` is the stack's name."""
    poll_seconds: float = 0.5
    terraform: str = "terraform"
    provider_mirror: Path | None = None
    """Directory of a Terraform provider mirror; default: found by looking where the registry cannot be reached."""


class Settings(BaseSettings):
    """All settings. Frozen; unknown names are mistakes."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix="SENTINEL_", env_nested_delimiter="__")

    data: Path = Path(".sentinel")
    """Directory of everything Sentinel keeps: ledger, master key, working copies."""
    ledger: str = ""
    """SQLAlchemy URL of the ledger, `sqlite:///…` or `postgresql+psycopg://…`; default SQLite in `data`."""
    master_key: SecretStr = SecretStr("")
    """Key that all gateway secrets are derived from, at least 32 characters; default: made once, kept in `data` with mode 0600."""
    account: str = ""
    """AWS account id that calls go to where the stack names none."""
    mode: Mode = Mode.ENFORCE
    """Mode for things that no stack declares."""
    server: ServerSettings = ServerSettings()
    upstream: UpstreamSettings = UpstreamSettings()
    policy: PolicySettings = PolicySettings()
    reconcile: ReconcileSettings = ReconcileSettings()
    stacks: tuple[StackSettings, ...] = ()

    @property
    def ledger_url(self) -> str:
        """The ledger's URL, the default filled in."""
        return self.ledger or f"sqlite:///{self.data / 'ledger.db'}"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the base class's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the base class's signature
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, that over the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, cls.model_config.get("toml_file"))


def read_settings(config: Path | None = None) -> Settings:
    """Read the settings once, from `config` (default `sentinel.toml` in the current directory, if there) and the environment.

    Raises `errors.SettingsInvalid` that lists every mistake in one sentence each.
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
        lines = [f"  {'.'.join(str(part) for part in mistake['loc'])}: {mistake['msg']}" for mistake in error.errors()]
        message = f"The settings (from {path} and SENTINEL_… variables) have {len(lines)} mistake(s):\n" + "\n".join(
            lines
        )
        raise SettingsInvalid(message) from error
    except ValueError as error:
        message = f"The settings file {path} cannot be read: {error}"
        raise SettingsInvalid(message) from error
