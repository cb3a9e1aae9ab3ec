"""`sprintf` answers as OPA's does: held against opa itself, and against a table where there is no opa."""

import json
import subprocess

import pytest

from gateway.policy.builtins.sprintf import UnsupportedFormat, sprintf
from gateway.policy.opa_command import find_opa
from gateway.policy.rego_values import Term, parse

TABLE: list[tuple[str, str, str]] = [
    ("plain %v", '["text"]', "plain text"),
    ("%v %v %v %v", '[{1, 2, "a"}, {"b": 1, "a": [1, 2.5, null, true]}, set(), null]', '{1, 2, "a"} {"a": [1, 2.5, null, true], "b": 1} set() null'),
    ("%v|%v|%v|%v", "[1, 2.5, true, 1e20]", "1|2.5|true|1e+20"),
    ("%s|%s", '["x", ["y"]]', 'x|["y"]'),
    ("%d|%d", '[7, "x"]', "7|%!d(string=x)"),
    ("%d", "[1.5]", "%!d(float64=1.5)"),
    ("%f|%.2f|%8.3f|%08.3f", "[1.5, 1.005, -3.14159, -3.14159]", "1.500000|1.00|  -3.142|-003.142"),
    ("%q", '["é\\n\\t\\"\\\\ ok"]', '"é\\n\\t\\"\\\\ ok"'),
    ("%q", '["\\u0000\\u007f\\u2028"]', '"\\x00\\x7f\\u2028"'),
    ("%t", "[true]", "%!t(string=true)"),
    ("%x|%x", '["ab", 255]', "6162|ff"),
    ("%5d|%-5d|%05d|%+d|% d", "[3, 3, -7, 5, 5]", "    3|3    |-0007|+5| 5"),
    ("%6v|%-6v|%.2s", '["ab", "ab", "abc"]', "    ab|ab    |ab"),
    ("100%%", "[]", "100%"),
    ("100%", "[]", "100%!(NOVERB)"),
    ("%d %d", "[1]", "1 %!d(MISSING)"),
    ("%d", '[1, "b", 2.5]', "1%!(EXTRA string=b, float64=2.5)"),
    ("%s", "[5]", "%!s(int64=5)"),
    ("%d", "[123456789012345678901234567890]", "123456789012345678901234567890"),
    ("no verbs", "[]", "no verbs"),
    ("%v", "[1e-7]", "1e-07"),
    ("%v %v %v %v", "[1e5, 1e6, 1234567.5, 0.0001]", "100000 1e+06 1.2345675e+06 0.0001"),
    ("%v %v", "[[1e6, 1.0], {0.00001, 2}]", "[1e6, 1.0] {0.00001, 2}"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "values", "expected"), TABLE)
def test_sprintf(template: str, values: str, expected: str) -> None:
    assert sprintf(template, parse(values)) == expected


@pytest.mark.opa
def test_sprintf_is_opas() -> None:
    tool = find_opa()
    assert tool is not None, "there is no opa on PATH or in .tools/bin"
    calls = ", ".join(f"sprintf({json.dumps(template, ensure_ascii=False)}, {values})" for template, values, _ in TABLE)
    done = subprocess.run(
        [str(tool), "eval", "--format", "raw", f"[{calls}]"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [sprintf(template, parse(values)) for template, values, _ in TABLE]


@pytest.mark.parametrize(
    ("template", "values"),
    [("%*d", [1, 2]), ("%[1]d", [1]), ("%#v", ["a"]), ("%x", [1.5]), ("%#e", [1.5]), ("%+q", [65]), ("%1000d", [1]), ("%05s", ["a"])],
)  # fmt: skip
def test_what_it_does_not_know_it_refuses(template: str, values: Term) -> None:
    with pytest.raises(UnsupportedFormat):
        sprintf(template, values)
