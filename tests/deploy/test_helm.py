"""The Helm chart, as its user has it: linted and rendered by helm, judged by kubeconform, and read for what the README promises."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.install import HELM, KUBECONFORM, SCHEMAS

ROOT = Path(__file__).parent.parent.parent
CHART = ROOT / "deploy" / "helm"
VALUES = tuple(sorted((CHART / "ci").glob("*.yaml")))
KUBERNETES = ("1.30.0", "1.37.0")
"""The oldest that the chart takes, and the newest that there are schemas of."""
SMALL = CHART / "ci" / "small-values.yaml"


def _helm(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HELM.program, *map(str, arguments)], capture_output=True, text=True, check=False)


def _rendered(*arguments: str | Path, version: str = KUBERNETES[1]) -> str:
    done = _helm("template", "rel", CHART, "--namespace", "ops", "--kube-version", version, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _documents(*arguments: str | Path) -> Sequence[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(_rendered(*arguments)) if each]


@pytest.fixture(scope="module")
def everything() -> Mapping[tuple[str, str], dict[str, Any]]:
    """The chart with every optional part, by kind and the end of the name."""
    found = _documents("-f", CHART / "ci" / "all-values.yaml")
    return {(each["kind"], each["metadata"]["name"].removeprefix("rel-sentinel").strip("-")): each for each in found}


def _pods(documents: Mapping[tuple[str, str], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for (kind, _), document in documents.items():
        if kind in ("Deployment", "StatefulSet", "Job"):
            yield document["spec"]["template"]


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_helm_lints_it(values: Path) -> None:
    done = _helm("lint", "--strict", CHART, "-f", values)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schemas of the kinds that the chart has. In the package they refer to one file of definitions by a URL; here each holds them itself."""
    place = tmp_path_factory.mktemp("schemas")
    for version in KUBERNETES:
        source, target = SCHEMAS / f"v{version}-local-strict", place / f"v{version}"
        target.mkdir()
        definitions = json.loads((source / "_definitions.json").read_text())["$defs"]
        for name in _kinds():
            text = (source / f"{name}.json").read_text().replace("/api/_definitions.json#", "#")
            (target / f"{name}.json").write_text(json.dumps({**json.loads(text), "$defs": definitions}))
    return place


def _kinds() -> set[str]:
    """The names of the schemas of the chart's kinds, as kubeconform asks for them."""
    names = set()
    for document in _documents("-f", CHART / "ci" / "all-values.yaml"):
        group, _, version = document["apiVersion"].rpartition("/")
        names.add("-".join(filter(None, (document["kind"].lower(), group.partition(".")[0], version))))
    return names


def _judged(schemas: Path, text: str, version: str) -> subprocess.CompletedProcess[str]:
    location = f"{schemas}/{{{{.NormalizedKubernetesVersion}}}}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    argv = [
        str(KUBECONFORM.program),
        "-strict",
        "-summary",
        "-kubernetes-version",
        version,
        "-schema-location",
        location,
    ]
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_kubeconform_finds_every_resource_valid(schemas: Path, values: Path, version: str) -> None:
    text = _rendered("-f", values, version=version)
    done = _judged(schemas, text, version)
    assert done.returncode == 0, done.stdout
    assert f"Valid: {text.count(chr(10) + 'kind: ')}, Invalid: 0, Errors: 0, Skipped: 0" in done.stdout


@pytest.mark.slow
def test_a_resource_with_a_wrong_member_would_be_noticed(schemas: Path) -> None:
    text = _rendered("-f", SMALL).replace("minAvailable:", "minAvailible:")
    assert _judged(schemas, text, KUBERNETES[1]).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "existingSecret"),
        (("--set", "existingSecret=x", "--set", "gatway.replicas=2"), "gatway"),
        (("--set", "existingSecret=x", "--set", "ingress.enabled=true"), "ingress"),
        (("--set", "existingSecret=x", "--set", "image.gatewayDigest=latest"), "gatewayDigest"),
    ],
)
def test_wrong_values_are_refused_with_their_name(arguments: Sequence[str], said: str) -> None:
    done = _helm("template", "rel", CHART, "--kube-version", KUBERNETES[1], *arguments)
    assert done.returncode != 0
    assert said in done.stderr


