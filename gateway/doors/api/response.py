"""AWS's answer as boto3 would return it, as JSON."""

from botocore.model import OperationModel
from botocore.parsers import ResponseParserFactory

from gateway.model.json import Json, to_json
from gateway.model.outcome import Reply

_PARSERS = ResponseParserFactory()


def parsed(model: OperationModel, reply: Reply) -> Json:
    """The parsed reply without boto3's own metadata; None where it cannot be parsed (the caller then has the raw outcome only)."""
    headers = {name.lower(): value for name, value in reply.headers}
    parser = _PARSERS.create_parser(model.service_model.resolved_protocol)
    document = {"body": reply.body, "headers": headers, "status_code": reply.status}
    try:
        result = parser.parse(document, model.output_shape)
        return to_json({name: value for name, value in result.items() if name != "ResponseMetadata"})
    except Exception:  # noqa: BLE001  botocore's parsers raise anything; the change itself is settled and recorded by now
        return None
