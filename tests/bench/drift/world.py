"""A simulated AWS that can be forked: one process holds the applied project in memory, each scenario gets a copy of it.

Run as a script it is that process: it serves moto on a port of its own until it reads `freeze`; from then on each line
`fork PORT` starts a child that serves a copy on that port, and `end PID` ends one. While it serves it has threads, and while it forks
it has none, so no lock is ever copied in a locked state.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.bench.drift.unknown_reads import answering_reads, return_defaults

ROOT = Path(__file__).parents[3]


class World:
    """The process that holds a project's AWS."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lock = threading.Lock()
        self.endpoint = f"http://127.0.0.1:{self._answer()}"
        """Where it serves until it is frozen."""

    def freeze(self) -> None:
        """Stop serving: from now on only copies are served."""
        with self._lock:
            self._say("freeze")

    @contextmanager
    def fork(self, port: int) -> Iterator[str]:
        """The endpoint of a copy; what is done to it is forgotten at the end."""
        with self._lock:
            pid = self._say(f"fork {port}")
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            with self._lock:
                self._say(f"end {pid}")

    def _say(self, line: str) -> str:
        self._pipe(self._process.stdin).write(line + "\n")
        self._pipe(self._process.stdin).flush()
        return self._answer()

    def _answer(self) -> str:
        answer = self._pipe(self._process.stdout).readline().strip()
        if not answer:
            raise RuntimeError("The simulated AWS ended; its log says why.")
        return answer

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


@contextmanager
def simulated_aws(log: Path, *, empty_reads: bool = False) -> Iterator[World]:
    """A new, empty simulated AWS in its own process. With `empty_reads` it answers reads that moto does not know as if there was nothing."""
    environment = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
        "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
    }
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.drift.world", *(["--empty-reads"] if empty_reads else [])],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
        ) as process,
    ):  # fmt: skip
        try:
            yield World(process)
        finally:
            process.terminate()


