"""The stack of the crash tests: queues with one number each, in a repository with a remote."""

import json
import re
from pathlib import Path
from typing import Final

from tests.kit.git import git, repository

STACK: Final = "queues"
BRANCH: Final = "sentinel/queues"
ADDRESS: Final = "aws_sqs_queue.q"
ATTRIBUTE: Final = "visibility_timeout_seconds"
LONGEST: Final = 43_200
_BLOCK: Final = """resource "aws_sqs_queue" "q%(n)d" {
  name                       = "queue-%(n)d"
  visibility_timeout_seconds = %(value)d
}

"""
_CONTRACT: Final = f"""contract "queues" {{
  owner = "team-chaos"

  resource "aws_sqs_queue" "*" {{
    managed_by_agent = true

    attribute "{ATTRIBUTE}" {{
      min = 0
      max = {LONGEST}
    }}
  }}
}}
"""


def write_stack(directory: Path, remote: Path, count: int) -> Path:
    """A repository with the code, its state and its contract, and a bare repository as its remote; the stack's directory."""
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text("".join(_BLOCK % {"n": number, "value": LONGEST} for number in range(count)))
    (directory / "queues.sentinel.hcl").write_text(_CONTRACT)
    (directory / "terraform.tfstate").write_text(json.dumps(_state(count)))
    (directory / ".gitignore").write_text("terraform.tfstate\n")
    git(directory.parent, "init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    (directory / ".git").mkdir(exist_ok=True)
    repository(directory)
    git(directory, "rm", "--cached", "--quiet", "terraform.tfstate")
    git(directory, "commit", "--quiet", "--amend", "--message", "first")
    git(directory, "remote", "add", "origin", str(remote))
    git(directory, "push", "--quiet", "origin", "main")
    return directory


def with_value(code: bytes, address: str, value: object) -> bytes:
    """The code with another number for one queue."""
    name = address.partition(".")[2].encode()
    pattern = rb'(resource "aws_sqs_queue" "%b" \{\n[^}]*?%b = )\d+' % (name, ATTRIBUTE.encode())
    edited, count = re.subn(pattern, rb"\g<1>%d" % int(str(value)), code)
    assert count == 1, address
    return edited


def values_of(code: str) -> dict[str, int]:
    """The number of each queue that the code declares."""
    found = re.findall(rf'name\s+= "(queue-\d+)"\n\s+{ATTRIBUTE} = (\d+)', code)
    return {queue: int(value) for queue, value in found}


def _state(count: int) -> dict[str, object]:
    resources = [
        {
            "mode": "managed",
            "type": "aws_sqs_queue",
            "name": f"q{number}",
            "provider": 'provider["registry.example.org/hashicorp/aws"]',
            "instances": [{"schema_version": 0, "attributes": _attributes(number), "sensitive_attributes": []}],
        }
        for number in range(count)
    ]
    return {
        "version": 4,
        "terraform_version": "1.11.0",
        "serial": 1,
        "lineage": "0b1c",
        "outputs": {},
        "resources": resources,
        "check_results": None,
    }


def _attributes(number: int) -> dict[str, object]:
    url = f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{number}"
    return {
        "id": url,
        "url": url,
        "name": f"queue-{number}",
        "arn": f"arn:aws:sqs:us-east-1:123456789012:queue-{number}",
        ATTRIBUTE: LONGEST,
    }
