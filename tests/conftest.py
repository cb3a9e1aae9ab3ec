"""What holds for every test: an empty environment and no network but what a test asks for."""

import gc
import importlib
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, settings

from tests.kit.in_memory import in_memory
from tests.tools.processes import shared_by

# No timed assertions in tests; the same examples in every run of CI, new ones on every desk.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize="CI" in os.environ,
    # A health check that measures time fails on a busy machine whatever the code does.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")

# httpx waits for 5 s by default, which a busy machine exceeds whatever the code does. This is the default of every call and client.
httpx._config.DEFAULT_TIMEOUT_CONFIG.__init__(timeout=300)  # type: ignore[misc]

# httpx reads the certificates of all authorities for each call and client, also where it speaks plain HTTP: that took thirty times as long as a call.
httpx._transports.default.create_ssl_context = cache(httpx._config.create_ssl_context)  # type: ignore[attr-defined]

# The stacks among the cases are read as they are on disk: they are not a checkout of their own, and this repository is not theirs.
os.environ["GIT_CEILING_DIRECTORIES"] = str(Path(__file__).parent / "cases" / "stacks")

# Terraform, its provider and OPA end after seconds. At Go's default of 100 they spend a third of these on collecting garbage.
os.environ["GOGC"] = "800"

# Ledgers sync each commit. In memory that takes no time, and a file of tests with ledgers takes a third of the time and two thirds of the processor.
if (_place := in_memory(room=4 << 30)) is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _place)

_KEPT = {"PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "CI", "GIT_CEILING_DIRECTORIES", "GOGC"}

# What is made while the tests are collected stays until the end, so looking for garbage is a sixth of the time for nothing.
gc.disable()

_WAITING = ("system", "terraform", "slow", "postgres", "opa")
"""Markers of tests that take more than a second or wait for other processes."""


_GATES = re.compile(r"\bGate(Process)?\b")
"""A running gateway, in the type of what a fixture gives or among the names of a test."""


def _asks_a_gateway(item: pytest.Item) -> bool:
    """Whether a test asks a whole gateway, which a fixture gives or which it starts itself."""
    if not isinstance(item, pytest.Function):
        return False
    given = (
        each.func.__annotations__.get("return", "")
        for one in item._fixtureinfo.name2fixturedefs.values()
        for each in one
    )
    return any(_GATES.search(str(each)) for each in given) or "Gate" in item.function.__code__.co_names


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `long` run only where `-m` names the marker (`make test-long`): a smaller sample of each is a test of its own.

    What goes to one process together comes first, and then files with tests that wait: so all processes end at the same time, and work while such a
    test waits.
    """
    for item in items:
        if _asks_a_gateway(item):
            item.add_marker("gate")
    names = {item: {marker.name for marker in item.iter_markers()} for item in items}
    if "long" not in config.option.markexpr:
        config.hook.pytest_deselected(items=[item for item in items if "long" in names[item]])
        items[:] = [item for item in items if "long" not in names[item]]
    waiting = {item.path for item in items if not names[item].isdisjoint(_WAITING)}
    items.sort(key=lambda item: (not shared_by(item.nodeid), item.path not in waiting))


def pytest_collection_finish() -> None:
    """From here on there is garbage to collect, by the ten thousand; the tests themselves stay, and are not looked at again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # Python's own 700 cost a fifteenth of the time
    gc.enable()


_DEAR = {
    # A new ledger is a copy of a migrated one, and a schema is checked once.
    "gateway.ledger.ledger": ("open_store", "tests.kit.stores", "open_copied_store"),
    "gateway.ledger.chain.verification": ("check_schema", "tests.kit.stores", "check_schema_once"),
    # Policies are compiled once on a machine.
    "gateway.policy.embedded": ("compiled", "tests.kit.policy_code", "compiled_once"),
    "gateway.policy.replays": ("compiled_apart", "tests.kit.policy_code", "compiled_apart_once"),
}
"""By module: a function that takes long, and what does the same once for all tests of this process."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Replace them where tests use the module, which takes long to import. A command may have imported it as late as in the test before."""
    for name in [each for each in _DEAR if each in sys.modules]:
        function, kit, cheaper = _DEAR.pop(name)
        setattr(sys.modules[name], function, getattr(importlib.import_module(kit), cheaper))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """A command that ran in this process logs to the standard error of its test, which is closed when the test has ended."""
    structlog = sys.modules.get("structlog")
    if structlog is not None and structlog.is_configured():
        structlog.reset_defaults()


@pytest.fixture(scope="session", autouse=True)
def empty_environment() -> Iterator[None]:
    """No test sees the machine's own settings or credentials. The paths lead nowhere: most tests need no directory of their own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in set(os.environ) - _KEPT:
            if not name.startswith(("PYTEST", "COV", "SENTINEL_TEST_")):
                patch.delenv(name)
        patch.setenv("AWS_CONFIG_FILE", "/nonexistent/aws-config")
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/aws-credentials")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield


@pytest.fixture(scope="session", autouse=True)
def nothing_forked_is_left() -> Iterator[None]:
    """The process that gateways are forked from ends with the tests, where one was started."""
    yield
    if "tests.kit.forked" in sys.modules:
        from tests.kit.forked import end_template  # noqa: PLC0415

        end_template()


@pytest.fixture(scope="session")
def slim_terraform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for `TF_CLI_CONFIG_FILE`: Terraform's commands take a fraction of the time, and plan the same."""
    from tests.kit.slim_provider import slim_config  # noqa: PLC0415  gRPC, which few tests need

    return slim_config(tmp_path_factory.mktemp("slim"))


@pytest.fixture
def slim_environment(slim_terraform: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of Terraform that have the environment of the test are `slim_terraform`."""
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(slim_terraform))
