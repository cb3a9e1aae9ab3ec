"""A model is never shown a secret that can be recognised."""

from pathlib import Path

import pytest

from gateway.model.masking import PER_RUN
from reconciler.suggest.redact import redacted

MAIN, VALUES = Path("main.tf"), Path("terraform.tfvars")


def _shown(code: str, values: str = "") -> str:
    return "".join(redacted({MAIN: code.encode(), VALUES: values.encode()}, PER_RUN).values())


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ('resource "aws_db_instance" "x" {\n  password = "hunter-two"\n}\n', ""),
        ('locals {\n  environment = { "API_KEY" : "hunter-two", size = "3" }\n}\n', ""),
        ('resource "aws_x" "x" {\n  master_password = <<EOT\nhunter-two\nEOT\n}\n', ""),
        ('variable "pw" {\n  default   = "hunter-two"\n  sensitive = true\n}\n', ""),
        ('variable "pw" {\n  sensitive = true\n}\n', 'pw = "hunter-two"\n'),
        ("", 'db_password = "hunter-two"\n'),
    ],
)
def test_secrets_are_masked(code: str, values: str) -> None:
    shown = _shown(code, values)
    assert "hunter-two" not in shown
    assert "hmac_sha256:" in shown


def test_secrets_of_a_known_form_are_masked_anywhere() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890\n-----END RSA PRIVATE KEY-----"
    assert "MIIEpAIBAAKCAQEA" not in _shown(f"locals {{\n  odd = <<EOT\n{key}\nEOT\n}}\n")


def test_the_rest_stays_as_it_is() -> None:
    code = 'resource "aws_sqs_queue" "orders" {\n  name = "orders" # "quoted"\n}\n'
    assert _shown(code) == code
