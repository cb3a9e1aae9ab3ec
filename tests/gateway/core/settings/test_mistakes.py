"""Mistakes in the settings: a name that does not exist is said to be one, with the name that was probably meant."""

from pathlib import Path

import pytest

from gateway.core.errors import SettingsInvalid
from gateway.core.settings import read_settings


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[server]\nprot = 1", "server.prot: There is no such setting. Did you mean `server.port`?"),
        ("[sever]\nport = 1", "sever: There is no such setting. Did you mean `server`?"),
        ("port = 1", "port: There is no such setting. Did you mean `server.port`?"),
        (
            '[[stacks]]\nname = "a"\npath = "b"\nstates = "c"',
            "stacks.0.states: There is no such setting. Did you mean `stacks.state`?",
        ),
        (
            "[reconcile.allow]\nprovider = []",
            "reconcile.allow.provider: There is no such setting. Did you mean `reconcile.allow.providers`?",
        ),
        ("colour = 1", "colour: There is no such setting. `sentinel config` in another directory lists all of them."),
        ("[server]\nport = 0", "server.port: Input should be greater than or equal to 1"),
    ],
)
def test_each_mistake_is_a_sentence(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "sentinel.toml").write_text(text)
    with pytest.raises(SettingsInvalid) as caught:
        read_settings(tmp_path / "sentinel.toml")
    assert f"  {says}" in str(caught.value).splitlines()
    assert "Extra inputs" not in str(caught.value)
