"""A model is never shown a secret that can be recognised, however it is written and wherever it comes from."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN, holds_mask
from gateway.terraform.lang.hcl import parse
from reconciler.suggest.code_settings import settings_in
from reconciler.suggest.redaction import has_secret_key, is_secret_label, masked_values, redact, secret_settings

MAIN, VALUES = Path("main.tf"), Path("terraform.tfvars")
SENSITIVE = 'variable "pw" {\n  sensitive = true\n}\n'


def _shown(code: str, values: str = "", name: Path = VALUES) -> str:
    return "".join(redact({MAIN: code.encode(), name: values.encode()}, PER_RUN).files.values())


@pytest.mark.parametrize(
    ("code", "values"),
    [
        # By name: in attributes, entries, lists, heredocs, functions, conditions, numbers.
        ('resource "aws_db_instance" "x" {\n  password = "hunter-two"\n}\n', ""),
        ('locals {\n  environment = { "API_KEY" : "hunter-two", size = "3" }\n}\n', ""),
        ('resource "aws_x" "x" {\n  master_password = <<EOT\nhunter-two\nEOT\n}\n', ""),
        ('locals {\n  passwords = { api_key = { a = [["hunter-two"]] } }\n}\n', ""),
        ('locals {\n  secret = [for name in ["hunter-two"] : upper(name)]\n}\n', ""),
        ('locals {\n  token = var.live ? "hunter-two" : ""\n}\n', ""),
        ('locals {\n  token = "${var.prefix}hunter-two"\n}\n', ""),
        ("locals {\n  token = 8472163\n}\n", ""),
        ('locals {\n  odd = sensitive("hunter-two")\n}\n', ""),
        ('locals {\n  odd = jsonencode({ dbPassword = "hunter-two" })\n}\n', ""),
        ('locals {\n  odd = { name = "DB_PASSWORD", value = "hunter-two" }\n}\n', ""),
        # By the code's own marks.
        ('variable "pw" {\n  default   = "hunter-two"\n  sensitive = true\n}\n', ""),
        ('variable "pw" {\n  default   = <<EOT\nhunter-two\nEOT\n  sensitive = true\n}\n', ""),
        ('variable "pw" {\n  default   = { a = ["hunter-two"] }\n  sensitive = true\n}\n', ""),
        ('variable "pw" {\n  default   = "hunter-two"\n  ephemeral = true\n}\n', ""),
        ('variable "pw" { # it { has braces\n  sensitive = true\n  validation {\n    condition = var.pw != "hunter-two"\n  }\n}\n', ""),
        ('output "a" {\n  value     = "hunter-two"\n  sensitive = true\n}\n', ""),
        ('module "db" {\n  source = "./db"\n  pw     = "hunter-two"\n}\n' + SENSITIVE, ""),
        # In values of variables.
        (SENSITIVE, 'pw = "hunter-two"\n'),
        (SENSITIVE, 'pw = {\n  a = [{ b = "hunter-two" }]\n}\n'),
        (SENSITIVE, "pw = <<-EOT\n  hunter-two\nEOT\n"),
        (SENSITIVE, "pw = 8472163\n"),
        ("", 'db_password = "hunter-two"\n'),
        ("", 'db = {\n  password = ["hunter-two"]\n}\n'),
        # By the resource type, in nested and dynamic blocks too.
        ('resource "aws_ssm_parameter" "x" {\n  value = "hunter-two"\n}\n', ""),
        ('resource "aws_secretsmanager_secret_version" "x" {\n  secret_string = jsonencode({ a = "hunter-two" })\n}\n', ""),
        ('resource "aws_lambda_function" "x" {\n  environment {\n    variables = { DB = "hunter-two" }\n  }\n}\n', ""),
        ('resource "aws_elastic_beanstalk_environment" "x" {\n  dynamic "setting" {\n    for_each = ["hunter-two"]\n    content {\n      value = setting.value\n    }\n  }\n}\n', ""),
        ('resource "aws_x" "x" {\n  dynamic "auth" {\n    for_each = ["hunter-two"]\n    content {\n      password = auth.value\n    }\n  }\n}\n', ""),
        # By where the value goes.
        ('resource "aws_db_instance" "x" {\n  password = local.a\n}\nlocals {\n  a = "${local.b}x"\n  b = "hunter-two"\n}\n', ""),
        ('resource "aws_db_instance" "x" {\n  password = var.a\n}\nvariable "a" {}\n', 'a = "hunter-two"\n'),
        ('resource "aws_db_instance" "x" {\n  for_each = { a = { p = "hunter-two" } }\n  password = each.value.p\n}\n', ""),
        ('resource "aws_db_instance" "x" {\n  password = terraform_data.a.input\n}\nresource "terraform_data" "a" {\n  input = "hunter-two"\n}\n', ""),
        ('resource "aws_db_instance" "x" {\n  password = module.m.it\n}\noutput "it" {\n  value = "hunter-two"\n}\n', ""),
        ('resource "aws_lambda_function" "x" {\n  environment {\n    variables = local.all\n  }\n}\nlocals {\n  all = { DB = "hunter-two" }\n}\n', ""),
        # In texts that name it.
        ("locals {\n  odd = <<EOT\ndb:\n  password: |\n    hunter-two\nEOT\n}\n", ""),
        ('locals {\n  odd = "run --token hunter-two"\n}\n', ""),
        ('locals {\n  odd = "password=${var.a}hunter-two"\n}\n', ""),
        # In comments, and wherever else the same text stands.
        ('# it was hunter-two once\nlocals {\n  token = "x" /* hunter-two */\n}\n', ""),
        ('resource "aws_db_instance" "x" {\n  password = "hunter-two"\n  tags = { a = "is hunter-two." }\n}\n', ""),
    ],
)  # fmt: skip
def test_secrets_are_masked(code: str, values: str) -> None:
    shown = _shown(code, values)
    assert "hunter-two" not in shown
    assert "8472163" not in shown
    assert "hmac_sha256:" in shown


@pytest.mark.parametrize(
    ("code", "values"),
    [
        (SENSITIVE, '{"pw": {"a": ["hunter-two"]}}'),
        ("", '{"db": {"password": ["hunter-two"]}}'),
        ("", '{"all": [{"name": "db/password", "value": "hunter-two"}]}'),
        ('resource "aws_db_instance" "x" {\n  password = var.a\n}\n', '{"a": "hunter-two"}'),
        ("", '{"script": "export TOKEN=hunter-two"}'),
    ],
)
def test_secrets_in_values_as_json_are_masked(code: str, values: str) -> None:
    shown = _shown(code, values, Path("terraform.tfvars.json"))
    assert "hunter-two" not in shown
    assert "hmac_sha256" in shown


def test_a_variable_that_a_called_module_marks_is_secret_at_the_call() -> None:
    code = b'module "db" {\n  source = "./db"\n  pw     = "hunter-two"\n}\n'
    assert "hunter-two" in redact({MAIN: code}, PER_RUN).files[MAIN]
    assert "hunter-two" not in redact({MAIN: code}, PER_RUN, ["pw"]).files[MAIN]


def test_what_cannot_be_parsed_is_not_shown() -> None:
    assert _shown("locals {\n", "a = 1\n") == ""
    code = "locals {\n  a = 1\n}\n"
    assert _shown(code, "a = = 1\n") == code
    assert _shown(code, "{", Path("terraform.tfvars.json")) == code
    assert redact({MAIN: b"\xff"}, PER_RUN).files == {}


def test_secrets_of_a_known_form_are_masked_anywhere() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890\n-----END RSA PRIVATE KEY-----"
    assert "MIIEpAIBAAKCAQEA" not in _shown(f"locals {{\n  odd = <<EOT\n{key}\nEOT\n}}\n")


def test_a_secret_is_masked_in_other_text_too() -> None:
    redaction = redact({MAIN: b'locals {\n  token = "hunter-two"\n}\n'}, PER_RUN)
    assert "hunter-two" not in redaction.text('It is "hunter-two".')
    assert redaction.text("hunter-twofold") == "hunter-twofold"


def test_the_rest_stays_as_it_is_and_can_still_be_parsed() -> None:
    code = (
        'resource "aws_sqs_queue" "orders" {\n  name = "orders"\n  delay_seconds = 1e2\n}\n\n'
        'resource "aws_lambda_function" "x" {\n  function_name = "resize"\n  policy = "arn:aws:secretsmanager:::secret:a"\n'
        "  environment {\n    variables = { QUEUE = aws_sqs_queue.orders.name }\n  }\n}\n"
    )
    assert _shown(code) == code
    secret = 'locals {\n  a_token = <<EOT\nhunter-two\nEOT\n  pwd = "x" # "quoted"\n}\n'
    parse(MAIN, _shown(code + secret).encode())


def test_only_what_is_secret_is_masked() -> None:
    values: dict[str, Json] = {
        "size": 3,
        "pw": ["a1", 7],
        "db": {"token": "b2", "name": "orders"},
        "all": [{"name": "x/pwd", "value": "c3"}],
    }
    shown, found = masked_values(values, frozenset({"var.pw"}), PER_RUN)
    assert isinstance(shown, dict)
    assert (shown["size"], shown["db"]["name"], shown["all"][0]["name"]) == (3, "orders", "x/pwd")
    assert all(
        holds_mask(each) for each in (shown["pw"][0], shown["pw"][1], shown["db"]["token"], shown["all"][0]["value"])
    )
    assert found == {"a1", "b2", "c3"}


CODE = b"""resource "aws_db_instance" "a" {
  password = var.one
}
resource "aws_lambda_function" "b" {
  environment {
    variables = { A = var.two, B = aws_sqs_queue.jobs.name }
  }
}
resource "aws_sqs_queue" "jobs" {
  name          = "jobs"
  delay_seconds = var.three
}
variable "one" {
  default = local.first
}
variable "two" {
  default = 2
}
locals {
  first = "x"
}
"""


def test_what_feeds_a_secret_is_one_and_what_may_be_one_taints_no_resource() -> None:
    found = secret_settings(list(settings_in(parse(Path("main.tf"), CODE), of_variables=False)), ["four"])
    assert [each.text for each in found.sure] == ["var.one", "local.first", '"x"']
    possible = {each.text for each in found.possible}
    assert {"var.two", "2"} <= possible
    assert '"jobs"' not in possible
    assert {"var.one", "var.two", "var.four", "local.first"} <= found.keys
    assert "var.three" not in found.keys


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: x", True),
        ('"dbPassword": 1', True),
        ("--token x", True),
        ("API_KEY=x", True),
        ("arn:aws:secretsmanager:eu-west-1:1:secret:a", False),
        ("size: 3", False),
        ("a token of love", False),
    ],
)
def test_a_text_names_a_secret_before_its_value(text: str, secret: bool) -> None:
    assert has_secret_key(text) is secret


def test_a_label_is_the_last_part_of_a_path() -> None:
    assert is_secret_label("/app/db/password")
    assert not is_secret_label("/password/db")
