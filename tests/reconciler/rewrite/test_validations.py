"""A value that a `validation` of the code refuses is left, with the rule and the nearest value that passes; no edit goes round the rule."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values

CODE = """variable "days" {
  default = 7

  validation {
    condition     = var.days <= 10 && var.days > 0
    error_message = "At most 10 days."
  }
}

variable "kind" {
  default = "small"

  validation {
    condition     = contains(["small", "large"], var.kind)
    error_message = "Kind ${var.kind} is unknown."
  }
}

variable "sizes" {
  default = {
    a = 3
    b = 5
  }

  validation {
    condition     = alltrue([for size in values(var.sizes) : size < 10])
    error_message = "Too large."
  }
}

variable "exact" {
  default = true

  validation {
    condition     = var.exact
    error_message = "Always exact."
  }
}

resource "r" "a" {
  days  = var.days
  kind  = var.kind
  exact = var.exact
}

resource "r" "b" {
  for_each = var.sizes
  size     = each.value
}

resource "r" "c" {
  kind = var.kind
}
"""


def _edited(root: Path, address: str, attribute: str, value: Json, code: str = CODE) -> str:
    """The code after the edit, or why it was left."""
    wanted = Wanted(address=address, attribute=attribute, value=value)
    result = edit_values(root, [wanted], {Path("main.tf"): code.encode()})
    return result.left[0].reason if result.left else result.files[Path("main.tf")].decode()


@pytest.mark.parametrize(
    ("address", "attribute", "value", "parts"),
    [
        ("r.a", "days", 15, ("main.tf:5:", "var.days <= 10", "refuses 15 (At most 10 days.)", "passes is 10.")),
        ("r.a", "days", -3, ("refuses -3", "passes is 1.")),
        ("r.a", "exact", False, ("refuses false (Always exact.)", "passes is true.")),
        ('r.b["a"]', "size", 12, ("refuses { a = 12, b = 5 } (Too large.)", "passes is { a = 9, b = 5 }.")),
    ],
)
def test_the_refusal_names_the_rule_and_the_nearest_value(
    address: str, attribute: str, value: Json, parts: tuple[str, ...], tmp_path: Path
) -> None:
    reason = _edited(tmp_path, address, attribute, value)
    assert [part for part in parts if part not in reason] == [], reason
    assert reason.endswith("The rule of the code is not edited.")


def test_of_texts_those_that_pass_are_named(tmp_path: Path) -> None:
    wanted = [Wanted(address=address, attribute="kind", value="huge") for address in ("r.a", "r.c")]
    result = edit_values(tmp_path, wanted, {Path("main.tf"): CODE.encode()})
    assert not result.files
    assert {left.reason for left in result.left} == {
        (
            'main.tf:14: the validation contains(["small", "large"], var.kind) of var.kind refuses "huge" (Kind huge is unknown.). '
            'Values that pass: "small", "large". The rule of the code is not edited.'
        )
    }


def test_no_value_goes_round_the_rule_apart_from_the_others(tmp_path: Path) -> None:
    code = CODE.replace("  days  = var.days\n", "  count = 2\n  days  = var.days\n")
    reason = _edited(tmp_path, "r.a[1]", "days", 15, code)
    assert "main.tf:5: the validation" in reason


def test_a_value_that_passes_is_written(tmp_path: Path) -> None:
    assert _edited(tmp_path, "r.a", "days", 9) == CODE.replace("7", "9")
    assert _edited(tmp_path, 'r.b["a"]', "size", 9) == CODE.replace("a = 3", "a = 9")


def test_a_rule_that_is_not_certain_refuses_nothing(tmp_path: Path) -> None:
    code = CODE.replace("var.days <= 10 && var.days > 0", "var.days < aws_x.y.most")
    assert _edited(tmp_path, "r.a", "days", 15, code) == code.replace("7", "15")


@pytest.mark.parametrize(("wanted", "nearest"), [(170, 180), (70, 60), (1000, 960), (5, 60)])
def test_between_two_steps_the_nearer_one_passes(tmp_path: Path, wanted: int, nearest: int) -> None:
    rule = "var.seconds % 60 == 0 && var.seconds > 0 && var.seconds < 1000"
    validation = f'  validation {{\n    condition = {rule}\n    error_message = "Whole minutes."\n  }}\n'
    code = (
        f'variable "seconds" {{\n  default = 120\n\n{validation}}}\n\nresource "r" "a" {{\n  wait = var.seconds\n}}\n'
    )
    (tmp_path / "main.tf").write_text(code)
    (left,) = edit_values(tmp_path, [Wanted(address="r.a", attribute="wait", value=wanted)]).left
    assert f"The nearest value that passes is {nearest}." in left.reason


_OVERRIDDEN = """variable "retention" {
  default = 30

  validation {
    condition     = var.retention <= 365
    error_message = "A year at most."
  }
}
locals {
  groups = { a = {}, b = {} }
}
resource "aws_log" "g" {
  for_each = local.groups

  retention = lookup(each.value, "retention", var.retention)
}
"""


@pytest.mark.parametrize("keys", [("a",), ("a", "b")])
def test_a_value_that_a_rule_refuses_is_not_written_beside_the_rule(tmp_path: Path, keys: tuple[str, ...]) -> None:
    (tmp_path / "main.tf").write_text(_OVERRIDDEN)
    wanted = [Wanted(address=f'aws_log.g["{key}"]', attribute="retention", value=400) for key in keys]
    edited = edit_values(tmp_path, wanted)
    assert edited.files == {}
    assert all("A year at most." in each.reason and "365" in each.reason for each in edited.left)


def test_a_value_that_the_rule_allows_is_an_entry_of_one_instance(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_OVERRIDDEN)
    edited = edit_values(tmp_path, [Wanted(address='aws_log.g["a"]', attribute="retention", value=90)])
    assert "a = { retention = 90 }" in edited.files[Path("main.tf")].decode()
