"""Answers reads that the simulated AWS does not know as AWS does where there is nothing: an empty reply in the service's protocol.

The provider reads tags, policies and the like of everything it makes. Without an answer it gives up a resource that is there.
"""

import io
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

from cryptography.x509 import load_pem_x509_certificate

_KNOWN = {"ValidateStateMachineDefinition": b'{"result": "OK", "diagnostics": []}'}
"""Replies of which the provider expects more."""
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_HEALTH = {
    f"target_group_health.{block}.minimum_healthy_targets.{unit}": value
    for block in ("dns_failover", "unhealthy_state_routing")
    for unit, value in (("count", "1"), ("percentage", "off"))
}
"""What AWS returns of a target group for which nobody set it (Elastic Load Balancing user guide, "Target group health")."""

_READS = ("List", "Get", "Describe", "BatchGet")


def answering_reads(application: Application) -> Application:
    """The WSGI application, with an empty reply in place of its page for an operation that it does not know."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        said: list[Any] = []
        try:
            reply = b"".join(application(environ, lambda *status: said.append(status)))
        except NotImplementedError:
            if (empty := _empty(environ, body)) is None:
                raise
        else:
            unknown = said[0][0].startswith("404") and reply[:15].lower() == b"<!doctype html>"
            empty = _empty(environ, body) if unknown else None
        if empty is None:
            start(*said[0])
            return [reply]
        kind, text = empty
        start("200 OK", [("Content-Type", kind), ("Content-Length", str(len(text)))])
        return [text]

    return answer


def return_defaults() -> None:
    """Have moto return what AWS always returns. Where it is missing, the state has nothing that a call could restate, or be about."""
    from moto.acmpca.models import CertificateAuthority  # noqa: PLC0415  only the process of the simulated AWS has moto
    from moto.autoscaling.models import FakeAutoScalingGroup  # noqa: PLC0415  as above
    from moto.core.models import DEFAULT_ACCOUNT_ID  # noqa: PLC0415  as above
    from moto.core.responses import BaseResponse  # noqa: PLC0415  as above
    from moto.datasync.models import Location, Task  # noqa: PLC0415  as above
    from moto.elbv2.models import FakeTargetGroup  # noqa: PLC0415  as above
    from moto.emr.responses import ElasticMapReduceResponse  # noqa: PLC0415  as above
    from moto.glue.models import FakePartition  # noqa: PLC0415  as above

    distribution = {"CapacityDistributionStrategy": "balanced-best-effort"}
    setattr(FakeAutoScalingGroup, "availability_zone_distribution", distribution)  # noqa: B010  mypy rightly forbids a new attribute
    original = FakeTargetGroup.__init__

    def patched(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.attributes |= _HEALTH

    setattr(FakeTargetGroup, "__init__", patched)  # noqa: B010  as above
    as_dict = FakePartition.as_dict

    def with_catalog(self: Any) -> dict[str, Any]:
        return {"CatalogId": DEFAULT_ACCOUNT_ID, **as_dict(self)}

    setattr(FakePartition, "as_dict", with_catalog)  # noqa: B010  as above
    issue = CertificateAuthority.issue_certificate

    def issue_numbered(self: Any, *args: Any, **kwargs: Any) -> str:
        """The ARN of a certificate ends with its serial number (AWS Private CA user guide, "Revoke a private certificate")."""
        made = issue(self, *args, **kwargs)
        content = self.issued_certificates.pop(made)
        serial = load_pem_x509_certificate(content).serial_number
        arn = f"{made.rpartition('/')[0]}/{serial.to_bytes((serial.bit_length() + 7) // 8).hex()}"
        self.issued_certificates[arn] = content
        if made in self.issued_certificates_certificate_chains:
            self.issued_certificates_certificate_chains[arn] = self.issued_certificates_certificate_chains.pop(made)
        return arn

    setattr(CertificateAuthority, "issue_certificate", issue_numbered)  # noqa: B010  as above
    # By their own rule locations and tasks are of another account.
    for made in (Location, Task):
        setattr(made, "__init__", _in_account(made.__init__, DEFAULT_ACCOUNT_ID))  # noqa: B010  as above
    # By its own rule a cluster is in the default region, whatever region the call is signed for.
    setattr(ElasticMapReduceResponse, "get_region_from_url", BaseResponse.get_region_from_url)  # noqa: B010  as above


def _in_account(original: Any, account: str) -> Callable[..., None]:
    def patched(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        parts = self.arn.split(":", 5)
        self.arn = ":".join([*parts[:4], account, parts[5]])

    return patched


def _empty(environ: dict[str, Any], body: bytes) -> tuple[str, bytes] | None:
    """Type and text of the empty reply to a read; None for any other request."""
    if target := environ.get("HTTP_X_AMZ_TARGET", ""):
        operation = target.rpartition(".")[2]
        reply = _KNOWN.get(operation, b"{}" if operation.startswith(_READS) else None)
        return None if reply is None else ("application/x-amz-json-1.1", reply)
    form = parse_qs(body.decode(errors="replace")) if "x-www-form-urlencoded" in environ.get("CONTENT_TYPE", "") else {}
    if action := form.get("Action", [""])[0]:
        xml = f"<{action}Response><{action}Result/></{action}Response>"
        return ("text/xml", xml.encode()) if action.startswith(_READS) else None
    named = environ["PATH_INFO"].rpartition("/")[2].lower().startswith(tuple(name.lower() for name in _READS))
    return ("application/json", b"{}") if environ["REQUEST_METHOD"] == "GET" or named else None
