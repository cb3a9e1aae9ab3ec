"""What the console is made of. Apart from its pages, so that naming it loads none of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.authn.oidc import OidcHost
from gateway.doors.router import App
from gateway.doors.stopping import Stopping
from gateway.model.rule_text import RuleText
from gateway.pipeline import Pipeline
from gateway.ports import Authenticator, Clock, KeyRing
from gateway.settings_console import ConsoleSettings
from gateway.wakeups import ChangedMutations


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleParts:
    """What the console is made of."""

    api: App
    pipeline: Pipeline
    authenticator: Authenticator
    keys: KeyRing
    changes: ChangedMutations
    checkouts: Mapping[str, Path]
    """Where the code of each stack is, by its name."""
    rules: Callable[[], Mapping[str, RuleText]]
    revision: Callable[[], str]
    """Of the policies in force."""
    clock: Clock
    stopping: Stopping
    cookie_key: bytes = field(repr=False)
    public_url: str
    settings: ConsoleSettings
    oidc_host: OidcHost
    """Asks the identity provider, if the settings name one."""