def _main() -> None:
    application = _moto()
    if "--empty-reads" in sys.argv:
        application = answering_reads(application)
        return_defaults()
    server = _server(application, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    _tell(server.server_port)
    sys.stdin.readline()
    server.shutdown()
    thread.join()
    server.server_close()
    _tell("frozen")
    signal.signal(signal.SIGTERM, _end_group)
    for line in sys.stdin:
        verb, _, number = line.strip().partition(" ")
        _tell(_fork(application, int(number)) if verb == "fork" else _end(int(number)))


def _fork(application: Any, port: int) -> int:
    """Start a copy; its socket is bound before this returns, so that it can be used at once."""
    server = _server(application, port)
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.close(_ALIVE[1])
        threading.Thread(target=_end_with_parent, daemon=True).start()
        server.serve_forever()
    server.socket.close()
    _CHILDREN.add(pid)
    return pid


_CHILDREN: set[int] = set()
_ALIVE = os.pipe() if __name__ == "__main__" else (-1, -1)
"""A pipe that only the first process can write to: its copies read the end of it when that process is gone."""


def _end_with_parent() -> None:
    os.read(_ALIVE[0], 1)
    os._exit(0)


def _end(pid: int) -> str:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    _CHILDREN.discard(pid)
    return "ended"


def _end_group(*_: object) -> None:
    for pid in _CHILDREN:
        os.kill(pid, signal.SIGKILL)
    sys.exit(0)


def _tell(answer: object) -> None:
    print(answer, flush=True)


def _server(application: Any, port: int) -> Any:
    from werkzeug.serving import make_server  # noqa: PLC0415  only the simulated AWS's own process needs it

    return make_server("127.0.0.1", port, application, threaded=True)


def _moto() -> Any:
    """The simulated AWS. As in AWS, an ECS service says that it does not rebalance zones, of which moto says nothing, a queue returns its
    redrive policies without spaces, since the provider compares it as text, the tracing of a function can be changed, the metadata options of
    an instance that a call does not name stay, the rules of a bucket's life cycle come with the size below which objects stay where they are,
    and a stream keeps the tags that it is created with. What the provider asks in each plan and moto does not know has an answer: the tags of
    a scalable target, whether a state machine's definition is valid, and its versions.
    """
    from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse  # noqa: PLC0415  as above
    from moto.awslambda.models import LambdaFunction  # noqa: PLC0415  as above
    from moto.ec2.models.instances import InstanceBackend  # noqa: PLC0415  as above
    from moto.ecs.models import Service  # noqa: PLC0415  as above
    from moto.kinesis.responses import KinesisResponse  # noqa: PLC0415  as above
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app  # noqa: PLC0415
    from moto.s3.responses import S3Response  # noqa: PLC0415  as above
    from moto.sqs.models import Queue  # noqa: PLC0415  as above
    from moto.stepfunctions.responses import StepFunctionResponse  # noqa: PLC0415  as above

    setattr(Service, "availability_zone_rebalancing", "DISABLED")  # noqa: B010  mypy rightly forbids a new attribute
    original = Service.__init__

    def patched(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.availability_zone_rebalancing = "DISABLED"

    setattr(Service, "__init__", patched)  # noqa: B010  as above
    setattr(Queue, "attributes", property(_with_compact_policy(vars(Queue)["attributes"].fget)))  # noqa: B010  as above
    setattr(LambdaFunction, "update_configuration", _with_tracing(LambdaFunction.update_configuration))  # noqa: B010  as above
    options = InstanceBackend.modify_instance_metadata_options
    setattr(InstanceBackend, options.__name__, _with_options_kept(options))
    lifecycle = S3Response.get_bucket_lifecycle
    setattr(S3Response, lifecycle.__name__, _with_minimum_size(lifecycle))
    setattr(KinesisResponse, "create_stream", _with_tags(KinesisResponse.create_stream))  # noqa: B010  as above
    setattr(ApplicationAutoScalingResponse, "list_tags_for_resource", _answer('{"Tags": {}}'))  # noqa: B010  as above
    setattr(StepFunctionResponse, "validate_state_machine_definition", _answer('{"result": "OK", "diagnostics": []}'))  # noqa: B010
    setattr(StepFunctionResponse, "list_state_machine_versions", _answer('{"stateMachineVersions": []}'))  # noqa: B010
    return DomainDispatcherApplication(create_backend_app)


def _with_tags(original: Any) -> Callable[[Any], Any]:
    def create(response: Any) -> Any:
        reply = original(response)
        name, tags = response._get_param("StreamName"), response._get_param("Tags") or {}
        response.kinesis_backend.add_tags_to_stream(None, name, tags)
        return reply

    return create


def _answer(body: str) -> Callable[[Any], tuple[int, dict[str, str], str]]:
    return lambda _response: (200, {}, body)


def _with_minimum_size(original: Any) -> Callable[..., Any]:
    def get(response: Any) -> Any:
        status, headers, body = original(response)
        return status, {**headers, "x-amz-transition-default-minimum-object-size": "all_storage_classes_128K"}, body

    return get


def _with_options_kept(original: Any) -> Callable[..., Any]:
    def modify(backend: Any, instance_id: str, **asked: Any) -> Any:
        now = backend.get_instance(instance_id).metadata_options
        kept = {
            "http_tokens": now.http_tokens,
            "hop_limit": now.http_put_response_hop_limit,
            "http_endpoint": now.http_endpoint,
            "http_protocol": now.http_protocol_ipv6,
            "metadata_tags": now.instance_metadata_tags,
        }
        return original(
            backend, instance_id, **kept | {name: value for name, value in asked.items() if value is not None}
        )

    return modify


def _with_tracing(original: Any) -> Callable[[Any, Any], Any]:
    def update(function: Any, asked: Any) -> Any:
        function.tracing_config = asked.get("TracingConfig") or function.tracing_config
        return original(function, asked)

    return update


def _with_compact_policy(original: Any) -> Callable[[Any], dict[str, Any]]:
    def attributes(queue: Any) -> dict[str, Any]:
        found: dict[str, Any] = original(queue)
        for name in {"RedrivePolicy", "RedriveAllowPolicy"} & found.keys():
            if found[name]:
                found[name] = json.dumps(json.loads(found[name]), separators=(",", ":"))
        return found

    return attributes


if __name__ == "__main__":
    _main()
