"""Holds all sources to the shape that the house has agreed on: `python -m tests.tools.shape`, which `make lint` runs.

Prints `file:line: sentence` for each place and ends with 1 if any of them fails. A warning alone does not fail.
"""

import ast
import gc
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol

from tests.tools.module_graph import Imports, circles, imports_of, module_of, unused

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("gateway", "reconciler")
MANY_LINES = 800
MOST_LINES_OF_A_FUNCTION = 60
MOST_LINES_ABOUT_A_FOLDER = 15
MOST_FILES_OF_A_PROGRAM = 8
"""How many modules may stand in `gateway/` itself, and in `reconciler/`."""
LEAST_WAIT = 300
"""Seconds that a test waits for what must happen, so that it passes on a busy machine."""

MEASURING = ("tests/bench/", "tests/chaos/")
"""What measures: programs beside the tests, whose figures are printed and not asserted."""

MAY_SKIP = {
    "tests/clients/test_clients.py": "a client that is not installed; where CI is set it fails instead",
    "tests/system/test_rolling_upgrade.py": "a clone without the history, where the earlier version is not there; in a whole clone it fails instead",
}
"""Test files that may skip, with the reason. What is skipped passes without having been checked."""
STOPWATCHES = {"perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "thread_time", "thread_time_ns"}
LEFT_OUT = {"skip", "skipif", "importorskip", "xfail"}
CIRCLES_LEFT: tuple[frozenset[str], ...] = ()
"""Modules that import each other in circles, for types only. The list can only shrink: an entry that is not needed fails."""
_STARTS = 'if __name__ == "__main__":'
"""The line of a module that is started by its name."""
NOT_A_CLASS = {"SigV4"}
"""Signature Version 4 has that name elsewhere too."""

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


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """A place that has not the agreed shape."""

    file: str
    line: int
    sentence: str
    is_warning: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {'warning: ' * self.is_warning}{self.sentence}"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of the repository; Python code is parsed once for all rules."""

    file: str
    text: str

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the code, the module first."""
        return tuple(ast.walk(ast.parse(self.text)))

    @cached_property
    def tree(self) -> ast.Module:
        """The code."""
        module = self.nodes[0]
        assert isinstance(module, ast.Module)
        return module

    def problem(self, line: int, sentence: str) -> Problem:
        """What is wrong with a line of this file."""
        return Problem(file=self.file, line=line, sentence=sentence)


def main() -> int:
    """Prints what is wrong; returns the exit code of the process."""
    gc.disable()  # the trees stay until the end, and looking for garbage among them takes a third of the time
    problems = sorted(problems_of(sources(ROOT)))
    for problem in problems:
        print(problem)
    return int(any(not problem.is_warning for problem in problems))


def sources(root: Path) -> tuple[Source, ...]:
    """What the rules are about: the code of both programs and of the tests, documents, and set-up that starts modules."""
    paths = {path for folder in (*PROGRAMS, "tests") for path in (root / folder).rglob("*.py")}
    paths |= {path for path in root.rglob("*.md") if not set(path.parts) & {".venv", ".tools", ".sentinel"}}
    paths.add(root / "Makefile")
    return tuple(Source(file=path.relative_to(root).as_posix(), text=path.read_text()) for path in sorted(paths))


def problems_of(files: Sequence[Source]) -> Iterator[Problem]:
    """What is wrong with a tree of sources."""
    code = [source for source in files if source.file.endswith(".py")]
    programs = [source for source in code if source.file.startswith(PROGRAMS)]
    tests = [source for source in code if source.file.startswith("tests") and not source.file.startswith(MEASURING)]
    classes = {node.name for source in programs for node in source.nodes if isinstance(node, ast.ClassDef)}
    for source in programs:
        yield from undocumented(source)
        yield from long_functions(source)
        yield from classes_in_texts(source, classes)
    for source in tests:
        yield from measured_times(source)
        yield from changed_clocks(source)
    for source in (*programs, *tests):
        yield from left_out(source)
        yield from long_files(source)
    for source in (*programs, *(source for source in files if source.file.endswith(".md"))):
        yield from stumbling_phrases(source)
    yield from names_with_two_meanings(programs)
    yield from folders_without_a_word(files)
    yield from crowded_programs(programs, MOST_FILES_OF_A_PROGRAM)
    yield from circular_imports(programs, CIRCLES_LEFT)
    yield from unused_modules(programs, [source.text for source in files if source.file == "Makefile"])


def undocumented(source: Source) -> Iterator[Problem]:
    """A module, a public class, or a public function or method without a docstring."""
    if not ast.get_docstring(source.tree):
        yield source.problem(1, "The module has no docstring.")
    for node in _public(source.tree):
        if not ast.get_docstring(node):
            yield source.problem(node.lineno, f"`{node.name}` is public and has no docstring.")


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _public(scope: ast.Module | ast.ClassDef) -> Iterator[_Definition]:
    """Public definitions of a module, and those of its public classes; what is nested deeper is not public."""
    for node in scope.body:
        if isinstance(node, _Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node)


def long_functions(source: Source) -> Iterator[Problem]:
    """A function that is too long to be read at once."""
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MOST_LINES_OF_A_FUNCTION:
                yield source.problem(node.lineno, f"`{node.name}` has {length} of {MOST_LINES_OF_A_FUNCTION} lines.")


def long_files(source: Source) -> Iterator[Problem]:
    """A warning about a file that may be more than one idea. A file that is one idea stays as long as it is."""
    if (length := source.text.count("\n")) > MANY_LINES:
        sentence = f"The file has {length} lines: is it one idea?"
        yield Problem(file=source.file, line=1, sentence=sentence, is_warning=True)


def stumbling_phrases(source: Source) -> Iterator[Problem]:
    """A phrase that has a plain form."""
    for pattern, plain in PLAIN_FORMS.items():
        for match in re.finditer(pattern, source.text, re.IGNORECASE):
            line = source.text.count("\n", 0, match.start()) + 1
            yield source.problem(line, f"{match[0]!r} is not plain: {plain}.")


def classes_in_texts(source: Source, classes: Iterable[str]) -> Iterator[Problem]:
    """The name of a class in a text that people or models read, which a rename left there.

    Documentation and types in quotes may name classes, and so may backticks. Only names of two words can mean nothing else.
    """
    names = {name for name in classes if re.match(r"[A-Z][a-z]+[A-Z]", name)} - NOT_A_CLASS
    for node in _texts(source):
        words = re.findall(r"\b[A-Z]\w+\b", re.sub(r"`[^`]*`", "", node.value))
        if " " in node.value and not names.isdisjoint(words) and not _is_code(node.value):
            for name in sorted(names & set(words)):
                yield source.problem(node.lineno, f"A text names the class {name}: say it in English.")


class _Text(Protocol):
    lineno: int
    value: str


def _texts(source: Source) -> Iterator[_Text]:
    """The texts that the program uses, without its documentation."""
    documentation = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node  # type: ignore[misc]  # its value is a text


def _is_code(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def left_out(source: Source) -> Iterator[Problem]:
    """A test that is skipped, or code that is not there yet.

    What a test needs is in the repository or installed by `make`; a double does what its port says.
    """
    may_skip = source.file in MAY_SKIP
    found = [(node.lineno, name) for node in source.nodes if isinstance(node, ast.expr) and (name := _left_out(node))]
    yield from (
        source.problem(line, f"`{name}` leaves something out.")
        for line, name in found
        if not (may_skip and name == "skip")
    )
    if may_skip and not found:
        yield source.problem(1, "Nothing is skipped here any more: take the file off the list of those that may.")


def _left_out(node: ast.expr) -> str:
    if isinstance(node, ast.Name) and node.id == "NotImplementedError":  # the name that is looked for
        return node.id
    if isinstance(node, ast.Attribute) and node.attr in LEFT_OUT and "pytest" in ast.unparse(node.value):
        return node.attr
    return ""


def measured_times(source: Source) -> Iterator[Problem]:
    """A test that measures time, which says how busy the machine was, or that waits too short a time for a busy one.

    What a call costs is held by counted work (tests/kit/growth.py) and by the bench.
    """
    for node in source.nodes:
        name = node.attr if isinstance(node, ast.Attribute) else node.name if isinstance(node, ast.alias) else ""
        if isinstance(node, ast.Attribute | ast.alias) and name in STOPWATCHES:
            yield source.problem(node.lineno, f"`{name}` measures time.")
        elif isinstance(node, ast.BinOp) and _last_name(node.left) in {"monotonic()", "time()"}:
            wait = node.right.value if isinstance(node.right, ast.Constant) else LEAST_WAIT
            if isinstance(node.op, ast.Sub):
                yield source.problem(node.lineno, "The test measures how long something took.")
            elif isinstance(wait, int | float) and wait < LEAST_WAIT:
                yield source.problem(node.lineno, f"The test waits for less than {LEAST_WAIT} s.")


def changed_clocks(source: Source) -> Iterator[Problem]:
    """A clock that is changed for the whole process, not only in the module under test.

    Event loops in other threads read the clock too: one that computed its sleep by a changed clock may sleep for hours.
    """
    for node in source.nodes:
        if isinstance(node, ast.Call) and _last_name(node) == "setattr()" and node.args:
            target = node.args[0]
            text = target.value if isinstance(target, ast.Constant) else ast.unparse(target)
            if text == "time" or re.fullmatch(r"(?:.*\.)?time\.\w+", str(text)):
                yield source.problem(node.lineno, "The clock of the whole process is changed: change the module's own.")


def _last_name(node: ast.AST) -> str:
    """`monotonic()` for a call of `time.monotonic`; empty for anything but a call."""
    function = node.func if isinstance(node, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return f"{name}()" if name else ""


def names_with_two_meanings(programs: Iterable[Source]) -> Iterator[Problem]:
    """A public class whose name another module gives to a class of its own."""
    defined: dict[str, list[tuple[Source, int]]] = defaultdict(list)
    for source in programs:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                defined[node.name].append((source, node.lineno))
    for name, places in defined.items():
        for source, line in places[1:]:
            yield source.problem(line, f"`{name}` is a class in {places[0][0].file} too.")


def folders_without_a_word(files: Iterable[Source]) -> Iterator[Problem]:
    """A folder of code that does not say, in a few lines, what it owns: in the docstring of its `__init__.py` or in its README."""
    by_file = {source.file: source for source in files}
    folders = {PurePosixPath(file).parent for file in by_file if file.endswith(".py") and file.startswith(PROGRAMS)}
    for folder in sorted(folders):
        package, readme = by_file.get(f"{folder}/__init__.py"), by_file.get(f"{folder}/README.md")
        words = [ast.get_docstring(package.tree) or "" if package else "", readme.text if readme else ""]
        if not any(0 < len(text.splitlines()) <= MOST_LINES_ABOUT_A_FOLDER for text in words):
            sentence = (
                f"Neither `__init__.py` nor a README says in {MOST_LINES_ABOUT_A_FOLDER} lines what the folder owns."
            )
            yield Problem(file=str(folder), line=1, sentence=sentence)


def crowded_programs(programs: Iterable[Source], most: int | None) -> Iterator[Problem]:
    """A program with more modules beside its entry than a newcomer keeps in mind; `most` None does not count."""
    beside: Mapping[str, list[str]] = defaultdict(list)
    for source in programs:
        if source.file.count("/") == 1:
            beside[source.file.partition("/")[0]].append(source.file)
    for program, found in beside.items():
        if most is not None and len(found) > most:
            yield Problem(file=program, line=1, sentence=f"{len(found)} modules stand here; at most {most} may.")


def circular_imports(programs: Iterable[Source], left: Sequence[frozenset[str]] = ()) -> Iterator[Problem]:
    """A circle of imports that is not `left`, and an entry of these without a circle."""
    by_module, imports = _imports(programs)
    found = list(circles(imports))
    for circle in found:
        if not any(known.issuperset(circle) for known in left):
            line = imports[circle[0]][circle[1]]
            yield by_module[circle[0]].problem(line, f"The imports go in a circle: {' → '.join(circle)}.")
    for known in left:
        if not any(known.issuperset(circle) for circle in found):
            sentence = (
                f"{', '.join(sorted(known))} import each other in no circle any more: take the entry off the list."
            )
            yield Problem(file="tests/tools/shape.py", line=1, sentence=sentence)


def unused_modules(programs: Iterable[Source], setup: Iterable[str]) -> Iterator[Problem]:
    """A module that nothing but tests uses; `setup` is the text of files that start modules."""
    by_module, imports = _imports(programs)
    named = [node.value for source in programs for node in _texts(source)]
    started = [module for module, source in by_module.items() if _STARTS in source.text]
    for module in unused(imports, [*named, *started, *setup]):
        yield by_module[module].problem(1, "Only tests use this module.")


def _imports(programs: Iterable[Source]) -> tuple[Mapping[str, Source], Imports]:
    by_module = {module_of(source.file): source for source in programs}
    return by_module, imports_of({module: source.nodes for module, source in by_module.items()})


if __name__ == "__main__":
    sys.exit(main())
