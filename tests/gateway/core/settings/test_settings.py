"""Settings come from file and environment; all mistakes, unknown names among them, are reported together."""

from pathlib import Path

import pytest

from gateway.core.errors import SettingsInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.model.data_treatment import DEFAULT_TREATMENTS, DataTreatment
from gateway.core.model.verdict import Mode
from gateway.core.settings import read_settings


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sentinel.toml"
    path.write_text(text)
    return path


def test_without_a_file_everything_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = read_settings()
    assert settings.mode is Mode.ENFORCE
    assert settings.ledger_url == "sqlite:///.sentinel/ledger.db"


def test_the_file_is_read_and_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _file(
        tmp_path, 'mode = "observe"\n[server]\nport = 9000\n[[stacks]]\nname = "a"\npath = "/a"\nmode = "observe"\n'
    )
    monkeypatch.setenv("SENTINEL_SERVER__PORT", "9001")
    settings = read_settings(path)
    assert (settings.mode, settings.server.port, settings.stacks[0].mode) == (Mode.OBSERVE, 9001, Mode.OBSERVE)


def test_every_mistake_is_reported_together(tmp_path: Path) -> None:
    path = _file(tmp_path, 'mode = "lax"\ncolour = "red"\n[server]\nport = 0\n[policy]\nengine = "regopy"\n')
    with pytest.raises(SettingsInvalid) as caught:
        read_settings(path)
    for name in ("mode", "colour", "server.port", "policy.engine"):
        assert name in str(caught.value)


@pytest.mark.parametrize("text", ["mode = ", "[[", "mode = 'observe'\nmode = 'enforce'"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, text: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(SettingsInvalid, match=r"sentinel\.toml"):
        read_settings(path)


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="does not exist"):
        read_settings(tmp_path / "none.toml")


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    settings = read_settings(_file(tmp_path, 'master_key = "swordfish-swordfish-swordfish-42"\n'))
    assert "swordfish" not in repr(settings)
    assert "swordfish" not in str(settings.model_dump(mode="json"))


STACKS = """
[[stacks]]
name = "a"
path = "/a"
data_plane = "policy"
[[stacks]]
name = "b"
path = "/b"
data_plane = { agent = "record" }
[[stacks]]
name = "c"
path = "/c"
"""


def test_the_data_plane_is_set_by_stack_and_kind_of_actor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_DATA_PLANE__HUMAN", "pass")
    settings = read_settings(_file(tmp_path, STACKS))
    outside = {**DEFAULT_TREATMENTS, ActorKind.HUMAN: DataTreatment.PASS}
    assert settings.data_treatments == outside
    assert settings.data_treatments_by_stack == {
        "a": dict.fromkeys(ActorKind, DataTreatment.POLICY),
        "b": {**outside, ActorKind.AGENT: DataTreatment.RECORD},
        "c": outside,
    }


def test_one_word_is_for_every_kind_of_actor(tmp_path: Path) -> None:
    settings = read_settings(_file(tmp_path, 'data_plane = "record"\n'))
    assert set(settings.data_treatments.values()) == {DataTreatment.RECORD}


@pytest.mark.parametrize("value", ['"allow"', '{ agent = "allow" }', '{ agents = "pass" }', "true"])
def test_a_treatment_that_does_not_exist_is_a_mistake(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsInvalid, match="data_plane"):
        read_settings(_file(tmp_path, f"data_plane = {value}\n"))


def test_cloudtrail_needs_the_identity_of_the_gateway(tmp_path: Path) -> None:
    (config := tmp_path / "sentinel.toml").write_text('[reconcile]\ncloudtrail = "trail"\n')
    with pytest.raises(SettingsInvalid, match=r"reconcile: .*`cloudtrail` needs `gateway_identity`"):
        read_settings(config)
    config.write_text(config.read_text() + 'gateway_identity = "sentinel"\n')
    with pytest.raises(SettingsInvalid, match=r"reconcile\.gateway_identity: "):
        read_settings(config)
    config.write_text(
        '[reconcile]\ncloudtrail = "trail"\ngateway_identity = "arn:aws:iam::123456789012:role/a/sentinel"\n'
    )
    assert read_settings(config).reconcile.cloudtrail == Path("trail")
