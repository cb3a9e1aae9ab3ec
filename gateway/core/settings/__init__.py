"""All settings, typed. They are read once from `sentinel.toml` and the environment (`SENTINEL_…`), and all mistakes are reported together."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from pydantic import AfterValidator, BaseModel, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from gateway.core.errors import SettingsInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.model.data_treatment import DEFAULT_TREATMENTS, DataTreatment
from gateway.core.model.verdict import Mode
from gateway.core.settings.accounts import check_accounts
from gateway.core.settings.agents import ContextSettings, McpSettings
from gateway.core.settings.console import ConsoleSettings, check_public_url
from gateway.core.settings.effects import EffectsSettings
from gateway.core.settings.exports import ExportSettings
from gateway.core.settings.notices import ChatSettings, WebhookSettings, distinct_webhooks
from gateway.core.settings.policy import PolicyEngineKind, PolicySettings
from gateway.core.settings.reconcile import AllowedCode, ReconcileSettings, SuggestSettings
from gateway.core.settings.roles import RoleSettings, check_role_accounts, distinct_roles
from gateway.core.settings.run_task import RunTaskSettings
from gateway.core.settings.server import ServerSettings, UnsignedUploads, UpstreamSettings
from gateway.core.settings.signals import SignalSourceSettings, check_stacks, distinct
from gateway.core.settings.stacks import DataPlaneSetting, DataPlaneSettings, StackSettings
from gateway.core.settings.telemetry import TelemetrySettings

__all__ = [
    "CONFIG_FILE",
    "AllowedCode",
    "DataPlaneSettings",
    "PolicyEngineKind",
    "PolicySettings",
    "ReconcileSettings",
    "RoleSettings",
    "ServerSettings",
    "Settings",
    "StackSettings",
    "SuggestSettings",
    "UnsignedUploads",
    "UpstreamSettings",
    "mistake_text",
    "read_settings",
    "read_settings_of_server",
    "without_password",
]

CONFIG_FILE = "sentinel.toml"
_PASSWORD = re.compile(r"(://[^/:@]*:)[^/]*@|([?&]password=)[^&]*")


class Settings(BaseSettings):
    """All settings. Frozen; an unknown name is an error."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", defer_build=True, env_prefix="SENTINEL_", env_nested_delimiter="__"
    )

    data: Path = Path(".sentinel")
    """Directory of everything that Sentinel stores: ledger, master key, working copies."""
    ledger: str = ""
    """SQLAlchemy URL of the ledger, `sqlite:///…` or `postgresql+psycopg://…`; default SQLite in `data`."""
    ledger_databases: tuple[str, ...] = ()
    """Identifiers of the RDS instance or cluster behind `ledger`, where its host is a proxy, an alias or an address: nobody changes it through the gateway."""
    master_key: SecretStr = SecretStr("")
    """Key that the secrets of all issued keys and the keys of the ledger are derived from, at least 32 characters; default: generated once
    and stored in `data` with mode 0600. Gateway, reconciler and commands need the same one."""
    checkpoints: Path | None = None
    """File of the ledger's last signed checkpoint; default `ledger.checkpoint` in `data`. Best on another disk or host than the database."""
    account: str = ""
    """AWS account id of the calls if the stack names none."""
    mode: Mode = Mode.ENFORCE
    """Mode for resources that no stack declares."""
    data_plane: DataPlaneSetting = DataPlaneSettings.default()
    """For resources that no stack declares, for calls that name no resource, and the default of the stacks."""
    server: ServerSettings = ServerSettings.default()
    upstream: UpstreamSettings = UpstreamSettings.default()
    policy: PolicySettings = PolicySettings.default()
    effects: EffectsSettings = EffectsSettings.default()
    reconcile: ReconcileSettings = ReconcileSettings.default()
    run_task: RunTaskSettings = RunTaskSettings.default()
    telemetry: TelemetrySettings = TelemetrySettings.default()
    context: ContextSettings = ContextSettings.default()
    console: ConsoleSettings = ConsoleSettings.default()
    chat: ChatSettings = ChatSettings.default()
    webhooks: Annotated[tuple[WebhookSettings, ...], AfterValidator(distinct_webhooks)] = ()
    exports: tuple[ExportSettings, ...] = ()
    mcp: McpSettings = McpSettings.default()
    stacks: tuple[StackSettings, ...] = ()
    roles: Annotated[tuple[RoleSettings, ...], AfterValidator(distinct_roles)] = ()
    """Roles that clients assume at the AWS endpoint. With none, only the token service's other calls are answered."""
    signals: Annotated[tuple[SignalSourceSettings, ...], AfterValidator(distinct)] = ()
    """Sources of alerts and the like. With any, evidence is checked against what they say."""

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Self:
        check_stacks(self.signals, [stack.name for stack in self.stacks])
        check_public_url(self.console, self.server.public_url)
        check_accounts(self.stacks, self.upstream, self.account)
        check_role_accounts(self.roles, {"", self.account, *(each.account for each in self.stacks if each.assume_role)})
        return self

    @property
    def ledger_url(self) -> str:
        """The URL of the ledger, or the default."""
        return self.ledger or f"sqlite:///{self.data / 'ledger.db'}"

    @property
    def assumed_roles(self) -> tuple[str, ...]:
        """The ARNs of the roles that the gateway assumes to send."""
        roles = {self.upstream.assume_role, *(stack.assume_role for stack in self.stacks)}
        return tuple(sorted(roles - {""}))

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
