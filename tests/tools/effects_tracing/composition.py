"""Finds out how the provider makes the id of a resource of several parameters: the id `a1b2:prod` is `{ApiId}:{StageName}`.

A word of the provider's own may stand in it, as in `ags-{restApiId}-{stageName}`: where it belongs to another value, the id is that of no resource.
"""

import re
from collections.abc import Iterable

from tests.tools.effects_tracing.evidence import Observation
from tests.tools.effects_tracing.forms import is_own

_WORD = re.compile(r"[A-Za-z0-9]+")
_MADE = re.compile(r"[0-9a-f]{6}|\d{4}")
"""What AWS makes, or the tracer: no word of the provider."""
_PLACE = re.compile(r"\0(\d+)\0")
_LEAST = 2
"""Parameters that an id is made of; with one, and nothing beside it, it is that parameter."""


def composed_id(observations: Iterable[Observation]) -> str:
    """The id with the parameters in their places, the same in all runs whose state has an id; empty if it is made of anything else."""
    known = [each for each in observations if each.state.get("id")]
    forms = {_form(str(each.state["id"][0]), each) for each in known}
    return forms.pop() if len(forms) == 1 else ""


def _form(own: str, run: Observation) -> str:
    texts = {
        path: str(values[0])
        for path, values in run.parameters.items()
        if len(values) == 1 and isinstance(values[0], str | int) and not isinstance(values[0], bool) and str(values[0])
    }
    paths = sorted(texts, key=lambda path: len(texts[path]), reverse=True)
    rest = own
    used: list[str] = []
    for path in paths:
        whole = re.compile(rf"(?<![A-Za-z0-9\0]){re.escape(texts[path])}(?![A-Za-z0-9\0])")
        if len(whole.findall(rest)) == 1:
            rest = whole.sub(f"\0{len(used)}\0", rest)
            used.append(path)
    without = _PLACE.sub("\0", rest)
    words = _WORD.findall(without)
    twice = len({texts[path] for path in used}) < len(used) or any(
        texts[path] == texts[other] for path in used for other in texts if other != path
    )
    if (
        not used
        or (len(used) < _LEAST and not words)
        or twice
        or is_own(without)
        or any(map(_MADE.search, words))
        or "\0\0" in without
    ):
        return ""
    return _PLACE.sub(lambda found: f"{{{used[int(found[1])]}}}", rest)
