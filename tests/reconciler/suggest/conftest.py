"""Code and a question about it that the tests of suggestions share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Left, Wanted
from reconciler.suggest.question import Question

CODE = b"""locals {
  sizes = { for line in split("\\n", file("sizes.txt")) : line => 30 }
}

resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = 30
}

resource "aws_sqs_queue" "other" {
  name          = "other"
  delay_seconds = 5
}
"""

Ask = Callable[..., Question]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """A question about the visibility timeout of the queue `orders`, 30 in code and `value` live."""
    (tmp_path / "main.tf").write_bytes(CODE)

    def question(value: Json = 60, *, reason: str = "file is not evaluated.", code: bytes = CODE) -> Question:
        wanted = Wanted(address="aws_sqs_queue.orders", attribute="visibility_timeout_seconds", value=value)
        return Question(left=Left(wanted=wanted, reason=reason), before=30, files={Path("main.tf"): code})

    return question
