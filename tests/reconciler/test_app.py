"""From the settings to what terraform and DBOS are given."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.settings import ReconcileSettings, ServerSettings, Settings
from reconciler.app import _database, environment


@pytest.fixture(autouse=True)
def no_machine_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".terraformrc").touch()


def test_terraform_reads_through_the_gateway_with_the_reconcilers_own_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "AWS_PROFILE", "SENTINEL_MASTER_KEY"):
        monkeypatch.setenv(name, "the user's own")
    settings = Settings(
        data=tmp_path,
        server=ServerSettings(port=9999),
        reconcile=ReconcileSettings(key_id="SNTL1", key_secret=SecretStr("s")),
    )
    given = environment(settings, tmp_path)
    assert given["AWS_ENDPOINT_URL"] == "http://127.0.0.1:9999"
    assert (given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"]) == ("SNTL1", "s")
    assert not {"AWS_SESSION_TOKEN", "AWS_PROFILE", "SENTINEL_MASTER_KEY"} & set(given)


def test_another_endpoint_and_no_key_leave_the_users_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    settings = Settings(data=tmp_path, reconcile=ReconcileSettings(endpoint="http://127.0.0.1:1"))
    given = environment(settings, tmp_path)
    assert (given["AWS_ENDPOINT_URL"], given["AWS_ACCESS_KEY_ID"]) == ("http://127.0.0.1:1", "mine")


def test_workflows_are_kept_beside_the_ledger(tmp_path: Path) -> None:
    assert _database(Settings(data=tmp_path)) == f"sqlite:///{tmp_path}/reconciler/workflows.db"
    on_server = Settings(data=tmp_path, ledger="postgresql+psycopg://me:pw@db/sentinel")
    assert _database(on_server) == "postgresql://me:pw@db/sentinel"
