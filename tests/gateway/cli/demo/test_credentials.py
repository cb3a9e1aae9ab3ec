"""The credentials file."""

from pathlib import Path

import pytest

from gateway.cli.demo.credentials import (
    FILE_NAME,
    NoIdentity,
    SavedCredentials,
    SavedKey,
    credentials_text,
    read_credentials,
)
from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key

KEY = Key(id="SNTLAAAAAAAAAAAAAAAA", secret="a-secret", actor="agent-scaler", kind=ActorKind.AGENT)


def test_saved_credentials_are_read_back(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(credentials_text("http://127.0.0.1:8484", "us-east-1", {"agent": KEY}))
    credentials = read_credentials(tmp_path)
    assert credentials == SavedCredentials(
        url="http://127.0.0.1:8484",
        region="us-east-1",
        keys={"agent": SavedKey(id=KEY.id, secret=KEY.secret, actor=KEY.actor)},
    )
    assert credentials.key("agent").token == "SNTLAAAAAAAAAAAAAAAA.a-secret"
    with pytest.raises(NoIdentity, match=r"no credentials for 'boss', only for agent"):
        credentials.key("boss")


def test_no_file_is_none(tmp_path: Path) -> None:
    assert read_credentials(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"url": "x", "region": "y", "keys": []}', '{"url": "x", "region": "y", "keys": {"agent": 5}}',
     '{"url": "x", "region": "y", "keys": {"agent": {"id": "a"}}}', '{"url": "x", "region": "y", "keys": {"agent": {"odd": "a"}}}', "\xff"],
)  # fmt: skip
def test_a_damaged_file_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(text.encode("latin-1"))
    with pytest.raises(NoIdentity, match=r"credentials.json cannot be read .* rewrites it at each start"):
        read_credentials(tmp_path)
