"""The simulated AWS of `sentinel up`: moto in a process of its own that remembers across restarts what was done to it.

Moto keeps everything in memory. To go on where it was, every request that may change something is written to a journal and
done again at the next start. So that ids come out the same, moto's random numbers are seeded with the request's own number,
and requests are handled one at a time.
"""

import base64
import io
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from moto.autoscaling.models import FakeScalingPolicy
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends
from moto.moto_api._internal import mock_random
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[..., Any]
WsgiApp: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]

_READS = ("Describe", "Get", "List", "Head", "BatchGet")


class Simulated:
    """A WSGI application: moto, one request at a time, with a journal."""

    def __init__(self, moto: WsgiApp, journal: Path) -> None:
        self._moto = moto
        self._journal = journal
        self._turn = threading.Lock()
        self._number = 0

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request as moto does, and remember it where it may change something."""
        if environ["PATH_INFO"] == "/_ready":
            start_response("200 OK", [("Content-Length", "0")])
            return []
        with self._turn:
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            self._number += 1
            answer = self._answer(self._number, environ, body, start_response)
            if _may_change(environ, body):
                self._remember(environ, body)
            return answer

    def replay(self) -> int:
        """Do again what the journal holds; how many requests that were."""
        lines = self._whole_lines()
        for line in lines:
            entry = json.loads(line)
            self._number = entry["number"]
            self._answer(self._number, entry["environ"], base64.b64decode(entry["body"]), lambda *_: None)
        return len(lines)

    def _whole_lines(self) -> list[str]:
        """The journal, without a last line that was being written when the process was killed."""
        if not self._journal.exists():
            return []
        *lines, torn = self._journal.read_text().split("\n")
        if torn:
            os.truncate(self._journal, self._journal.stat().st_size - len(torn.encode()))
        return lines

    def _answer(self, number: int, environ: Environ, body: bytes, start_response: StartResponse) -> list[bytes]:
        mock_random.seed(number)
        fresh = {
            "wsgi.version": (1, 0),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": False,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
            **environ,
            "wsgi.input": io.BytesIO(body),
            "wsgi.input_terminated": True,
        }
        return list(self._moto(fresh, start_response))

    def _remember(self, environ: Environ, body: bytes) -> None:
        kept = {key: value for key, value in environ.items() if isinstance(value, str)}
        entry = {"number": self._number, "environ": kept, "body": base64.b64encode(body).decode()}
        # What is stored in a simulated AWS may be meant to be secret.
        with os.fdopen(os.open(self._journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a") as file:
            file.write(json.dumps(entry) + "\n")


def _may_change(environ: Environ, body: bytes) -> bool:
    """Whether a request may change something: everything but what is surely a read."""
    if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
        return False
    target = str(environ.get("HTTP_X_AMZ_TARGET", "")).rpartition(".")[2]
    action = next((part[7:] for part in body.decode("latin-1").split("&") if part.startswith("Action=")), "")
    return not (target or action).startswith(_READS)


def _mend_moto() -> None:
    """Scaling policies as AWS answers them: moto leaves `Enabled` out and sends an empty predictive configuration."""
    original = FakeScalingPolicy.__init__

    def mended(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.enabled = True
        self.predictive_scaling_configuration = self.predictive_scaling_configuration or None

    setattr(FakeScalingPolicy, "__init__", mended)  # noqa: B010  mypy rightly forbids assigning a method


def serve(port: int, journal: Path) -> None:
    """Serve on loopback until the process is ended. Everything in `journal` is done again first."""
    _mend_moto()
    # Moto makes the default network at the first touch of EC2; touched here, its ids never depend on what came first.
    mock_random.seed(0)
    _ = ec2_backends[DEFAULT_ACCOUNT_ID]["us-east-1"]
    application = Simulated(DomainDispatcherApplication(create_backend_app), journal)
    application.replay()
    make_server("127.0.0.1", port, application, threaded=True).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
