"""An agent sets an attribute that the code makes of a `sensitive` variable, and reads in the report of the write-back what the variable was.

The edit replaced the variable's value: the commit message, the diff in the record and the steps to the place, which every reader of the ledger
sees, told the old one; so did the lines around another edit. What must hold: what the code marks is neither edited nor told by a write-back.
"""

from pathlib import Path

import pytest

from gateway.terraform.config import sensitive
from gateway.terraform.config.module import load_module
from gateway.terraform.config.sensitive import secret_texts, without_texts
from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values

SECRET = "hunter22-of-the-variable"
VARIABLE = 'variable "secret" {\n  sensitive = true\n}\n\nlocals {\n  made = "x-${var.secret}"\n}\n\n'
ADDRESS = "aws_instance.it"
DYNAMIC = """
  dynamic "ebs_block_device" {
    for_each = [local.made]
    content {
      device_name = ebs_block_device.value
    }
  }
"""


def _stack(root: Path, body: str) -> Path:
    (root / "main.tf").write_text(f'{VARIABLE}variable "size" {{}}\n\nresource "aws_instance" "it" {{\n{body}}}\n')
    (root / "terraform.tfvars").write_text(f'size   = "t3.micro"\nsecret = "{SECRET}"\n')
    return root


@pytest.mark.parametrize(
    ("body", "attribute", "value"),
    [
        ("  tags = {\n    note = var.secret\n  }\n", "tags.note", "seen"),
        ("  tags = {\n    note = var.secret\n  }\n", "tags", {"note": "seen"}),
        ('  tags = {\n    note = "${local.made}-y"\n  }\n', "tags.note", "x-seen-y"),
        ("  tags = merge({ a = 1 }, { note = upper(local.made) })\n", "tags.note", "seen"),
        (f'  key_name = var.secret == "{SECRET}" ? "a" : "b"\n', "key_name", "c"),
        ("  ebs_block_device {\n    device_name = var.secret\n  }\n", "ebs_block_device.0.device_name", "seen"),
        (
            DYNAMIC,
            "ebs_block_device.0.device_name",
            "x-seen",
        ),
    ],
)
def test_what_the_code_makes_of_a_secret_is_left_to_a_person(
    tmp_path: Path, body: str, attribute: str, value: str | dict[str, str]
) -> None:
    root = _stack(tmp_path, f"{body}  instance_type = var.size\n")
    wanted = [
        Wanted(address=ADDRESS, attribute=attribute, value=value),
        Wanted(address=ADDRESS, attribute="instance_type", value="t3.small"),
    ]
    edited = edit_values(root, wanted)
    assert SECRET not in repr((edited.left, edited.edits))
    assert [each.wanted.attribute for each in edited.left] == [attribute]
    assert "marks as sensitive" in edited.left[0].reason
    assert [each.wanted.attribute for each in edited.edits] == ["instance_type"], "what is beside it is written"


def test_what_is_declared_already_or_marked_as_no_secret_is_no_question(tmp_path: Path) -> None:
    root = _stack(tmp_path, "  key_name = nonsensitive(var.secret)\n  tags = {\n    note = var.secret\n  }\n")
    same = Wanted(address=ADDRESS, attribute="tags.note", value=SECRET)
    plain = Wanted(address=ADDRESS, attribute="key_name", value="seen")
    assert edit_values(root, [same]).left == ()
    assert edit_values(root, [plain]).edits or "sensitive" not in edit_values(root, [plain]).left[0].reason


def test_the_lines_around_an_edit_tell_no_secret_of_the_code(tmp_path: Path) -> None:
    diff = f' secret = "{SECRET}"\n-size = "t3.micro"\n+size = "t3.small"\n'
    root = _stack(tmp_path, "")
    assert without_texts(diff, secret_texts(load_module(root))) == diff.replace(SECRET, "(a secret, not shown)")
    (root / "terraform.tfvars").write_text("secret = 42\nsize = 421\n")
    shown = without_texts(" secret = 42\n size = 421\n", secret_texts(load_module(root)))
    assert shown == " secret = (a secret, not shown)\n size = 421\n"


@pytest.mark.parametrize(
    "code",
    [
        'locals {\n  made = sensitive("SECRET")\n}\n',
        'resource "aws_instance" "it" {\n  tags = { note = upper(sensitive ("SECRET")) }\n}\n',
        'locals {\n  base = "SECRET"\n  made = sensitive(local.base)\n}\n',
        'variable "base" {\n  default = "SECRET"\n}\nlocals {\n  made = sensitive(var.base)\n}\n',
        'output "made" {\n  sensitive = true\n  value     = "SECRET"\n}\n',
    ],
)
def test_a_literal_that_the_code_makes_secret_is_told_by_no_line(tmp_path: Path, code: str) -> None:
    (tmp_path / "main.tf").write_text(code.replace("SECRET", SECRET))
    assert secret_texts(load_module(tmp_path)) == {SECRET}


def test_a_variable_of_locals_tells_what_these_are_made_of(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "main.tf").write_text('variable "it" {\n  sensitive = true\n}\n')
    code = 'locals {\n  base = "SECRET"\n}\nmodule "inner" {\n  source = "./inner"\n  it = "x-${local.base}-${var.env}"\n}\n'
    (tmp_path / "main.tf").write_text(f'variable "env" {{\n  default = "prod"\n}}\n{code.replace("SECRET", SECRET)}')
    assert secret_texts(load_module(tmp_path)) == {SECRET, "x-", "-"}, "what stands beside it is no secret"


@pytest.mark.parametrize("link", ['"${local.l%d}${local.l%d}"', "[local.l%d, local.l%d]"])
def test_locals_that_double_each_other_are_looked_at_once(tmp_path: Path, link: str) -> None:
    """Followed by each way, a chain of 60 would be 2^60 ways; one of thousands would be deeper than any stack."""
    chain = "".join(f"  l{n} = {link % (n - 1, n - 1)}\n" for n in range(1, 3_000))
    (tmp_path / "main.tf").write_text(f'locals {{\n  l0 = "{SECRET}"\n{chain}  made = sensitive(local.l2999)\n}}\n')
    assert secret_texts(load_module(tmp_path)) == {SECRET}


def test_nothing_is_shown_if_looking_for_the_secrets_would_take_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = frozenset(f"secret-{number:04}" for number in range(100))
    text = 'a = "secret-0042"'
    assert without_texts(text, secrets) == 'a = "(a secret, not shown)"'
    monkeypatch.setattr(sensitive, "MOST_COMPARED", len(secrets) * len(text) - 1)
    assert without_texts(text, secrets) == ""


def test_short_secrets_are_taken_out_together() -> None:
    text = 'a = "x"\nb = y\nc = "xy"\nd = "x-y"\n'
    shown = without_texts(text, frozenset({"x", "y", "xy", ""} - {""}))
    assert shown == text.replace('"x"', '"(a secret, not shown)"').replace("= y", "= (a secret, not shown)").replace(
        '"xy"', '"(a secret, not shown)"'
    )
