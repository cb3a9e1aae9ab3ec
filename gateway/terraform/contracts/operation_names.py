"""The names of AWS's operations, so that a misspelt one in a contract is an error at load and not a refusal at night."""

import difflib
import gzip
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

SHIPPED = Path(__file__).with_name("operations.json.gz")
"""Made by `python -m gateway.aws.models.generate_operation_names`."""

_MOST_NAMED = 3


@lru_cache(maxsize=1)
def operation_names() -> Mapping[str, frozenset[str]]:
    """Botocore service name → its operations. Read from the shipped file when first asked for (about 10 ms)."""
    services = json.loads(gzip.decompress(SHIPPED.read_bytes()))["services"]
    return {service: frozenset(names) for service, names in services.items()}


def operation_problem(written: str) -> str:
    """Why `written` names no operation, as a sentence; empty for `Operation` or `service:Operation` as AWS spells them."""
    if any(mark in written for mark in "*?[]"):
        return f'"{written}" is a pattern. Name each operation that agents may invoke.'
    service, colon, operation = written.rpartition(":")
    if colon and service not in operation_names():
        return f'There is no AWS service "{service}"{_instead(service, operation_names())}{_services_of(operation)}'
    known = operation_names()[service] if colon else _all_operations()
    if operation in known:
        return ""
    where = f'of the service "{service}"' if colon else "of any AWS service"
    return f'There is no operation "{operation}" {where}{_instead(operation, known)}{_services_of(operation)}'


@lru_cache(maxsize=1)
def _all_operations() -> frozenset[str]:
    return frozenset().union(*operation_names().values())


def _instead(name: str, known: Iterable[str]) -> str:
    """The end of the sentence: a full stop, or the known name that is most like this one."""
    names = sorted(known)
    close = [each for each in names if each.lower() == name.lower()]
    close = close or difflib.get_close_matches(name, names, n=1, cutoff=0.75)
    return f'; did you mean "{close[0]}"?' if close else "."


def _services_of(operation: str) -> str:
    """A further sentence that names the services that have the operation; empty if none has."""
    having = sorted(service for service, names in operation_names().items() if operation in names)
    listed = ", ".join(f'"{service}:{operation}"' for service in having[:_MOST_NAMED])
    return f" There is {listed}." if listed else ""
