"""The shape of the source: each file has its test, says what it is, and stays small; each public function is documented."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for package in ("gateway", "reconciler") for path in (ROOT / package).rglob("*.py"))
PROSE = [
    *SOURCES,
    *sorted(path for path in ROOT.rglob("*.md") if not set(path.parts) & {".venv", ".tools", ".sentinel"}),
]
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
LONG_FILE_REASON = "One file because"
"""A file that is one idea may be longer, if its docstring gives the reason after these words."""

TESTED_ELSEWHERE = {
    # These are played as a whole, in processes of their own.
    "gateway/__main__.py": "tests/system/test_story.py",
    "gateway/cli/demo/simulated_aws.py": "tests/system/test_story.py",
    "gateway/cli/demo/tour_fixtures.py": "tests/system/test_story.py",
    "gateway/cli/demo/tour.py": "tests/system/test_story.py",
    "gateway/cli/demo/up.py": "tests/system/test_story.py",
}
"""Source files whose test has another name. The list can only shrink: an entry that is not needed fails."""

PROTOCOLS_ONLY = {
    "gateway/core/ports.py",
    "gateway/context/ports.py",
}
"""Nothing in them runs; the suites in tests/ports hold whatever implements them."""


TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if "bench" not in path.parts)
MAY_SKIP = {"tests/clients/test_clients.py": "a client that is not installed; where CI is set it fails instead"}
"""Test files that may skip, with the reason. What is skipped passes without having been checked."""
STOPWATCHES = {"perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "thread_time", "thread_time_ns"}
CHANGED_CLOCK = re.compile(r"""setattr\((?:["'][\w.]*\btime\.\w+|time,)""")
"""A clock that is changed for the whole process, not only in the module under test."""
LEAST_WAIT = 300
"""Seconds that a test waits for what must happen, so that it passes on a busy machine."""


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
    docstring = ast.get_docstring(ast.parse(text)) or ""
    assert text.count("\n") <= MOST_LINES or LONG_FILE_REASON in docstring


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


PLAIN_FORMS = {
    r"\b(?:that|which|what) (?:is|are) none\b": "say what it is instead: `not a number`, `no such key`",
    r"\bwhoever\b": "`anyone who`, or name the caller",
    r"\banew\b": "`again`, or `a new …`",
    r"\bof which (?:there|nothing|somebody|it)\b": "turn the sentence round: subject, verb, object",
    r"\b(?:a|the|each|any|every|one|which|its|declared|of|these|those|whole) things?\b": "`resource`",
    r"\bthe law\b|\bas law\b|\bwhich law\b": "`contracts` or `policy`",
    r"\blawful\b": "`valid`",
    r"\bgone into\b|\blaid over\b|\bturned round\b": "name the operation: `walk`, `override`, `invert`",
    r"\bbegun to\b": "`started to`",
    r"\bfacts/[a-z]+\.md\b|\breliability\.md\b|\(T\d+[:)]": "point only to documents of this repository",
}
"""Phrases that readers stumbled over, with the plain form to use."""


@pytest.mark.parametrize("path", PROSE, ids=_name)
def test_prose_is_plain(path: Path) -> None:
    text = path.read_text()
    found = [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}: {plain}"
        for pattern, plain in PLAIN_FORMS.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


def test_a_public_class_name_has_one_meaning() -> None:
    defined: dict[str, set[str]] = defaultdict(set)
    for path in SOURCES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                defined[node.name].add(_name(path))
    assert not {name: sorted(paths) for name, paths in defined.items() if len(paths) > 1}


@pytest.mark.parametrize("path", [*TESTS, *SOURCES], ids=_name)
def test_nothing_is_skipped_or_left_out(path: Path) -> None:
    """What a test needs is in the repository or installed by `make`; a double does what its port says.

    The names of what is left out stand below, in this check and in its own test, because it looks for them.
    """
    names = {name for node in ast.walk(ast.parse(path.read_text())) if (name := _left_out(node))}
    allowed = {"skip"} if _name(path) in MAY_SKIP else set()
    assert names == allowed, sorted(names ^ allowed)


# What the check must find. Nothing is skipped here.
@pytest.mark.parametrize(
    "text", ["pytest.skip('x')", "@pytest.mark.skipif(a, reason='x')\ndef f(): ...", "pytest.importorskip('x')", "raise NotImplementedError"]
)  # fmt: skip
def test_what_is_skipped_is_found(text: str) -> None:
    assert any(_left_out(node) for node in ast.walk(ast.parse(text)))


def _left_out(node: ast.AST) -> str:
    """The name that leaves something out; empty if the node is none."""
    if isinstance(node, ast.Name) and node.id == "NotImplementedError":  # what the check looks for
        return node.id
    if not isinstance(node, ast.Attribute) or node.attr not in {"skip", "skipif", "importorskip", "xfail"}:
        return ""
    return node.attr if "pytest" in ast.unparse(node.value) else ""


CLASSES = {
    node.name
    for path in SOURCES
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.ClassDef) and re.match(r"[A-Z][a-z]+[A-Z]", node.name)
} - {"SigV4"}
"""Names that can only mean a class of ours. (Signature Version 4 has that name elsewhere too.)"""


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_no_text_names_a_class(path: Path) -> None:
    """What people and models read is English: a class in the middle of a sentence was put there by renaming it everywhere."""
    found = [f"line {line}: {name}" for line, text in _texts(path.read_text()) for name in _classes_in(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ('TASK = "Edit it. SuggestedAnswer with replacements."', True),
        ('raise Malformed(f"{name} is no SuggestedAnswer.")', True),
        ('TASK = "Answer with replacements."', False),
        ('Terms: TypeAlias = "list[SuggestedAnswer | str]"', False),
        ('def read() -> None:\n    """Raises SuggestedAnswer here."""', False),
    ],
)
def test_a_class_in_a_text_is_found(source: str, refused: bool) -> None:
    assert any(_classes_in(text) for _, text in _texts(source)) is refused


def _texts(source: str) -> list[tuple[int, str]]:
    """Sentences that the program uses, with their lines; not what documents it, and not types in quotes."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in documentation and " " in node.value and not _is_code(node.value)
    ]


def _is_code(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def _classes_in(text: str) -> list[str]:
    return [word for word in re.findall(r"\b[A-Z]\w+\b", re.sub(r"`[^`]*`", "", text)) if word in CLASSES]


@pytest.mark.parametrize("path", TESTS, ids=_name)
def test_no_test_measures_time(path: Path) -> None:
    """What a call costs is held by counted work (tests/kit/growth.py) and by the bench; a measured time says how busy the machine was."""
    found = [problem for node in ast.walk(ast.parse(path.read_text())) if (problem := _measured(node))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("assert time.perf_counter() - began < 0.5", True),
        ("from time import thread_time", True),
        ("took = time.monotonic() - began", True),
        ("took = time() - began", True),
        ("deadline = time.monotonic() + 15", True),
        ("deadline = time.monotonic() + 300", False),
        ("assert datetime.now(UTC) - began < age", False),
    ],
)
def test_a_measured_time_is_found(text: str, refused: bool) -> None:
    assert any(_measured(node) for node in ast.walk(ast.parse(text))) is refused


@pytest.mark.parametrize("path", TESTS, ids=_name)
def test_no_test_changes_the_time_of_the_process(path: Path) -> None:
    """Event loops in other threads read the clock too: one that computed its sleep by a changed clock may sleep for hours."""
    code = path.read_text() if path != Path(__file__) else ""
    assert not CHANGED_CLOCK.findall(code)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('monkeypatch.setattr("gateway.ledger.keyring.time.monotonic", now)', True),
        ('monkeypatch.setattr(time, "monotonic", now)', True),
        ('monkeypatch.setattr("gateway.ledger.keyring.monotonic", now)', False),
    ],
)
def test_a_changed_clock_is_found(text: str, refused: bool) -> None:
    assert bool(CHANGED_CLOCK.search(text)) is refused


def _measured(node: ast.AST) -> str:
    """Why the node is, or leads to, a measured time; empty if it is none."""
    name = node.attr if isinstance(node, ast.Attribute) else node.name if isinstance(node, ast.alias) else ""
    if name in STOPWATCHES:
        return f"{name} measures time"
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Call) and _called(node.left) in {"monotonic", "time"}:
        if isinstance(node.op, ast.Sub):
            return f"line {node.lineno} measures how long something took"
        wait = node.right.value if isinstance(node.right, ast.Constant) else LEAST_WAIT
        if isinstance(wait, int | float) and wait < LEAST_WAIT:
            return f"line {node.lineno} waits for less than {LEAST_WAIT} s"
    return ""


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
