"""What the unpacking of calls needs of AWS's models: which operations are batches, and how SDKs name services and parameters.

`gateway.aws.models.generate_proxies` writes the file and says how a batch is found.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gateway.effects.values import NotUnderstood

SHIPPED = Path(__file__).with_name("models.json")
_NAME = re.compile(r"[a-z][A-Za-z0-9]{1,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A list of requests, each of which another operation takes alone."""

    single: str
    """The operation that takes one."""
    entries: str
    """The parameter with the list."""
    parameter: str
    """The parameter of `single` that an item of the list is; empty if an item is a structure with several."""
    label: str
    """The member that names an item inside the batch, and that `single` does not have; empty if there is none."""


@lru_cache(maxsize=1)
def _models() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(SHIPPED.read_bytes())
    return found


@lru_cache(maxsize=1)
def batches() -> Mapping[tuple[str, str], Batch]:
    """Service and operation, by botocore's names → the batch that it is."""
    return {
        (service, name): Batch(single=single, entries=entries, parameter=parameter, label=label)
        for service, table in _models()["batches"].items()
        for name, (single, entries, parameter, label) in table.items()
    }


def sdk_call(service: str, operation: str, parameters: Mapping[str, object]) -> tuple[str, str, Mapping[str, object]]:
    """Service, operation and parameters, by botocore's names, of a call in the terms of AWS's universal targets (`sqs`, `sendMessage`).

    The service may be one that does not exist: then no table has it. Raises `NotUnderstood` if a name is in another form.
    """
    if not _NAME.fullmatch(service) or not _NAME.fullmatch(operation):
        raise NotUnderstood("a service or operation in an unknown form")
    name = _sdk_names().get(service, service)
    if name in _lower_case():
        renamed = {key[:1].lower() + key[1:]: value for key, value in parameters.items()}
        if len(renamed) != len(parameters):
            raise NotUnderstood("a parameter that is named twice")
        parameters = renamed
    return name, operation[:1].upper() + operation[1:], parameters


@lru_cache(maxsize=1)
def _sdk_names() -> Mapping[str, str]:
    names: Mapping[str, str] = _models()["sdk_names"]
    return names


@lru_cache(maxsize=1)
def _lower_case() -> frozenset[str]:
    return frozenset(_models()["lower_case"])
