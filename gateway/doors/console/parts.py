"""What the console is made of. Apart from its pages, so that naming it loads none of them."""

from dataclasses import dataclass, field

from gateway.doors.router import App
from gateway.pipeline import Pipeline
from gateway.ports import Authenticator, Clock, KeyRing
from gateway.settings_console import ConsoleSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleParts:
    """What the console is made of."""

    api: App
    pipeline: Pipeline
    authenticator: Authenticator
    keys: KeyRing
    clock: Clock
    cookie_key: bytes = field(repr=False)
    public_url: str
    settings: ConsoleSettings
