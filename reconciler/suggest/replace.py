"""Makes a suggestion's replacements in the code, if they change the wanted value and nothing else that can be evaluated."""

from collections.abc import Mapping
from pathlib import Path

from gateway.errors import CodeInvalid
from gateway.model.path import AttributePath
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.hcl import parse
from reconciler.model import Edit, Edited, Wanted
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.footprint import differences
from reconciler.rewrite.footprint_changes import FootprintChange, footprint_changes
from reconciler.suggest.frozen_parts import check_frozen_parts
from reconciler.suggest.needed import check_needed
from reconciler.suggest.question import LONGEST_REPLACEMENT, MOST_REPLACEMENTS, Question, Replacement, Suggestion

SUGGESTED = "suggested: no editor could write it; held to the same proofs"
"""The step of the chain that says where the edit comes from."""


def edited_as_suggested(root: Path, question: Question, suggestion: Suggestion) -> Edited:
    """The edits of a suggestion. `root` holds the code; nothing is written.

    Raises `CannotEdit` if a text does not occur exactly once, the result does not parse, or it changes anything else than wanted.
    """
    if not 0 < len(suggestion.replacements) <= MOST_REPLACEMENTS:
        raise CannotEdit(f"A suggestion has 1 to {MOST_REPLACEMENTS} replacements, not {len(suggestion.replacements)}.")
    files = dict(question.files)
    edits = [_replaced(files, each, question.wanted) for each in suggestion.replacements]
    changed = {path: content for path, content in files.items() if content != question.files[path]}
    _check(root, question, changed)
    return Edited(files=changed, edits=tuple(edits))


def _replaced(files: dict[Path, bytes], replacement: Replacement, wanted: Wanted) -> Edit:
    path = Path(replacement.path)
    source = files.get(path)
    if source is None:
        raise CannotEdit(f"{replacement.path} is not one of the files that may change.")
    if max(len(replacement.find), len(replacement.replace)) > LONGEST_REPLACEMENT:
        raise CannotEdit(f"A replacement has at most {LONGEST_REPLACEMENT} characters.")
    old, new = replacement.find.encode(), replacement.replace.encode()
    if not old or source.count(old) != 1:
        raise CannotEdit(
            f"The text to replace occurs {source.count(old) if old else 0} times in {replacement.path}, not once."
        )
    start = source.index(old)
    files[path] = source[:start] + new + source[start + len(old) :]
    return Edit(path=path, start=start, end=start + len(old), old=old, new=new, wanted=wanted, chain=(SUGGESTED,))


def _check(root: Path, question: Question, changed: Mapping[Path, bytes]) -> None:
    """Raise `CannotEdit` unless everything that changes is the wanted value or a part of it, and needed for it."""
    files = {**question.files, **changed}
    try:
        for path, content in changed.items():
            check_frozen_parts(parse(path, question.files[path]), parse(path, content))
        for change in footprint_changes(load_module(root, dict(question.files)), load_module(root, files)):
            _check_change(change, question.wanted)
        check_needed(root, question.files, files)
    except CodeInvalid as error:
        raise CannotEdit(f"The suggestion does not parse: {error}") from error


def _check_change(change: FootprintChange, wanted: Wanted) -> None:
    shown = change.address.removeprefix("?")
    if change.before is None or change.after is None:
        raise CannotEdit(f"The suggestion would also add or remove {shown}.")
    for path in differences(dict(change.before), dict(change.after)):
        name = ".".join(path)
        here = change.address == wanted.address and (
            AttributePath(wanted.attribute).covers(name) or AttributePath(name).covers(wanted.attribute)
        )
        if not here:
            raise CannotEdit(f"The suggestion would also change {shown}.{name}, which is not wanted.")
