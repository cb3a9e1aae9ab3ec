"""Nothing that proves who somebody is is compared with `==`, whose time tells how many characters of a guess are right."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3] / "gateway"
DOORS = (ROOT / "doors/api/run_task.py", ROOT / "doors/chat/slack_request.py")
PLACES = [*sorted((ROOT / "identity").glob("*.py")), *DOORS]
CALLS = frozenset({"signature_for", "signature", "hexdigest", "digest", "new", "hmac_sha256"})
"""Functions whose result is such a proof."""
NAMES = frozenset({"secret", "payload_hash", "signature_value", "expected_signature"})


def _is_proof(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        return name in CALLS
    if isinstance(node, ast.Attribute):
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        return node.attr in NAMES or (owner, node.attr) == ("signature", "value")
    return isinstance(node, ast.Name) and node.id in NAMES


def compared_in_steps(source: str) -> Iterator[int]:
    """The lines on which a proof is compared with `==` or `!=`."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Compare) or not any(isinstance(each, ast.Eq | ast.NotEq) for each in node.ops):
            continue
        if any(_is_proof(each) for each in (node.left, *node.comparators)):
            yield node.lineno


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path.stem)
def test_no_proof_is_compared_in_steps(path: Path) -> None:
    assert list(compared_in_steps(path.read_text())) == []


@pytest.mark.parametrize(
    "planted",
    [
        "if key.secret == given: pass",
        "ok = signature_for(a) != b",
        "x = signature.value == y",
        "z = h.hexdigest() == w",
    ],
)
def test_a_planted_comparison_is_seen(planted: str) -> None:
    assert list(compared_in_steps(planted)) == [1]
