"""A signed bundle of the policies is read from S3 with the gateway's own role; what somebody else put there is not taken."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from gateway.app.parts import bundle_in_s3
from gateway.aws.client import states
from gateway.core.errors import PolicyInvalid
from gateway.core.settings import PolicySettings, Settings, UpstreamSettings
from gateway.core.settings.policy import ControlPlaneSettings
from gateway.core.times import SystemClock
from gateway.policy.engine import open_engine
from gateway.policy.opa_command import find_opa
from gateway.policy.pulled import PulledEngine
from gateway.policy.sources import shipped
from tests.kit.bundle_server import key_pair, signed_archive

pytestmark = [pytest.mark.opa, pytest.mark.allow_hosts(["127.0.0.1"])]
BUCKET, KEY = "policies-of-the-owner", "bundles/sentinel.tar.gz"


@pytest.fixture
def origin() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def put(origin: str) -> Callable[[bytes], Any]:
    client = boto3.client(
        "s3", endpoint_url=origin, region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    return lambda body: client.put_object(Bucket=BUCKET, Key=KEY, Body=body)


async def test_a_bundle_in_s3_is_taken_by_its_signature_alone(
    origin: str, put: Callable[[bytes], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "_ASK_AGAIN", 0.0)  # S3 is asked at each pull
    tool = find_opa()
    assert tool is not None
    private, public = key_pair(tmp_path)
    (tmp_path / "others").mkdir()
    strange, _ = key_pair(tmp_path / "others")
    plane = ControlPlaneSettings(bundle=f"s3://{BUCKET}/{KEY}", s3_region="eu-west-1", key_file=public)
    settings = Settings(
        data=tmp_path / "data",
        upstream=UpstreamSettings(simulated=origin),
        policy=PolicySettings(control_plane=plane, deadline_ms=10_000),
    )
    settings.data.mkdir()
    fetch = bundle_in_s3(settings, SystemClock())
    assert fetch is not None
    with pytest.raises(PolicyInvalid, match=rf"There is no bundle at s3://{BUCKET}/{KEY}"):
        await open_engine(settings.policy, settings.data, fetch)
    put(signed_archive(shipped(), tool, private, revision="r1", wasm=True))
    engine = await open_engine(settings.policy, settings.data, fetch)
    assert isinstance(engine, PulledEngine)
    try:
        assert (engine.state.revision, engine.problem, "network" in engine.packages()) == ("r1", "", True)
        activated, revision = engine.state.activated, engine.revision
        await engine.pull()
        assert (engine.state.activated, engine.problem) == (activated, ""), "the same object is not taken again"
        put(signed_archive(shipped(), tool, strange, revision="r2", wasm=True))
        await engine.pull()
        assert "its signature is not one of the key that is set" in engine.problem
        assert (engine.state.revision, engine.revision) == ("r1", revision)
        put(signed_archive(shipped(), tool, private, revision="r3", wasm=True))
        await engine.pull()
        assert (engine.state.revision, engine.problem) == ("r3", "")
    finally:
        await engine.close()
