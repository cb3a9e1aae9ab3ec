"""Plays the calls with boto3 and prints each verdict as a line of JSON."""

import io
import json
import os
from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ASG = "kafka-consumer-processor-asg"


def client(service: str, actor: str) -> Any:
    """A client with the key of an actor. The endpoint comes from the environment, as for every user."""
    return boto3.client(
        service,
        region_name="us-east-1",
        aws_access_key_id=os.environ[f"{actor}_KEY_ID"],
        aws_secret_access_key=os.environ[f"{actor}_SECRET"],
        config=Config(retries={"total_max_attempts": 1}),
    )


def play(name: str, call: Callable[[], object]) -> None:
    """Make one call and print what came of it."""
    try:
        print(json.dumps({"call": name, "verdict": "ok", "value": call()}), flush=True)
    except ClientError as error:
        message = error.response["Error"]["Message"]
        verdict = next((word for word in ("holds", "refused") if f"Sentinel {word}" in message), "error")
        print(json.dumps({"call": name, "verdict": verdict, "value": message}), flush=True)


def capacity(actor: str, desired: int) -> None:
    """Set the desired capacity of the group."""
    client("autoscaling", actor).set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=desired)


def messages() -> object:
    """Send a message to the queue's own URL, receive it and delete it."""
    sqs = client("sqs", "APP")
    url = sqs.get_queue_url(QueueName="kafka-shard-0")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=f"from {os.environ['CLIENT']}")
    message = sqs.receive_message(QueueUrl=url)["Messages"][0]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return {"url": url, "body": message["Body"]}


def upload() -> None:
    """Upload 50 MB in one request and once more in parts."""
    s3, body = client("s3", "APP"), b"x" * (50 << 20)
    s3.put_object(Bucket="uploads", Key=os.environ["CLIENT"], Body=body)
    s3.upload_fileobj(io.BytesIO(body), "uploads", f"{os.environ['CLIENT']}-parts")


def pages() -> int:
    """How many objects there are, asked for in pages of two."""
    pages = (
        client("s3", "APP").get_paginator("list_objects_v2").paginate(Bucket="pages", PaginationConfig={"PageSize": 2})
    )
    return sum(len(page["Contents"]) for page in pages)


def main() -> None:
    """All calls, in order."""
    group = client("autoscaling", "AGENT")
    play("read", lambda: len(group.describe_auto_scaling_groups()["AutoScalingGroups"]))
    play("allowed", lambda: capacity("AGENT", 6))
    play("refused", lambda: capacity("AGENT", 64))
    play("held", lambda: group.put_warm_pool(AutoScalingGroupName=ASG))
    play("upload", upload)
    play("messages", messages)
    item = {"partition": {"S": os.environ["CLIENT"]}}
    play("item", lambda: client("dynamodb", "APP").put_item(TableName="kafka-offsets", Item=item) and None)
    play("pages", pages)
    play("waiter", lambda: client("s3", "APP").get_waiter("bucket_exists").wait(Bucket="uploads"))
    play("session", lambda: capacity("SESSION", 7))


if __name__ == "__main__":
    main()
