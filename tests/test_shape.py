"""The shape of the source: each file has its test, says what it is, and stays small; each public function is documented."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for package in ("gateway", "reconciler") for path in (ROOT / package).rglob("*.py"))
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60

TESTED_ELSEWHERE = {
    # These are played as a whole, in processes of their own.
    "gateway/__main__.py": "tests/system/test_story.py",
    "gateway/cli/serve.py": "tests/system/test_story.py",
    "gateway/cli/local/simulated_aws.py": "tests/system/test_story.py",
    "gateway/cli/local/tour_fixtures.py": "tests/system/test_story.py",
    "gateway/cli/local/tour.py": "tests/system/test_story.py",
    "gateway/cli/local/up.py": "tests/system/test_story.py",
}
"""Source files whose test has another name. The list can only shrink: an entry that is not needed fails."""

PROTOCOLS_ONLY = {"gateway/ports.py"}
"""Nothing in them runs; the suites in tests/ports hold whatever implements them."""


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _test_of(path: Path) -> Path:
    relative = path.relative_to(ROOT)
    return ROOT / "tests" / relative.parent / f"test_{relative.name}"


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.name != "__init__.py" and "versions" not in path.parts], ids=_name
)
def test_a_source_file_has_its_test(path: Path) -> None:
    name = _name(path)
    if name in PROTOCOLS_ONLY or not _functions(path):
        return  # declarations only
    if name in TESTED_ELSEWHERE:
        assert not _test_of(path).exists(), f"{name} has a test of its own now: take it off the list"
        assert (ROOT / TESTED_ELSEWHERE[name]).exists()
    else:
        assert _test_of(path).exists(), f"{_name(_test_of(path))} is missing"


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_a_source_file_says_what_it_is_and_stays_small(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), "the module has no docstring"
    assert text.count("\n") <= MOST_LINES


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_functions_stay_small(path: Path) -> None:
    for node in _functions(path):
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        assert length <= MOST_LINES_OF_A_FUNCTION, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_public_classes_functions_and_methods_are_documented(path: Path) -> None:
    for node in _public(ast.parse(path.read_text())):
        assert ast.get_docstring(node), f"{node.name} has no docstring"


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _public(scope: ast.Module | ast.ClassDef) -> list[Definition]:
    """Public definitions of a module, and those of its public classes; what is nested deeper is not public."""
    own = [node for node in scope.body if isinstance(node, Definition) and not node.name.startswith("_")]
    return own + [inner for node in own if isinstance(node, ast.ClassDef) for inner in _public(node)]
