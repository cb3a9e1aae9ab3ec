"""Counts how often each file of Terraform code is parsed, so that a test can say that nothing is parsed twice."""

from collections import Counter
from pathlib import Path

import pytest

from gateway.terraform.config import source
from gateway.terraform.lang.hcl import Document, parse


def count_parses(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """How often each file was parsed as code was read, from now on."""
    found: Counter[Path] = Counter()

    def counted(path: Path, source: bytes) -> Document:
        found[path] += 1
        return parse(path, source)

    monkeypatch.setattr(source, "parse", counted)
    return found
