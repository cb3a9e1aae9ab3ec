"""The gateway's own AWS credentials."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.aws.client.credentials import CACHE_TIME, Credentials, DefaultChain, FixedCredentials
from gateway.core.errors import NotSendable
from tests.kit.upstream import SIMULATED


class Clock:
    at = datetime(2026, 11, 21, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


class Session:
    """Counts how often it is asked, and in which thread."""

    def __init__(self, frozen: Any, error: Exception | None = None) -> None:
        self.frozen, self.error = frozen, error
        self.asked: list[int] = []
        self.settings: dict[str, object] = {}

    def set_config_variable(self, name: str, value: object) -> None:
        self.settings[name] = value

    def get_credentials(self) -> Any:
        if self.frozen is None and self.error is None:
            return None
        return self

    def get_frozen_credentials(self) -> Any:
        self.asked.append(threading.get_ident())
        if self.error:
            raise self.error
        return self.frozen


def frozen(key: str = "AKIA", secret: str = "secret", token: str | None = "token") -> Any:  # noqa: S107  examples
    return SimpleNamespace(access_key=key, secret_key=secret, token=token)


async def test_the_chain_resolves_in_a_thread_and_caches() -> None:
    session, clock = Session(frozen()), Clock()
    chain = DefaultChain(clock, session=session)
    assert await chain.current() == Credentials(access_key_id="AKIA", secret="secret", token="token")
    session.frozen = frozen("AKIB", token=None)
    assert (await chain.current()).access_key_id == "AKIA"
    clock.at += CACHE_TIME + timedelta(seconds=1)
    assert await chain.current() == Credentials(access_key_id="AKIB", secret="secret")
    assert len(session.asked) == 2
    assert threading.get_ident() not in session.asked
    assert session.settings == {"ignore_configured_endpoint_urls": True}


@pytest.mark.parametrize(
    "session",
    [
        Session(None),
        Session(frozen("", "")),
        Session(None, OSError("secret in text")),
        Session(None, RuntimeError("x")),
    ],
)
async def test_missing_credentials_are_explained_in_a_sentence(session: Session) -> None:
    with pytest.raises(NotSendable, match="othing was sent") as refused:
        await DefaultChain(Clock(), session=session).current()
    assert "secret in text" not in str(refused.value)


async def test_the_real_chain_reads_the_environment_and_the_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(NotSendable, match="no AWS credentials"):
        await DefaultChain(Clock()).current()
    file = tmp_path / "credentials"
    file.write_text("[default]\naws_access_key_id = AKIAFILE\naws_secret_access_key = f\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    assert (await DefaultChain(Clock()).current()).access_key_id == "AKIAFILE"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "e")
    assert (await DefaultChain(Clock()).current()).access_key_id == "AKIAENV"


async def test_the_simulated_ones_are_fixed_and_never_shown() -> None:
    assert await FixedCredentials(SIMULATED).current() is SIMULATED
    assert "hush" not in repr(Credentials(access_key_id="A", secret="hush", token="hush"))
