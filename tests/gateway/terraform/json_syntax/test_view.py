"""JSON code is read as the HCL that says the same, and messages name the lines of the JSON."""

import json
import os
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.config.module import attributes, load_module
from gateway.terraform.json_syntax.view import parse_json
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import file_bytes
from gateway.terraform.lang.values import Unknown, to_json

FILE = Path("x.tf.json")
CODE = r"""{
  "//": "a comment",
  "variable": {"n": {"type": "list(object({a=string, b=optional(number, 1)}))", "default": [{"a": "x${y}"}]}},
  "locals": [
    {"a": "${var.n[0].a}-x"},
    {"b": [1, 2.5, -1e2, true, null, {"k": "v\n\"q\" \\ ${"in\"ner"}"}]}
  ],
  "module": {"m": {"source": "./m", "providers": {"aws": "aws.west"}}},
  "resource": {
    "aws_s3_bucket_versioning": {
      "v": {
        "versioning_configuration": {"status": "Enabled"},
        "lifecycle": {"ignore_changes": ["tags[\"x\"]", "all"]},
        "depends_on": ["aws_s3_bucket.b"]
      }
    }
  }
}
""".replace('${"in\\"ner"}', '${\\"in\\\\\\"ner\\"}')
HCL = r"""variable "n" {
  type = list(object({a=string, b=optional(number, 1)}))
  default = [
    {
      "a" = "x$${y}"
    },
  ]
}
locals {
  a = "${var.n[0].a}-x"
}
locals {
  b = [
    1,
    2.5,
    -1e2,
    true,
    null,
    {
      "k" = "v\n\"q\" \\ ${"in\"ner"}"
    },
  ]
}
module "m" {
  source = "./m"
  providers = {
    "aws" = aws.west
  }
}
resource "aws_s3_bucket_versioning" "v" {
  versioning_configuration {
    status = "Enabled"
  }
  lifecycle {
    ignore_changes = [
      tags["x"],
      all,
    ]
  }
  depends_on = [
    aws_s3_bucket.b,
  ]
}
"""


def test_the_hcl_says_the_same() -> None:
    document = parse_json(FILE, CODE.encode())
    assert document.source.decode() == HCL
    assert file_bytes(document) == CODE.encode()


def test_places_are_those_of_the_json() -> None:
    document = parse_json(FILE, CODE.encode())
    found = [document.at(block) for block in document.blocks(document.root)]
    assert found == [f"x.tf.json:{line}" for line in (3, 5, 6, 8, 11)]
    (resource,) = document.blocks(document.root, "resource")
    assert document.at(document.attributes(resource)["depends_on"]) == "x.tf.json:14"
    assert document.line(document.attributes(resource)["depends_on"].start_byte) == 14


def test_values_are_evaluated_as_in_hcl(tmp_path: Path) -> None:
    (tmp_path / "main.tf.json").write_text(
        json.dumps(
            {
                "variable": {"env": {"default": "${no}"}, "n": {"type": "number", "default": "2"}},
                "locals": {"tags": {"${var.n}": "x", "env": "${var.env}"}},
                "resource": {
                    "aws_autoscaling_group": {
                        "g": {
                            "count": "${var.n}",
                            "name": "%{ if var.n == 2 }two\n%{ endif }${count.index} $${x} \\n",
                            "max_size": "${var.n + 1}",
                            "tags": "${local.tags}",
                            "tag": [{"key": "a"}, {"key": '${upper("b")}'}],
                        }
                    }
                },
            }
        )
    )
    instances = {each.address: attributes(each) for each in load_module(tmp_path).instances()}
    assert instances["aws_autoscaling_group.g[1]"] == {
        "name": "two\n1 ${x} \\n",
        "max_size": 3,
        "tags": {"2": "x", "env": "${no}"},
        "tag": [{"key": "a"}, {"key": "B"}],
    }


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(codec="utf-8")),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="ascii")), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_every_literal_value_is_read_back(value: Json) -> None:
    code = json.dumps({"variable": {"v": {"default": value}}}).encode()
    document = parse_json(FILE, code)
    (block,) = document.blocks(document.root)
    found = to_json(value_of(read_attribute(document, document.attributes(block)["default"]), EvaluationScope()))
    assert found == _composed(value)


