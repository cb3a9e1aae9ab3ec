"""The built-ins of strings that OPA's Wasm lacks: searching, splitting, and regular expressions of RE2."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gateway.core import go_regexp
from gateway.policy.builtins.evaluation import LARGEST_VALUE, BuiltinError, Evaluation, TooMuch, limited
from gateway.policy.builtins.operands import text, texts, whole
from gateway.policy.rego_values import Term

_GLOB_SPECIAL: Final = re.compile(r"([*?\\\[\]{}])")
_REGEX_SPECIAL: Final = re.compile(r"([\\.+*?()|\[\]{}^$])")


def _indexof_n(base: Term, search: Term) -> Term:
    string, wanted = text(base), text(search)
    if not wanted:
        raise BuiltinError("there is nothing to search for")
    found: list[Term] = []
    at = string.find(wanted)
    while at >= 0:
        found.append(at)
        at = string.find(wanted, at + 1)
    return found


def _count(string: Term, part: Term) -> Term:
    whole_text, wanted = text(string), text(part)
    return whole_text.count(wanted)


def _split_n(string: Term, separator: Term, count: Term) -> Term:
    written, between, number = text(string), text(separator), whole(count)
    parts = written.split(between) if between else list(written)
    if number < 0:
        return list(parts[max(len(parts) + number, 0) :])
    return list(parts[:number])


def _any_affix(has: Callable[[str, str], bool]) -> Callable[..., Term]:
    def match(evaluation: Evaluation, strings: Term, affixes: Term) -> Term:
        ends = [affixes] if isinstance(affixes, str) else texts(affixes)
        for string in [strings] if isinstance(strings, str) else texts(strings):
            for end in ends:
                evaluation.step()
                if has(string, end):
                    return True
        return False

    return match


def _compiled(pattern: Term) -> go_regexp.Compiled:
    try:
        return go_regexp.compiled(text(pattern))
    except go_regexp.NotARegexp as error:
        raise BuiltinError(str(error)) from None


def _find_n(evaluation: Evaluation, pattern: Term, string: Term, count: Term) -> Term:
    number, found = whole(count), list[Term]()
    if number:
        for match in go_regexp.matches(_compiled(pattern), text(string)):
            evaluation.step()
            found.append(match.group(0))
            if len(found) == number:
                break
    return found


def _replace(evaluation: Evaluation, base: Term, pattern: Term, value: Term) -> Term:
    parts: list[str] = []
    size = 0
    for part in go_regexp.substituted(_compiled(pattern), text(value), text(base)):
        evaluation.step()
        size += len(part)
        if size > LARGEST_VALUE:
            raise TooMuch(f"regex.replace would return more than {LARGEST_VALUE} characters")
        parts.append(part)
    return "".join(parts)


def _regex_split(evaluation: Evaluation, pattern: Term, string: Term) -> Term:
    compiled, written = _compiled(pattern), text(string)
    if text(pattern) and not written:
        return [""]
    parts: list[Term] = []
    begin = end = 0
    for match in go_regexp.matches(compiled, written):
        evaluation.step()
        if match.end() == 0:
            continue
        end = match.start()
        parts.append(written[begin:end])
        begin = match.end()
    if end != len(written):
        parts.append(written[begin:])
    return parts


def _template_match(template: Term, string: Term, start: Term, end: Term) -> Term:
    written, first, last = text(template), text(start), text(end)
    if len(first.encode()) != 1 or len(last.encode()) != 1:
        raise BuiltinError("a delimiter is one character")
    pattern, done = ["^"], 0
    for begin, stop in _delimited(written, first, last):
        inner = written[begin + 1 : stop - 1]
        _compiled(f"^{inner}$")
        pattern.append(f"{_quoted(written[done:begin])}({inner})")
        done = stop
    pattern.append(_quoted(written[done:]) + "$")
    return _compiled("".join(pattern)).search(text(string)) is not None


def _quoted(written: str) -> str:
    return _REGEX_SPECIAL.sub(r"\\\1", written)


def _delimited(template: str, start: str, end: str) -> Sequence[tuple[int, int]]:
    """Begin and end of each part between delimiters, outermost ones only."""
    found: list[tuple[int, int]] = []
    level = begin = 0
    for at, character in enumerate(template):
        if character == start:
            level += 1
            begin = at if level == 1 else begin
        elif character == end:
            level -= 1
            if level == 0:
                found.append((begin, at + 1))
        if level < 0:
            break
    if level:
        raise BuiltinError("the delimiters are not balanced")
    return found


def _quote_meta(pattern: Term) -> Term:
    return limited(_GLOB_SPECIAL.sub(r"\\\1", text(pattern)))


PLAIN: Final[Mapping[str, Callable[..., Term]]] = {
    "indexof_n": _indexof_n,
    "strings.count": _count,
    "strings.split_n": _split_n,
    "regex.template_match": _template_match,
    "glob.quote_meta": _quote_meta,
}
MEASURED: Final[Mapping[str, Callable[..., Term]]] = {
    "strings.any_prefix_match": _any_affix(str.startswith),
    "strings.any_suffix_match": _any_affix(str.endswith),
    "regex.find_n": _find_n,
    "regex.replace": _replace,
    "regex.split": _regex_split,
}
