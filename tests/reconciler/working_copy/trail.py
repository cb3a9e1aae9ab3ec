"""Calls that go past Sentinel, and what CloudTrail says of them."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.reconciler.conftest import Live

_ADA = {"type": "IAMUser", "arn": "arn:aws:iam::123456789012:user/ada", "userName": "ada"}
_SOURCES = {"cloudwatch": "monitoring"}


@dataclass(slots=True)
class Trail:
    """Makes calls as somebody does who does not know of Sentinel, and keeps what CloudTrail would say of them."""

    live: Live
    records: list[dict[str, Any]] = field(default_factory=list)

    def do(self, service: str, operation: str, **parameters: Any) -> Any:
        method = "".join(f"_{each.lower()}" if each.isupper() else each for each in operation).lstrip("_")
        reply = getattr(self.live.client(service), method)(**parameters)
        reply.pop("ResponseMetadata", None)
        self.tell(service, operation, parameters, reply)
        return reply

    def tell(self, service: str, operation: str, asked: Any, answered: Any = None, **more: Any) -> None:
        at = datetime(2026, 11, 20, 9, tzinfo=UTC) + timedelta(seconds=len(self.records))
        record = {
            "eventSource": f"{_SOURCES.get(service, service)}.amazonaws.com",
            "eventName": operation,
            "eventTime": at.isoformat(),
            "awsRegion": "eu-west-1",
            "recipientAccountId": "123456789012",
            "userIdentity": _ADA,
            "requestParameters": _lower(asked),
            "responseElements": _lower(answered),
            **more,
        }
        self.records.append(record)

    def write(self, path: Path) -> Path:
        path.write_text(json.dumps({"Records": self.records}, default=str))
        return path


def _lower(value: Any) -> Any:
    match value:
        case dict():
            return {key[:1].lower() + key[1:]: _lower(item) for key, item in value.items()}
        case list():
            return [_lower(item) for item in value]
    return value
