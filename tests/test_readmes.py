"""The documents say what is there: links, paths, commands, options and settings exist, and lines and sentences are short enough to read."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from typer.main import get_command

from gateway.__main__ import app
from gateway.core.records.notice import NoticeType
from gateway.core.records.record import Stage
from gateway.core.settings import Settings
from gateway.core.settings.signals import SignalForm
from gateway.ledger.ask.views import VIEWS
from gateway.terraform.contracts import bounds

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = tuple(sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")))
FIRST = ("README.md", "SECURITY.md", "CHANGELOG.md", *DOCUMENTS)
EVERY = tuple(
    sorted(
        found.as_posix()
        for found in (path.relative_to(ROOT) for path in ROOT.rglob("*.md"))
        if not any(part.startswith(".") or part == "node_modules" for part in found.parts)
    )
)
READERS = (
    "agents",
    "contracts",
    "policies",
    "terraform",
    "operators",
    "deployment",
    "investigators",
    "architecture",
    "limits",
)
GENERATED = ("settings",)
"""Documents that a command prints."""
LONGEST = {"README.md": 130, "CHANGELOG.md": 140}
"""Lines of a document, for those that everybody reads."""
WIDEST = 160
WORDS = 25
"""The average length of a document's sentences, outside code and tables."""
FIGURES = "tests/"
"""Documents whose tables of figures, cases and attacks may be wider."""
CHANGES_OF_A_PROGRAM = 30

_PATH = re.compile(r"`((?:gateway|reconciler|policies|tests|deploy|docs)/[\w./-]*)`")
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)")
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_INLINE = re.compile(r"`(sentinel [a-z][^`]*)`")
_END = re.compile(r"(?<=[.!?])[*)\"]*\s+")


def _text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def _anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    plain = (re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading) for heading in _HEADING.findall(_FENCE.sub("", text)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain}


def _sentences(text: str) -> list[str]:
    """The sentences outside code, tables, headings and pictures. An item of a list is one or more of its own."""
    prose = _FENCE.sub("\n", text)
    lines = [
        "" if re.match(r"\||#|<|!\[|    \S", line) else re.sub(r"^\s*([-*]|\d+\.) ", "\n\n", line)
        for line in prose.splitlines()
    ]
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines))
    return [sentence for each in paragraphs for sentence in _END.split(each.strip()) if re.search(r"\w", sentence)]


def _commands(text: str) -> Iterator[str]:
    """Every call of `sentinel` that a document shows, one a line, without what the shell does around it."""
    for _, block in _FENCE.findall(text):
        for line in re.sub(r"\\\n", " ", block).splitlines():
            yield from re.findall(r"(?:^ *\$? ?|[;(] ?|&& )(sentinel [a-z][^#;|>)]*)", line)
    yield from _INLINE.findall(_FENCE.sub("", text))


def _problem(command: str) -> str:
    """What does not exist of a command; empty if all does."""
    group: Any = get_command(app)
    words = re.sub(r"'[^']*'|\"[^\"]*\"|\{[^}]*\}", "TEXT", command).partition(" -- ")[0].split()[1:]
    while hasattr(group, "commands") and words and not words[0].startswith("-"):
        found = group.commands.get(words[0])
        if found is None:
            return f"{command}: there is no command {words[0]}"
        group, words = found, words[1:]
    known = {option for parameter in group.params for option in (*parameter.opts, *parameter.secondary_opts)}
    options = {word.partition("=")[0] for word in words if re.match(r"--\w", word)}
    return f"{command}: there is no {options - known - {'--help'}}" if options - known - {"--help"} else ""


def _fields(model: type[BaseModel], given: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """The settings of `given` that do not exist."""
    for name, value in given.items():
        if name not in model.model_fields:
            yield f"{place}{name}"
            continue
        inner = _model(model.model_fields[name].annotation)
        for each in value if isinstance(value, list) else [value]:
            if inner is not None and isinstance(each, dict):
                yield from _fields(inner, each, f"{place}{name}.")


def _model(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation such as `tuple[Model, ...]`; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if (found := _model(each)) is not None), None)


def _rows(document: str, heading: str) -> Sequence[str]:
    section = _text(document).partition(f"\n{heading}\n")[2].partition("\n## ")[0].partition("\n### ")[0]
    return [line for line in section.splitlines() if line.startswith("| ") and _PATH.search(line)]


def test_there_is_a_document_for_each_reader() -> None:
    assert {Path(document).stem for document in DOCUMENTS} == {*READERS, *GENERATED}
    assert [reader for reader in (*READERS, *GENERATED) if f"(docs/{reader}.md)" not in _text("README.md")] == []


