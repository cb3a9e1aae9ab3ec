"""Suggestions as the settings say: what worked before, and a model if there is a key for one."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gateway.core.ports import Clock
from gateway.core.settings import SuggestSettings
from reconciler.suggest.knowledge import Knowledge
from reconciler.suggest.language_model import TokenBudget
from reconciler.suggest.question import NameIntent
from reconciler.suggest.suggestions import Suggestions

if TYPE_CHECKING:
    from reconciler.suggest.language_model import BoundedModel

_LONGEST_WAIT: Final = 120.0
"""Seconds that an answer may take."""


def users_folder(environment: Mapping[str, str]) -> Path:
    """The directory in which a user's runs keep their knowledge and budget: never the working directory, which may be anybody's repository."""
    given = Path(environment.get("XDG_STATE_HOME", ""))
    home = Path(environment.get("HOME") or Path.home())
    return (given if given.is_absolute() else home / ".local" / "state") / "sentinel" / "suggest"


def open_suggestions(settings: SuggestSettings, folder: Path, clock: Clock) -> Suggestions | None:
    """Suggestions that keep what they know and spent in `folder`; None without a key, so that nothing is suggested at all."""
    if not settings.key.get_secret_value():
        return None
    from reconciler.suggest.claude import ClaudeSuggester  # noqa: PLC0415  as below

    suggester = ClaudeSuggester(model=_model(settings, folder, clock))
    return Suggestions(knowledge=Knowledge(file=folder / "patterns.jsonl"), suggester=suggester)


def open_namer(settings: SuggestSettings, folder: Path, clock: Clock) -> NameIntent | None:
    """The model that names the intent of changes from outside, with the same budget; None without a key."""
    if not settings.key.get_secret_value():
        return None
    from reconciler.suggest.foreign_intent import IntentNamer  # noqa: PLC0415  as below

    return IntentNamer(model=_model(settings, folder, clock))


def _model(settings: SuggestSettings, folder: Path, clock: Clock) -> "BoundedModel":
    from anthropic import AsyncAnthropic  # noqa: PLC0415  it takes half a second to import, which most users need not wait for

    from reconciler.suggest.language_model import BoundedModel  # noqa: PLC0415

    def client() -> AsyncAnthropic:
        # A repeated request costs again what was taken from the budget only once, and a write-back must not wait for minutes.
        key = settings.key.get_secret_value()
        return AsyncAnthropic(api_key=key, base_url=settings.endpoint, max_retries=0, timeout=_LONGEST_WAIT)

    budget = TokenBudget(file=folder / "tokens.json", a_day=settings.tokens_a_day, clock=clock)
    return BoundedModel(client=client, name=settings.model, budget=budget)
