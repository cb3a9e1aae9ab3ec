"""`sentinel config --reference`, and docs/settings.md, which it prints."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_settings import EnvSettingsSource

from gateway.cli.config import flatten
from gateway.cli.config_reference import Setting, reference, sections
from gateway.core.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = tuple(setting for section in sections() for setting in section.settings)


def test_the_page_in_the_documents_is_the_one_that_the_settings_give(sentinel: Callable[..., Any]) -> None:
    """To mend it: `sentinel config --reference > docs/settings.md`."""
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == reference()
    assert sentinel("config", "--reference").stdout == reference()


def test_as_json_it_has_every_setting_once(document: Callable[..., tuple[int, Any]]) -> None:
    code, said = document("config", "--reference")
    names = [setting["name"] for setting in said]
    assert code == 0
    assert len(names) == len(set(names)) == len(SETTINGS)
    assert set(flatten(Settings().model_dump(mode="json"))) - LISTS <= set(names)


LISTS = {"stacks", "roles", "signals", "webhooks", "exports", "reconcile.events"}
"""Lists of tables: their members are listed instead."""


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_has_a_meaning_and_every_number_a_unit(setting: Setting) -> None:
    assert setting.meaning.endswith("."), "a sentence below it in gateway/core/settings"
    assert setting.unit or "number" not in setting.form, "a name that says its unit, or a line in UNITS"


@pytest.mark.parametrize("setting", [each for each in SETTINGS if each.variable], ids=lambda setting: setting.name)
def test_the_environment_name_reaches_the_setting(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(setting.variable, '"x"')
    assert setting.name in flatten(EnvSettingsSource(Settings)())


def _numbers_and_texts(model: BaseModel, place: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _numbers_and_texts(value, f"{place}{name}.")
        elif isinstance(value, int | float | str) and value != "":
            yield f"{place}{name}", value


def test_the_defaults_are_those_in_force() -> None:
    told = {setting.name: setting.default for setting in SETTINGS}
    for name, value in _numbers_and_texts(Settings()):
        assert json.loads(told[name]) == value, name
