"""Whether code configures a provider once, and with what: only then may commands of Terraform share a process of it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gateway.model.json import Json
from gateway.terraform.config.module import Module, load_module
from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.configured import configuration

_NOT_READ: Final = (".tofu", ".tofu.json")
_PROVIDER: Final = re.compile(rb'^[ \t]*+provider[ \t]++["\w]', re.MULTILINE)
_NAMED: Final = re.compile(rb"(?<![\w-])([\w-]++)\s*+=\s*+\{([^{}]*+)")
"""A name and the object it is set to. Nothing in it is tried twice, so that it costs linear time."""
_OWN_BUNDLE: Final = "custom_ca_bundle"


def single_configuration(root: Path, data: Path, source: str) -> Mapping[str, Json]:
    """The only configuration of a provider such as `registry.terraform.io/hashicorp/aws` in the code in `root`; empty if it has no block.

    `data` is the plug-in data of the stack (`.terraform`). Raises `errors.PluginUnavailable` if there may be several, or a part of it is
    not known, and `gateway.errors.CodeInvalid`.
    """
    module = load_module(root)
    for reason in _reasons(module, root, data, source):
        raise PluginUnavailable.because(reason)
    settings = configuration(module, source, "")
    if settings.get(_OWN_BUNDLE):
        raise PluginUnavailable.because(f"A provider with {_OWN_BUNDLE} cannot be configured twice.")
    return settings


def _reasons(module: Module, root: Path, data: Path, source: str) -> Iterator[str]:
    """Why the provider may be configured more than once."""
    name = source.rpartition("/")[2]
    if any(path.name.endswith(_NOT_READ) for directory in module.sources for path in (root / directory).glob("*")):
        yield "Part of the code is in files that only OpenTofu reads."
    for directory, each in module.sources.items():
        if each.providers and directory != ".":
            yield f"The module {directory} configures a provider."
        if any(_renamed(text, source) != {name} for text in each.texts):
            yield f"The code calls {source} by another name."
    downloaded = [path for path in (data / "modules").rglob("*") if path.is_file()]
    if any(path.name.endswith((".tf.json", *_NOT_READ)) for path in downloaded):
        yield "Part of a downloaded module is not in `.tf` files."
    if any(_PROVIDER.search(path.read_bytes()) for path in downloaded if path.suffix == ".tf"):
        yield "A downloaded module configures a provider."
    labels = [document.header(block)[1:] for document, block in module.source.providers]
    if any("alias" in document.attributes(block) for document, block in module.source.providers):
        yield "The code has an alias of a provider."
    if len(set(labels)) != len(labels):
        yield "The code configures a provider twice."


def _renamed(text: bytes, source: str) -> set[str]:
    """The names under which `required_providers` asks for a provider, with the usual one."""
    short = "/".join(source.split("/")[1:])
    asks = re.compile(rb'["/]' + re.escape(short.encode()) + rb'"')
    found = {name.decode() for name, body in _NAMED.findall(text) if asks.search(body)}
    return found | {short.rpartition("/")[2]}
