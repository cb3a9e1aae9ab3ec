"""Each rule of shape finds what it is about, and nothing else; the sources themselves are held to the rules by `make lint`."""

from collections.abc import Callable, Iterable

import pytest

from tests.tools import shape
from tests.tools.shape import Problem, Source


def source(text: str, file: str = "gateway/a.py") -> Source:
    return Source(file=file, text=text)


def lines(problems: Iterable[Problem]) -> list[int]:
    return [problem.line for problem in problems]


_BODY = "\n    pass" * 60
_DOCUMENTED = (
    '"""D."""\nclass A:\n    """D."""\n    def f(self) -> None:\n        """D."""\n    def _g(self) -> None: ...\n'
)


@pytest.mark.parametrize(
    ("rule", "text", "found"),
    [
        (shape.undocumented, "x = 1", [1]),
        (shape.undocumented, '"""D."""\nclass A:\n    def f(self) -> None: ...', [2, 3]),
        (shape.undocumented, '"""D."""\nasync def f() -> None: ...', [2]),
        (shape.undocumented, _DOCUMENTED, []),
        (shape.long_functions, f"x = 1\ndef f() -> None:{_BODY}", [2]),
        (shape.long_functions, f"class A:\n    async def f() -> None:{_BODY[:-9].replace('    ', '        ')}", []),
        (shape.long_files, "x = 1\n" * 801, [1]),
        (shape.long_files, "x = 1\n" * 800, []),
        (shape.left_out, "pytest.skip('x')", [1]),
        (shape.left_out, "@pytest.mark.skipif(a, reason='x')\ndef f(): ...", [1]),
        (shape.left_out, "pytest.importorskip('x')", [1]),
        (shape.left_out, "x = 1\nraise NotImplementedError", [2]),
        (shape.left_out, "reader.skip(2)", []),
        (shape.measured_times, "assert time.perf_counter() - began < 0.5", [1]),
        (shape.measured_times, "from time import thread_time", [1]),
        (shape.measured_times, "took = time.monotonic() - began", [1]),
        (shape.measured_times, "took = time() - began", [1]),
        (shape.measured_times, "deadline = time.monotonic() + 15", [1]),
        (shape.measured_times, "deadline = time.monotonic() + 300", []),
        (shape.measured_times, "assert datetime.now(UTC) - began < age", []),
        (shape.changed_clocks, 'monkeypatch.setattr("gateway.ledger.keyring.time.monotonic", now)', [1]),
        (shape.changed_clocks, 'monkeypatch.setattr(time, "monotonic", now)', [1]),
        (shape.changed_clocks, 'monkeypatch.setattr("gateway.ledger.keyring.monotonic", now)', []),
        (shape.stumbling_phrases, "# It is whole.\n# Two are begun to be read.", [2]),
        (shape.stumbling_phrases, "# Each\n# thing is written Anew.", [2]),
        (shape.stumbling_phrases, "# Each resource is written again.", []),
    ],
)  # fmt: skip
def test_a_rule_finds_its_lines(rule: Callable[[Source], Iterable[Problem]], text: str, found: list[int]) -> None:
    assert lines(rule(source(text))) == found


def test_only_a_named_file_may_skip() -> None:
    file = next(iter(shape.MAY_SKIP))
    assert not lines(shape.left_out(source("pytest.skip('x')", file)))
    assert lines(shape.left_out(source("pytest.xfail('x')", file))) == [1]
    (problem,) = shape.left_out(source("pass", file))
    assert "take the file off the list" in problem.sentence


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('TASK = "Edit it. SuggestedAnswer with replacements."', [1]),
        ('raise Malformed(f"{name} is no SuggestedAnswer.")', [1]),
        ('TASK = "Answer with replacements. A `SuggestedAnswer` is code."', []),
        ('Terms: TypeAlias = "list[SuggestedAnswer | str]"', []),
        ('def read() -> None:\n    """Raises SuggestedAnswer here."""', []),
        ('TASK = "SigV4 and Caller are words elsewhere too."', []),
    ],
)
def test_a_class_in_a_text_is_found(text: str, found: list[int]) -> None:
    assert lines(shape.classes_in_texts(source(text), {"SuggestedAnswer", "SigV4", "Caller"})) == found


