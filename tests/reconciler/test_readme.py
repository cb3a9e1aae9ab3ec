"""The files that the README names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_path_in_the_readme_exists() -> None:
    text = (ROOT / "reconciler" / "README.md").read_text()
    paths = set(re.findall(r"`([\w/]+(?:\.py|/))`", text))
    assert len(paths) > 20
    missing = [name for name in paths if not (ROOT / "reconciler" / name).exists() and not (ROOT / name).exists()]
    assert missing == []
