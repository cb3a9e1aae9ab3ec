"""Plays the calls with an AWS CLI, whose path is the only argument, and prints each verdict as a line of JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ASG = "kafka-consumer-processor-asg"


class Refused(Exception):
    """The command failed; the text is what it printed."""


def aws(actor: str, *arguments: str) -> Any:
    """The output of one command. The endpoint comes from the environment, as for every user."""
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": os.environ[f"{actor}_KEY_ID"],
        "AWS_SECRET_ACCESS_KEY": os.environ[f"{actor}_SECRET"],
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_PAGER": "",
    }
    # AWS CLI 1 ignores AWS_ENDPOINT_URL for SQS (aws/aws-cli issue 8737).
    endpoint = ["--endpoint-url", os.environ["AWS_ENDPOINT_URL"]] if arguments[0] == "sqs" else []
    done = subprocess.run(
        [sys.argv[1], *arguments, *endpoint], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Refused(done.stderr or done.stdout)
    try:
        return json.loads(done.stdout or "null")
    except ValueError:
        return done.stdout


def play(name: str, call: Callable[[], object]) -> None:
    """Make one call and print what came of it."""
    try:
        print(json.dumps({"call": name, "verdict": "ok", "value": call()}), flush=True)
    except Refused as error:
        verdict = next((word for word in ("holds", "refused") if f"Sentinel {word}" in str(error)), "error")
        print(json.dumps({"call": name, "verdict": verdict, "value": str(error)}), flush=True)


def capacity(actor: str, desired: int) -> None:
    """Set the desired capacity of the group."""
    aws(
        actor, "autoscaling", "set-desired-capacity", "--auto-scaling-group-name", ASG,
        "--desired-capacity", str(desired),
    )  # fmt: skip


def messages() -> object:
    """Send a message to the queue's own URL, receive it and delete it."""
    url = aws("APP", "sqs", "get-queue-url", "--queue-name", "kafka-shard-0")["QueueUrl"]
    aws("APP", "sqs", "send-message", "--queue-url", url, "--message-body", f"from {os.environ['CLIENT']}")
    (message,) = aws("APP", "sqs", "receive-message", "--queue-url", url)["Messages"]
    aws("APP", "sqs", "delete-message", "--queue-url", url, "--receipt-handle", message["ReceiptHandle"])
    return {"url": url, "body": message["Body"]}


def upload() -> None:
    """Upload 50 MB in one request and once more in parts."""
    file = Path(os.environ["CLIENT_DIRECTORY"]) / "50MB"
    file.write_bytes(b"x" * (50 << 20))
    name = os.environ["CLIENT"]
    aws("APP", "s3api", "put-object", "--bucket", "uploads", "--key", name, "--body", str(file))
    aws("APP", "s3", "cp", "--no-progress", str(file), f"s3://uploads/{name}-parts")


def pages() -> int:
    """How many objects there are, asked for in pages of two."""
    found = aws("APP", "s3api", "list-objects-v2", "--bucket", "pages", "--page-size", "2")
    return len(found["Contents"])


def main() -> None:
    """All calls, in order."""
    item = json.dumps({"partition": {"S": os.environ["CLIENT"]}})
    play("read", lambda: len(aws("AGENT", "autoscaling", "describe-auto-scaling-groups")["AutoScalingGroups"]))
    play("allowed", lambda: capacity("AGENT", 6))
    play("refused", lambda: capacity("AGENT", 64))
    play("held", lambda: aws("AGENT", "autoscaling", "put-warm-pool", "--auto-scaling-group-name", ASG))
    play("upload", upload)
    play("messages", messages)
    play("item", lambda: aws("APP", "dynamodb", "put-item", "--table-name", "kafka-offsets", "--item", item))
    play("pages", pages)
    play("waiter", lambda: aws("APP", "s3api", "wait", "bucket-exists", "--bucket", "uploads"))
    play("session", lambda: capacity("SESSION", 7))


if __name__ == "__main__":
    main()