def _composed(value: Json) -> Json:
    """The value with all texts in normal form C, in which Terraform has them."""
    match value:
        case str():
            return unicodedata.normalize("NFC", value)
        case dict():
            return {unicodedata.normalize("NFC", key): _composed(item) for key, item in value.items()}
        case list():
            return [_composed(item) for item in value]
    return value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '{"locals":\n{"a": "${x"}}',
            r"x\.tf\.json:2: This text cannot be read: an interpolation in a text does not end",
        ),
        ('{"locals":\n{"a": "${x y}"}}', r"x\.tf\.json:2: This is not valid HCL"),
        ('{"locals": {"a": {"k": 1, "k": 2}}}', "The key 'k' comes twice"),
        ('{"locals": {"a": "\\ud800"}}', "half of a Unicode character"),
    ],
)
def test_what_terraform_would_refuse_is_an_error_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(CodeInvalid, match=reason):
        parse_json(FILE, text.encode())


@pytest.mark.parametrize("code", ["x]\n}\nresource", "a # b", "a.b.", "", "a, b", "/* x */ a", "a\nb", "${x"])
def test_a_reference_never_becomes_more_than_one_expression(code: str) -> None:
    document = parse_json(FILE, json.dumps({"resource": {"a_b": {"c": {"depends_on": [code]}}}}).encode())
    assert [document.header(block) for block in document.blocks(document.root)] == [("resource", "a_b", "c")]
    assert list(document.attributes(document.blocks(document.root)[0])) == ["depends_on"]
    assert document.source.count(b'"') >= 6, "it stands in quotes"


TEMPLATES: list[Json] = [
    "plain",
    "${var.n}",
    "${ var.n + 1 }",
    "n is ${var.n}",
    "$${n} %%{if} $5 100%",
    'back\\slash "quote" \ttab\nline\n',
    '${join(",", ["a", "b\\"}"])}',
    '${"in ${var.n} ner"}',
    "%{ if var.n == 2 }two%{ else }other%{ endif }",
    "%{ for x in [1, 2] }<${x}>%{ endfor }",
    "a ${~ var.n ~} b",
    "a\n\n${~ var.n ~}\n\nb",
    "%{ for x in [1, 2] ~}\n  - ${x}\n%{ endfor ~}\nend",
    {"${var.n}": 1, "b": ["${var.n}", True, None, -1.5, 1e3, {"c": '${upper("d")}'}]},
    "${[for x in [1, 2] : x * 2]}",
    "${{\n  a = 1\n  b = var.n\n}}",
    "\u00e9 e\u0301 \ud83d\ude00",
]


@pytest.mark.terraform
def test_values_are_those_that_terraform_gives(tmp_path: Path) -> None:
    """Where ours is not known, it only is not known; two of these are not."""
    code = {
        "variable": {"n": {"type": "number", "default": "2"}, "raw": {"default": "${raw} %{x}"}},
        "output": {f"o{n}": {"value": value} for n, value in enumerate([*TEMPLATES, "${var.raw}"])},
    }
    (tmp_path / "main.tf.json").write_text(json.dumps(code))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for argv in (["init"], ["apply", "-auto-approve"]):
        subprocess.run(["terraform", *argv], cwd=tmp_path, env=environment, check=True, capture_output=True)
    state = json.loads((tmp_path / "terraform.tfstate").read_text())["outputs"]
    module, unknown = load_module(tmp_path), []
    for name, output in state.items():
        try:
            found = to_json(value_of(module.written_output(name) or pytest.fail(name), module.scope))
        except Unknown:
            unknown.append(name)
            continue
        assert (name, found) == (name, output["value"])
    assert unknown == ["o11", "o12"]
