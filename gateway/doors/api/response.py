"""Converts AWS's reply to JSON, in the form that boto3 returns."""

from botocore.model import OperationModel
from botocore.parsers import ResponseParserFactory

from gateway.model.json import Json, to_json
from gateway.model.outcome import Reply

_PARSERS = ResponseParserFactory()


def reply_to_json(model: OperationModel, reply: Reply) -> Json:
    """The parsed reply without boto3's own metadata; None if it cannot be parsed."""
    headers = {name.lower(): value for name, value in reply.headers}
    parser = _PARSERS.create_parser(model.service_model.resolved_protocol)
    document = {"body": reply.body, "headers": headers, "status_code": reply.status}
    try:
        result = parser.parse(document, model.output_shape)
        return to_json({name: value for name, value in result.items() if name != "ResponseMetadata"})
    except Exception:  # noqa: BLE001  botocore's parsers raise anything; the change is already applied and recorded
        return None
