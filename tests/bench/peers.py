"""A read through the gateway, nginx and mitmproxy in one run: `python -m tests.bench.peers [--rounds N]`, one JSON object a figure.

nginx is the floor: a reverse proxy in C that checks nothing. mitmproxy with `mitmproxy_addon.py` is the peer: Python too, and extensible.
Directly, and through each of the three, alternate in every round, with the same client and the same request; of each the round in which it
was quickest counts. What a ratio compares was measured in the same minutes, so it depends less on the machine than a time does.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from tests.bench.figure import quantile, show
from tests.bench.keepalive import Connection, numbered, signed
from tests.bench.processes import ROOT, Process, gateway, key, server, stub
from tests.kit.up import free_port

STACK = ROOT / "tests" / "cases" / "stacks" / "kafka"
MITMDUMP = ROOT / ".tools" / "mitmproxy" / "bin" / "mitmdump"
ADDON = Path(__file__).parent / "mitmproxy_addon.py"
EACH = 400
_NGINX = """daemon off;
master_process off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  keepalive_requests 1000000;
  upstream aws {{ server 127.0.0.1:{upstream}; keepalive 8; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://aws; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


@dataclass(slots=True, kw_only=True)
class Measured:
    """What one way to the stub took: the medians of its rounds, and the processor time of its process."""

    medians: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def best(self) -> float:
        """The median of the quickest round, in milliseconds."""
        return min(self.medians)


def main() -> int:
    """Measure and print; 1 if nginx or mitmproxy is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    if missing := [name for name, path in (("nginx", nginx_path()), ("mitmproxy", mitmdump_path())) if path is None]:
        sys.stderr.write(f"There is no {' and no '.join(missing)} to compare with; `make peers` installs them.\n")
        return 1
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        directory = Path(name)
        shutil.copytree(STACK, directory / "kafka")
        agent = key(directory / "data", "agent", ActorKind.AGENT)
        aws = running.enter_context(stub())
        servers = {
            "direct": aws,
            "sentinel": running.enter_context(gateway(directory / "data", directory / "kafka", aws.port)),
            "nginx": running.enter_context(nginx(directory, aws.port)),
            "mitmproxy": running.enter_context(mitmproxy(directory, aws.port, agent)),
        }
        _print(_measured(servers, agent, rounds), rounds)
    return 0


def nginx_path() -> str | None:
    """The nginx on PATH or where Debian puts it; None if there is none."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def mitmdump_path() -> str | None:
    """The mitmdump that `make peers` installed, else the one on PATH; None if there is none."""
    return str(MITMDUMP) if MITMDUMP.exists() else shutil.which("mitmdump")


@contextmanager
def nginx(directory: Path, upstream: int) -> Iterator[Process]:
    """Nginx as a reverse proxy of one process."""
    port = free_port()
    config = directory / "nginx.conf"
    config.write_text(_NGINX.format(directory=directory, upstream=upstream, port=port))
    with server([str(nginx_path()), "-c", str(config)], port, "/_count") as process:
        yield process


@contextmanager
def mitmproxy(directory: Path, upstream: int, agent: Key) -> Iterator[Process]:
    """Mitmproxy as a reverse proxy, with the addon."""
    port = free_port()
    mode = ["--mode", f"reverse:http://127.0.0.1:{upstream}", "--listen-host", "127.0.0.1", "--listen-port", str(port)]
    options = ["--quiet", "--set", f"confdir={directory / 'mitmproxy'}", "--scripts", str(ADDON)]
    probe = {"x-amz-target": "AmazonSQS.GetQueueUrl", "authorization": f"Credential={agent.id}"}
    with server([str(mitmdump_path()), *mode, *options], port, "/_count", probe) as process:
        yield process


def _measured(servers: Mapping[str, Process], agent: Key, rounds: int) -> dict[str, Measured]:
    found = {name: Measured() for name in servers}
    for number in range(rounds + 1):
        for name, each in servers.items():
            # A connection of its own for each round: one that waits for the others is closed as idle.
            with Connection(each.port) as line:
                before = each.cpu_seconds
                times = [line.timed(request) for request in islice(_reads(agent, each.port), EACH)]
            if number:  # the first round is to warm up
                found[name].cpu += each.cpu_seconds - before
                found[name].medians.append(quantile(times, 0.5))
    return found


def _reads(agent: Key, port: int) -> Iterator[bytes]:
    headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.GetQueueUrl"}
    request = signed(agent, "sqs", b'{"QueueName": "orders"}', headers, port)
    for number in count():
        yield numbered(request, str(number))


def _print(found: Mapping[str, Measured], rounds: int) -> None:
    """Every figure; the floor of the gateway's is that of the other proxy, so that the ratio compares the two."""
    added = {name: each.best - found["direct"].best for name, each in found.items() if name != "direct"}
    cpu = {name: each.cpu / (rounds * EACH) * 1000 for name, each in found.items()}
    for name in ("nginx", "mitmproxy"):
        show(f"peers.read.{name}.added.p50", added[name], "ms", floor=found["direct"].best, n=EACH)
        show(f"peers.read.{name}.cpu", cpu[name], "ms", n=rounds * EACH)
    for name in ("nginx", "mitmproxy"):
        show(f"peers.read.sentinel.added.p50.beside_{name}", added["sentinel"], "ms", floor=added[name], n=EACH)
        show(f"peers.read.sentinel.cpu.beside_{name}", cpu["sentinel"], "ms", floor=cpu[name], n=rounds * EACH)


if __name__ == "__main__":
    sys.exit(main())