def test_an_older_kubernetes_is_refused() -> None:
    done = _helm("template", "rel", CHART, "--kube-version", "1.29.0", "-f", SMALL)
    assert done.returncode != 0
    assert "requires kubeVersion" in done.stderr


def test_no_pod_has_rights(everything: Mapping[tuple[str, str], dict[str, Any]]) -> None:
    for pod in _pods(everything):
        spec = pod["spec"]
        assert (spec["securityContext"]["runAsNonRoot"], spec["securityContext"]["runAsUser"]) == (True, 10001)
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            # The images need no shell.
            assert not {"sh", "/bin/sh", "bash"} & {*container.get("command", []), *container.get("args", [])}
            for variable in container.get("env", []):
                assert "value" not in variable or not variable["name"].endswith(("KEY", "SECRET", "LEDGER"))


def test_a_gateway_is_drained_before_it_stops(everything: Mapping[tuple[str, str], dict[str, Any]]) -> None:
    deployment = everything["Deployment", "gateway"]["spec"]
    spec = deployment["template"]["spec"]
    (gateway,) = spec["containers"]
    assert gateway["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert gateway["livenessProbe"]["httpGet"]["path"] == gateway["startupProbe"]["httpGet"]["path"] == "/healthz"
    drain = gateway["lifecycle"]["preStop"]["sleep"]["seconds"]
    settling = 20  # timeout_graceful_shutdown in gateway/cli/serve.py
    assert spec["terminationGracePeriodSeconds"] > drain + settling
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    # The autoscaler has the number of gateways.
    assert "replicas" not in deployment
    assert everything["HorizontalPodAutoscaler", "gateway"]["spec"]["minReplicas"] >= 2
    assert everything["PodDisruptionBudget", "gateway"]["spec"]["minAvailable"] >= 1


def test_the_migration_runs_before_the_rest_with_the_same_settings(
    everything: Mapping[tuple[str, str], dict[str, Any]],
) -> None:
    job, settings = everything["Job", "migrate"], everything["ConfigMap", ""]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    weights = [int(each["metadata"]["annotations"]["helm.sh/hook-weight"]) for each in (settings, job)]
    assert weights == sorted(weights)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["migrate"]
    # Whatever it uses exists before the hooks run: the Secret of the user, and what is a hook of less weight.
    assert "serviceAccountName" not in job["spec"]["template"]["spec"]


def test_selectors_fit_the_pods(everything: Mapping[tuple[str, str], dict[str, Any]]) -> None:
    labels = {
        name: pod["spec"]["template"]["metadata"]["labels"]
        for (kind, name), pod in everything.items()
        if kind in ("Deployment", "StatefulSet")
    }
    for kind, name in (("Service", ""), ("PodDisruptionBudget", "gateway"), ("NetworkPolicy", "gateway")):
        spec = everything[kind, name]["spec"]
        selector = spec.get("podSelector", spec.get("selector"))
        assert selector.get("matchLabels", selector).items() <= labels["gateway"].items()
        assert not selector.get("matchLabels", selector).items() <= labels["reconciler"].items()


def test_nobody_reaches_the_reconciler_and_the_gateway_only_by_its_port(
    everything: Mapping[tuple[str, str], dict[str, Any]],
) -> None:
    assert everything["NetworkPolicy", "others"]["spec"]["ingress"] == []
    (rule,) = everything["NetworkPolicy", "gateway"]["spec"]["ingress"]
    assert rule["ports"] == [{"port": "http", "protocol": "TCP"}]
    assert {"namespaceSelector": {"matchLabels": {"team": "platform"}}} in rule["from"]
    for name in ("gateway", "others"):
        egress = everything["NetworkPolicy", name]["spec"]["egress"]
        blocks = [peer["ipBlock"] for rule in egress for peer in rule.get("to", []) if "ipBlock" in peer]
        assert {"cidr": "10.0.12.0/24"} in blocks
        assert {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]} in blocks


def test_the_settings_of_the_chart_are_settings() -> None:
    import tomllib  # noqa: PLC0415  one test reads TOML

    from gateway.core.settings import Settings  # noqa: PLC0415

    text = next(each for each in _documents("-f", SMALL) if each["kind"] == "ConfigMap")["data"]["sentinel.toml"]
    assert [stack.name for stack in Settings(**tomllib.loads(text)).stacks] == ["prod"]