def test_a_public_class_name_has_one_meaning() -> None:
    one = source("class A: ...\nclass _B: ...")
    other = source("class _B: ...\nclass C: ...\nclass A: ...", "reconciler/b.py")
    (problem,) = shape.names_with_two_meanings([one, other])
    assert str(problem) == "reconciler/b.py:3: `A` is a class in gateway/a.py too."


@pytest.mark.parametrize(
    ("word", "file", "found"),
    [
        ('"""What it owns."""', "gateway/x/__init__.py", []),
        ("What it owns.\n" * 15, "gateway/x/README.md", []),
        ("What it owns.\n" * 16, "gateway/x/README.md", ["gateway/x"]),
        ("x = 1", "gateway/x/__init__.py", ["gateway/x"]),
        ("What it owns.", "gateway/x/NOTES.md", ["gateway/x"]),
    ],
)
def test_a_folder_says_what_it_owns(word: str, file: str, found: list[str]) -> None:
    files = [source(word, file), source('"""D."""', "gateway/x/a.py"), source("", "tests/kit/a.py")]
    assert [problem.file for problem in shape.folders_without_a_word(files)] == found


def test_files_beside_the_entry_are_counted() -> None:
    programs = [source("", f"gateway/{name}.py") for name in "abc"] + [source("", "gateway/x/d.py")]
    assert not list(shape.crowded_programs(programs, 3))
    assert not list(shape.crowded_programs(programs, None))
    (problem,) = shape.crowded_programs(programs, 2)
    assert str(problem) == "gateway:1: 3 modules stand here; at most 2 may."


CIRCLE = (
    source("from gateway import x", "gateway/__init__.py"),
    source("x = 1\nif TYPE_CHECKING:\n    from gateway.b import B", "gateway/a.py"),
    source("def f():\n    from gateway import c", "gateway/b.py"),
    source("import gateway.a\nfrom gateway.d import D", "gateway/c.py"),
    source("import ast", "gateway/d.py"),
)


def test_a_circle_of_imports_is_found_wherever_they_stand() -> None:
    (problem,) = shape.circular_imports(CIRCLE)
    assert problem.sentence.startswith("The imports go in a circle: gateway.")
    assert {"gateway.a", "gateway.b", "gateway.c"} == set(problem.sentence.split(": ")[1].strip(".").split(" → "))
    assert not list(shape.circular_imports([each for each in CIRCLE if each.file != "gateway/b.py"]))


def test_the_list_of_circles_can_only_shrink() -> None:
    known = frozenset({"gateway.a", "gateway.b", "gateway.c"})
    assert not list(shape.circular_imports(CIRCLE, [known]))
    (problem,) = shape.circular_imports(CIRCLE[3:], [known])
    assert "take the entry off the list" in problem.sentence


@pytest.mark.parametrize(
    ("user", "setup", "is_used"),
    [
        ("from gateway.x import a", "", True),
        ("from gateway.x.a import f", "", True),
        ('import_module("gateway.x.a")', "", True),
        ("pass", "python -m gateway.x.a\n", True),
        ('"""It replaces gateway.x.a."""', "python -m gateway.x.ab", False),
        ("from gateway.x import b", "", False),
    ],
)
def test_a_module_that_only_tests_use_is_found(user: str, setup: str, *, is_used: bool) -> None:
    programs = [source("", "gateway/x/__init__.py"), source("", "gateway/x/a.py"), source(user, "gateway/__main__.py")]
    assert [problem.file for problem in shape.unused_modules(programs, [setup])] == ["gateway/x/a.py"] * (not is_used)


def test_a_module_that_is_started_by_its_name_is_used() -> None:
    assert not list(shape.unused_modules([source('if __name__ == "__main__":\n    main()')], []))


def test_every_rule_is_applied_and_a_warning_alone_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shape, "CIRCLES_LEFT", ())
    long, bad = "x = 1\n" * 801, [source("x = 1", "gateway/x/a.py"), source("a thing", "README.md")]
    monkeypatch.setattr(shape, "sources", lambda _: [source(long, "tests/kit/a.py")])
    assert shape.main() == 0
    assert capsys.readouterr().out == "tests/kit/a.py:1: warning: The file has 801 lines: is it one idea?\n"
    monkeypatch.setattr(shape, "sources", lambda _: bad)
    assert shape.main() == 1
    assert [line.split(": ")[0] for line in capsys.readouterr().out.splitlines()] == [
        "README.md:1", "gateway/x:1", "gateway/x/a.py:1", "gateway/x/a.py:1"
    ]  # fmt: skip
