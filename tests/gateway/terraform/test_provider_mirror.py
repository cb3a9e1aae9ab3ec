"""Provider mirrors are found by their layout, and the environment for terraform is built without network access."""

from pathlib import Path

import pytest

from gateway.core.errors import SettingsInvalid
from gateway.terraform.provider_mirror import Mirror, find_mirrors, read_mirror, terraform_environment

HOST = "registry.example.org"


def _unpacked(root: Path, provider: str = f"{HOST}/acme/aws") -> Path:
    (root / provider / "5.100.0" / "linux_amd64").mkdir(parents=True)
    return root


def _packed(root: Path) -> Path:
    (root / HOST / "acme" / "tls").mkdir(parents=True)
    (root / HOST / "acme" / "tls" / "terraform-provider-tls_4.0.0_linux_amd64.zip").touch()
    return root


def test_both_layouts_of_a_mirror_are_read(tmp_path: Path) -> None:
    assert read_mirror(_packed(_unpacked(tmp_path))) == Mirror(
        path=tmp_path, providers=(f"{HOST}/acme/aws", f"{HOST}/acme/tls")
    )


@pytest.mark.parametrize(
    "layout", ["share/doc/thing/1.0/linux_amd64", "python3.11/lib/x/1.0/nothing", f"{HOST}/acme/aws"]
)
def test_other_trees_are_not_a_mirror(tmp_path: Path, layout: str) -> None:
    (tmp_path / layout).mkdir(parents=True)
    assert read_mirror(tmp_path) is None


def test_a_missing_directory_is_not_a_mirror(tmp_path: Path) -> None:
    assert read_mirror(tmp_path / "nowhere") is None


def test_each_provider_comes_from_the_first_folder_that_has_it(tmp_path: Path) -> None:
    usual = _unpacked(tmp_path / "home/.terraform.d/plugins")
    add_on = _packed(_unpacked(tmp_path / "opt/some-package"))
    found = find_mirrors({"HOME": str(tmp_path / "home"), "XDG_DATA_DIRS": str(tmp_path)}, tmp_path / "opt")
    assert [(mirror.path, mirror.providers) for mirror in found] == [
        (usual, (f"{HOST}/acme/aws",)),
        (add_on, (f"{HOST}/acme/tls",)),
    ]


def test_the_settings_mirror_is_written_into_our_own_configuration(tmp_path: Path) -> None:
    mirror = _unpacked(tmp_path / 'a "quoted" mirror')
    environment = terraform_environment(mirror=mirror, workdir=tmp_path / "work", base={"HOME": str(tmp_path)})
    text = Path(environment["TF_CLI_CONFIG_FILE"]).read_text()
    assert 'a \\"quoted\\" mirror"' in text
    assert f'include = ["{HOST}/acme/aws"]' in text
    assert f'exclude = ["{HOST}/acme/aws"]' in text


def test_a_settings_mirror_without_providers_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="holds no provider"):
        terraform_environment(mirror=tmp_path, workdir=tmp_path, base={})


def test_terraforms_own_configuration_is_left_alone(tmp_path: Path) -> None:
    _unpacked(tmp_path / ".terraform.d/plugins")
    (tmp_path / ".terraformrc").touch()
    assert "TF_CLI_CONFIG_FILE" not in terraform_environment(
        mirror=None, workdir=tmp_path, base={"HOME": str(tmp_path)}
    )
    named = {"HOME": str(tmp_path), "TF_CLI_CONFIG_FILE": str(tmp_path / ".terraformrc")}
    assert terraform_environment(mirror=None, workdir=tmp_path, base=named)["TF_CLI_CONFIG_FILE"].endswith(
        ".terraformrc"
    )


def test_a_configuration_file_that_is_not_there_is_not_passed_on(tmp_path: Path) -> None:
    (tmp_path / ".terraformrc").touch()
    base = {"HOME": str(tmp_path), "TF_CLI_CONFIG_FILE": str(tmp_path / "gone")}
    assert "TF_CLI_CONFIG_FILE" not in terraform_environment(mirror=None, workdir=tmp_path, base=base)


def test_what_would_change_our_commands_or_is_our_secret_is_dropped(tmp_path: Path) -> None:
    (tmp_path / ".terraformrc").touch()
    base = {
        "HOME": str(tmp_path),
        "PATH": "/bin",
        "TF_CLI_ARGS_plan": "-destroy",
        "TF_DATA_DIR": "/x",
        "TF_VAR_region": "eu",
        "TF_LOG": "trace",
        "SENTINEL_MASTER_KEY": "secret",
        "GIT_DIR": "/x",
        "AWS_CA_BUNDLE": "/ca",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
    }
    environment = terraform_environment(mirror=None, workdir=tmp_path, base=base)
    assert set(environment) == {
        "HOME",
        "PATH",
        "TF_VAR_region",
        "AWS_ENDPOINT_URL",
        "TF_IN_AUTOMATION",
        "TF_INPUT",
        "CHECKPOINT_DISABLE",
    }
    assert "AWS_CA_BUNDLE" in terraform_environment(
        mirror=None, workdir=tmp_path, base={**base, "AWS_ENDPOINT_URL": "https://x"}
    )
