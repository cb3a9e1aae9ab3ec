"""The stack that is contended for: queues, each with a visibility timeout that agents may set."""

from pathlib import Path

from tests.bench.contention.wishes import LONGEST
from tests.bench.stack import write_applied

_CODE = """
resource "aws_sqs_queue" "queue" {
  count                      = %d
  name                       = "queue-${count.index}"
  visibility_timeout_seconds = %d
}
"""
_CONTRACT = """
contract "queues" {
  owner = "team-bench"

  resource "aws_sqs_queue" "*" {
    managed_by_agent = true

    attribute "visibility_timeout_seconds" {
      min = 0
      max = %d
    }
  }
}
"""


def write_queues(directory: Path, count: int) -> None:
    """A stack of that many queues, `queue-0` and on, all in the state."""
    write_applied(
        directory,
        code=_CODE % (count, LONGEST),
        contract=_CONTRACT % LONGEST,
        resource=("aws_sqs_queue", "queue"),
        instances=[_instance(number) for number in range(count)],
    )


def _instance(number: int) -> dict[str, object]:
    url = f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{number}"
    return {
        "id": url,
        "url": url,
        "name": f"queue-{number}",
        "arn": f"arn:aws:sqs:us-east-1:123456789012:queue-{number}",
        "visibility_timeout_seconds": LONGEST,
    }
