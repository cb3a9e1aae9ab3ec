"""Finds Terraform provider mirrors on this machine and builds the environment that terraform runs in."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.core.errors import SettingsInvalid

CONFIG_NAME = "sentinel.tfrc"
"""The name of the Terraform CLI configuration file that Sentinel writes into its working directory."""

_ADD_ONS = Path("/opt")
"""The directory for add-on software, one folder per package (Filesystem Hierarchy Standard 3.0, section 3.13)."""

_DROPPED = ("SENTINEL_", "TF_CLI_ARGS", "TF_LOG", "TF_REATTACH", "GIT_")
_DROPPED_NAMES = {"TF_DATA_DIR", "TF_WORKSPACE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """A directory with the layout of a provider mirror, and the providers in it."""

    path: Path
    providers: tuple[str, ...]
    """`<host>/<namespace>/<type>`, sorted."""


def read_mirror(path: Path) -> Mirror | None:
    """The mirror at `path`, None if it has no provider.

    Both layouts of the Terraform CLI documentation ("Filesystem mirror") count: `…/<version>/<os_arch>/` unpacked and
    `…/terraform-provider-*.zip` packed. A host name contains a dot; other directories do not.
    """
    found = {
        f"{host.name}/{namespace.name}/{kind.name}"
        for host in _directories(path)
        if "." in host.name.strip(".")
        for namespace in _directories(host)
        for kind in _directories(namespace)
        if _holds_provider(kind)
    }
    return Mirror(path=path, providers=tuple(sorted(found))) if found else None


def find_mirrors(base: Mapping[str, str], add_ons: Path = _ADD_ONS) -> tuple[Mirror, ...]:
    """The mirrors in the folders that Terraform itself searches, then those of add-on software; each provider only once."""
    mirrors: list[Mirror] = []
    seen: set[str] = set()
    for path in (*_usual_folders(base), *_directories(add_ons)):
        if (mirror := read_mirror(path)) is None:
            continue
        new = tuple(provider for provider in mirror.providers if provider not in seen)
        seen.update(new)
        if new:
            mirrors.append(Mirror(path=mirror.path, providers=new))
    return tuple(mirrors)


def terraform_environment(*, mirror: Path | None, workdir: Path, base: Mapping[str, str]) -> dict[str, str]:
    """The environment for terraform: `base` without variables that would change our commands, with a mirror if there is one.

    `mirror` is the directory from the settings. Without one, unless the user has configured Terraform's CLI, the mirrors
    found on this machine serve the providers they have and the registry serves all others, which is also what Terraform
    does with its own plug-in folders. No network access. The configuration file is written into `workdir`.
    Raises `errors.SettingsInvalid` if the directory from the settings has no provider.
    """
    environment = {name: value for name, value in base.items() if _is_inherited(name)}
    inherited = environment.get("TF_CLI_CONFIG_FILE")
    if inherited is not None and not Path(inherited).is_file():
        del environment["TF_CLI_CONFIG_FILE"]
    environment |= {"TF_IN_AUTOMATION": "1", "TF_INPUT": "0", "CHECKPOINT_DISABLE": "1"}
    if environment.get("AWS_ENDPOINT_URL", "").startswith("http://"):
        # Plain HTTP needs no TLS bundle, and with one the provider fails its second configuration.
        environment.pop("AWS_CA_BUNDLE", None)
    if mirrors := _mirrors_to_use(mirror, environment):
        environment["TF_CLI_CONFIG_FILE"] = str(_write_config(mirrors, workdir))
    return environment


def _mirrors_to_use(mirror: Path | None, environment: Mapping[str, str]) -> tuple[Mirror, ...]:
    if mirror is not None:
        if (found := read_mirror(mirror.absolute())) is None:
            message = f"The provider mirror {mirror} holds no provider: expected <host>/<namespace>/<type>/<version>/<os_arch> below it."
            raise SettingsInvalid(message)
        return (found,)
    own_config = Path(environment.get("HOME", "/nonexistent")) / ".terraformrc"
    if "TF_CLI_CONFIG_FILE" in environment or own_config.is_file():
        return ()
    return find_mirrors(environment)


def _usual_folders(base: Mapping[str, str]) -> Iterator[Path]:
    """The implied local mirror directories of Terraform's CLI documentation, for Linux and macOS."""
    home = Path(base.get("HOME", "/nonexistent"))
    yield home / ".terraform.d/plugins"
    yield Path(base.get("XDG_DATA_HOME") or home / ".local/share") / "terraform/plugins"
    for folder in (base.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":"):
        yield Path(folder) / "terraform/plugins"
    yield home / "Library/Application Support/io.terraform/plugins"


def _directories(path: Path) -> list[Path]:
    try:
        return sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return []


def _holds_provider(kind: Path) -> bool:
    unpacked = any("_" in platform.name for version in _directories(kind) for platform in _directories(version))
    return unpacked or next(kind.glob("terraform-provider-*.zip"), None) is not None


def _is_inherited(name: str) -> bool:
    return not name.startswith(_DROPPED) and name not in _DROPPED_NAMES


def _write_config(mirrors: tuple[Mirror, ...], workdir: Path) -> Path:
    blocks = "".join(_mirror_block(mirror) for mirror in mirrors)
    everything = json.dumps([provider for mirror in mirrors for provider in mirror.providers])
    text = f"provider_installation {{\n{blocks}  direct {{\n    exclude = {everything}\n  }}\n}}\n"
    workdir.mkdir(parents=True, exist_ok=True)
    path = (workdir / CONFIG_NAME).absolute()
    if not path.is_file() or path.read_text() != text:
        written = path.with_suffix(".new")
        written.write_text(text)
        written.replace(path)
    return path


def _mirror_block(mirror: Mirror) -> str:
    return (
        f"  filesystem_mirror {{\n    path    = {json.dumps(str(mirror.path))}\n"
        f"    include = {json.dumps(list(mirror.providers))}\n  }}\n"
    )
