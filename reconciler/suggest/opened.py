"""Suggestions as the settings say: what worked before, and a model if there is a key for one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.ports import Clock
from gateway.settings import SuggestSettings
from reconciler.suggest.budget import TokenBudget
from reconciler.suggest.knowledge import Knowledge
from reconciler.suggest.suggest import Suggestions


@asynccontextmanager
async def open_suggestions(settings: SuggestSettings, folder: Path, clock: Clock) -> AsyncIterator[Suggestions | None]:
    """Suggestions that keep what they know and spent in `folder`; None without a key, so that nothing is suggested at all."""
    if not settings.key.get_secret_value():
        yield None
        return
    from anthropic import AsyncAnthropic  # noqa: PLC0415  it takes half a second to import, which most users need not wait for

    from reconciler.suggest.claude import ClaudeSuggester  # noqa: PLC0415

    budget = TokenBudget(file=folder / "tokens.json", a_day=settings.tokens_a_day, clock=clock)
    async with AsyncAnthropic(api_key=settings.key.get_secret_value(), base_url=settings.endpoint) as client:
        suggester = ClaudeSuggester(client=client, model=settings.model, budget=budget)
        yield Suggestions(knowledge=Knowledge(file=folder / "patterns.jsonl"), suggester=suggester)