@pytest.mark.parametrize("document", EVERY)
def test_every_path_link_and_anchor_exists(document: str) -> None:
    text = _text(document)
    missing = [path for path in _PATH.findall(text) if not (ROOT / path).exists()]
    for link, anchor in _LINK.findall(_FENCE.sub("", text)):
        target = (ROOT / document).parent / link if link else ROOT / document
        if not target.exists():
            missing.append(link)
        elif anchor and anchor not in _anchors(target.read_text(encoding="utf-8")):
            missing.append(f"{link}#{anchor}")
    assert not missing


@pytest.mark.parametrize("document", EVERY)
def test_every_command_and_option_exists(document: str) -> None:
    assert [problem for command in _commands(_text(document)) if (problem := _problem(command))] == []


def test_a_command_that_does_not_exist_would_be_noticed() -> None:
    text = '```console\n$ eval "$(sentinel sesion --intent cost)"\n$ sentinel key create x --knd agent\n```\n`sentinel drift lst`'
    assert len([command for command in _commands(text) if _problem(command)]) == 3


@pytest.mark.parametrize("document", FIRST)
def test_every_make_target_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", _text("Makefile"), re.MULTILINE))
    named = re.findall(r"(?:`|\$ )make ([a-z-]+)", _text(document))
    assert [target for target in named if target not in targets] == []


@pytest.mark.parametrize("document", FIRST)
def test_every_setting_exists(document: str) -> None:
    blocks = [block for language, block in _FENCE.findall(_text(document)) if language == "toml"]
    assert [name for block in blocks for name in _fields(Settings, tomllib.loads(block))] == []


def _settings(model: type[BaseModel], place: str = "") -> Iterator[str]:
    """Every setting by its whole name."""
    for name, field in model.model_fields.items():
        inner = _model(field.annotation)
        yield from [f"{place}{name}"] if inner is None else _settings(inner, f"{place}{name}.")


def test_every_setting_is_documented() -> None:
    told = "\n".join(_text(f"docs/{reader}.md") for reader in READERS)
    assert [name for name in _settings(Settings) if not re.search(rf"\b{name.rpartition('.')[2]}\b", told)] == []


def test_every_command_and_option_is_documented() -> None:
    told = "\n".join(map(_text, (*DOCUMENTS, "README.md")))
    missing, root = [], get_command(app)
    for name, command in getattr(root, "commands", {}).items():
        for inner, each in getattr(command, "commands", {"": command}).items():
            shown = [parameter for parameter in each.params if not getattr(parameter, "hidden", False)]
            options = [option for parameter in shown for option in parameter.opts if option.startswith("--")]
            missing += [word for word in (f"sentinel {name} {inner}".strip(), *options) if word not in told]
    assert missing == []


@pytest.mark.parametrize(
    ("reader", "names"),
    [
        ("investigators", tuple(Stage)),
        ("investigators", tuple(VIEWS)),
        ("operators", tuple(NoticeType)),
        ("operators", tuple(SignalForm)),
        ("contracts", bounds.NAMES),
    ],
)
def test_a_table_of_the_document_has_each_name(reader: str, names: Sequence[str]) -> None:
    first_cells = {line.split("|")[1] for line in _text(f"docs/{reader}.md").splitlines() if line.startswith("|")}
    assert [name for name in names if not any(f"`{name}`" in cell for cell in first_cells)] == []


@pytest.mark.parametrize("document", EVERY)
def test_no_line_is_wider_than_a_screen(document: str) -> None:
    lines = enumerate(_text(document).splitlines(), 1)
    wide = [number for number, line in lines if len(line) > WIDEST]
    if document.startswith(FIGURES):
        wide = [number for number in wide if not _text(document).splitlines()[number - 1].startswith("|")]
    assert not wide


@pytest.mark.parametrize("document", EVERY)
def test_sentences_are_short(document: str) -> None:
    sentences = _sentences(_text(document))
    assert sum(len(sentence.split()) for sentence in sentences) <= WORDS * len(sentences)


@pytest.mark.parametrize("document", LONGEST)
def test_what_everybody_reads_is_short(document: str) -> None:
    assert len(_text(document).splitlines()) <= LONGEST[document]


@pytest.mark.parametrize("reader", READERS)
def test_each_reader_begins_with_a_task_and_ends_with_what_can_go_wrong(reader: str) -> None:
    text = _text(f"docs/{reader}.md")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert "```" in sections[0], "the first section shows commands"
    assert sections[-1].startswith("What can go wrong\n\n| Symptom | Cause | Cure |")


@pytest.mark.parametrize("heading", ["### In the gateway", "### In the reconciler"])
def test_the_place_of_thirty_ordinary_changes_is_listed(heading: str) -> None:
    assert len(_rows("docs/architecture.md", heading)) >= CHANGES_OF_A_PROGRAM
