"""The simulated AWS of `sentinel up`: moto in its own process, with state that survives restarts.

Moto keeps its state in memory. To restore it, every request that may change something is written to a journal and replayed
at the next start. To generate the same ids again, moto's random numbers are seeded with the request's number and requests
are handled one at a time.
"""

import base64
import io
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

from moto.autoscaling.models import FakeScalingPolicy
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends
from moto.ecs.models import Service
from moto.moto_api._internal import mock_random
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.responses import S3Response
from werkzeug.serving import make_server

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[..., Any]
WsgiApp: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]

_READS = ("Describe", "Get", "List", "Head", "BatchGet")


class Simulated:
    """A WSGI application that passes one request at a time to moto and keeps the journal."""

    def __init__(self, moto: WsgiApp, journal: Path) -> None:
        self._moto = moto
        self._journal = journal
        self._lock = threading.Lock()
        self._number = 0

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Handle one request with moto, and write it to the journal if it may change something."""
        if environ["PATH_INFO"] == "/_ready":
            start_response("200 OK", [("Content-Length", "0")])
            return []
        with self._lock:
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            self._number += 1
            try:
                answer = self._answer(self._number, environ, body, start_response)
            except Exception as error:  # noqa: BLE001  moto raises whatever it likes about what it lacks
                traceback.print_exc()
                return _refused(environ, body, error, start_response)
            if _may_change(environ, body):
                self._append_to_journal(environ, body)
            return answer

    def replay(self) -> int:
        """Replay the requests in the journal; returns their number."""
        lines = self._complete_lines()
        for line in lines:
            entry = json.loads(line)
            self._number = entry["number"]
            self._answer(self._number, entry["environ"], base64.b64decode(entry["body"]), lambda *_: None)
        return len(lines)

    def _complete_lines(self) -> list[str]:
        """The lines of the journal. A last line that is incomplete because the process was killed is cut off."""
        if not self._journal.exists():
            return []
        *lines, incomplete = self._journal.read_text().split("\n")
        if incomplete:
            os.truncate(self._journal, self._journal.stat().st_size - len(incomplete.encode()))
        return lines

    def _answer(self, number: int, environ: Environ, body: bytes, start_response: StartResponse) -> list[bytes]:
        mock_random.seed(number)
        request = {
            "wsgi.version": (1, 0),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": False,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
            **environ,
            "wsgi.input": io.BytesIO(body),
            "wsgi.input_terminated": True,
        }
        return list(self._moto(request, start_response))

    def _append_to_journal(self, environ: Environ, body: bytes) -> None:
        saved = {key: value for key, value in environ.items() if isinstance(value, str)}
        entry = {"number": self._number, "environ": saved, "body": base64.b64encode(body).decode()}
        # Requests to a simulated AWS may contain secrets too.
        with os.fdopen(os.open(self._journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a") as file:
            file.write(json.dumps(entry) + "\n")


def _may_change(environ: Environ, body: bytes) -> bool:
    """Whether a request may change something: true unless it is certainly a read."""
    if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
        return False
    return not _operation(environ, body).startswith(_READS)


def _operation(environ: Environ, body: bytes) -> str:
    """The operation that a request names; empty where only its path says it."""
    target = str(environ.get("HTTP_X_AMZ_TARGET", "")).rpartition(".")[2]
    return target or next((part[7:] for part in body.decode("latin-1").split("&") if part.startswith("Action=")), "")


def _refused(environ: Environ, body: bytes, error: Exception, start_response: StartResponse) -> list[bytes]:
    """The answer to a request that moto cannot handle: an error that no client sends again, as some would for minutes after a 500."""
    asked = _operation(environ, body) or f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}"
    message = f"The simulated AWS cannot answer {asked} ({type(error).__name__}: {error}). The real AWS may."
    if b"Action=" in body:
        kind, text = "text/xml", _XML_ERROR.format(code=_NOT_SIMULATED, message=escape(message))
    else:
        kind, text = "application/x-amz-json-1.1", json.dumps({"__type": _NOT_SIMULATED, "message": message})
    answer = text.encode()
    headers = [("Content-Type", kind), ("Content-Length", str(len(answer))), ("x-amzn-ErrorType", _NOT_SIMULATED)]
    start_response("400 Bad Request", headers)
    return [answer]


_NOT_SIMULATED = "NotSimulated"
_XML_ERROR = (
    "<ErrorResponse><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
    "<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error><RequestId>none</RequestId></ErrorResponse>"
)
"""The error where the protocol `query` has it, and where EC2's has it."""


def _patch_moto() -> None:
    """Make scaling policies look as in AWS: moto omits `Enabled` and sends an empty predictive configuration."""
    original = FakeScalingPolicy.__init__

    def patched(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.enabled = True
        self.predictive_scaling_configuration = self.predictive_scaling_configuration or None

    setattr(FakeScalingPolicy, "__init__", patched)  # noqa: B010  mypy rightly forbids assigning a method
    _patch_bucket_policy()
    _patch_service()


def _patch_bucket_policy() -> None:
    """Answer PutBucketPolicy as AWS does, with 204 and nothing: moto sends the text `True`, which no reply of S3 contains."""
    original = S3Response._bucket_response_put  # noqa: SLF001  moto has no other place for it

    def patched(self: Any, *args: Any, **kwargs: Any) -> Any:
        answer = original(self, *args, **kwargs)
        return (204, {}, "") if answer == "True" else answer

    setattr(S3Response, "_bucket_response_put", patched)  # noqa: B010  as above


def _patch_service() -> None:
    """Say of each ECS service what AWS always says and moto omits, so that the plan of an applied one is clean: its zones are not rebalanced."""
    setattr(Service, "availability_zone_rebalancing", "DISABLED")  # noqa: B010  as above


def serve(descriptor: int, journal: Path) -> None:
    """Replay `journal`, then serve on the listening socket with this descriptor until the process is ended."""
    _patch_moto()
    # Moto creates the default network at the first access to EC2. Accessed here, its ids do not depend on the first request.
    mock_random.seed(0)
    _ = ec2_backends[DEFAULT_ACCOUNT_ID]["us-east-1"]
    application = Simulated(DomainDispatcherApplication(create_backend_app), journal)
    application.replay()
    make_server("127.0.0.1", 0, application, threaded=True, fd=descriptor).serve_forever()


if __name__ == "__main__":
    # The first argument, the port, shows which one it is in a list of processes.
    serve(int(sys.argv[3]), Path(sys.argv[2]))
