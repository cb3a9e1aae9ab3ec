"""What the READMEs point to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLES = ("gateway/README.md", "reconciler/README.md")
READMES = (
    "README.md",
    *TABLES,
    "gateway/ledger/README.md",
    "gateway/notices/README.md",
    "gateway/signals/README.md",
    "gateway/doors/console/README.md",
    "policies/README.md",
    "tests/bench/README.md",
    "tests/bench/drift/README.md",
)
_PATH = re.compile(r"`((?:gateway|reconciler|policies|tests|deploy)/[\w./-]*)`")
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
_ORDINARY_CHANGES = 30


@pytest.mark.parametrize("readme", READMES)
def test_every_path_and_link_exists(readme: str) -> None:
    text = (ROOT / readme).read_text()
    missing = [path for path in _PATH.findall(text) if not (ROOT / path).exists()]
    missing += [link for link in _LINK.findall(text) if not (ROOT / readme).parent.joinpath(link).exists()]
    assert not missing


@pytest.mark.parametrize("readme", TABLES)
def test_the_place_of_thirty_ordinary_changes_is_listed(readme: str) -> None:
    section = (ROOT / readme).read_text().partition("## Where to change what")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and _PATH.search(line)]
    assert len(rows) >= _ORDINARY_CHANGES
