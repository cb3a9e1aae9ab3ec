"""Says which attributes are secrets or may hold some, and masks the secrets in their values.

Four rules, each of which is enough: the provider's schema marks the attribute as sensitive; the lists below name it; its name is that of a
secret; or its text contains a secret in a form that is known (a connection string, a URL with a password, a private key). The state
reader and the effects of a call use the same rules, so that a secret in the state and the same secret in a call compare equal.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

from gateway.core.model.json import NUMBERS, Json, is_document, is_list, looks_like_document, with_strings
from gateway.core.model.masking import PER_RUN, Masker, holds_mask, is_masked
from gateway.core.model.path import AttributePath
from gateway.terraform.secret_vocabulary import (
    KNOWN_KEY,
    NAME_IN_TEXT,
    PRIVATE_KEY,
    URL,
    is_often_secret_name,
    is_secret_name,
    secret_in,
    with_secret,
)

_FILE: Final = "sensitive_attributes.json"
"""Resource type → the attributes that the provider marks as sensitive. `gateway.aws.models.generate_schema` writes it."""

_SECRET_ATTRIBUTES: Final[Mapping[str, frozenset[str]]] = {
    "aws_iam_access_key": frozenset({"secret"}),
    "aws_secretsmanager_secret_version": frozenset({"secret_string", "secret_binary"}),
    "aws_ssm_parameter": frozenset({"value"}),
    "random_password": frozenset({"result", "bcrypt_hash"}),
    "tls_private_key": frozenset({"private_key_pem", "private_key_openssh", "private_key_pem_pkcs8"}),
}
"""Secrets whose names say nothing. Older versions of Terraform mark them only where the code does."""

_OFTEN_SECRET: Final[Mapping[str, frozenset[str]]] = {
    "aws_batch_job_definition": frozenset({"container_properties", "ecs_properties", "eks_properties", "node_properties", "parameters"}),
    "aws_cloudformation_stack": frozenset({"outputs", "parameters"}),
    "aws_cloudformation_stack_set": frozenset({"parameters"}),
    "aws_cloudformation_stack_instances": frozenset({"parameter_overrides"}),
    "aws_cloudfront_distribution": frozenset({"origin.custom_header"}),
    "aws_cloudwatch_event_target": frozenset({"http_target.header_parameters", "http_target.query_string_parameters"}),
    "aws_codebuild_project": frozenset({"environment.environment_variable"}),
    "aws_codepipeline": frozenset({"stage.action.configuration"}),
    "aws_datasync_location_azure_blob": frozenset({"sas_configuration"}),
    "aws_dms_endpoint": frozenset({"extra_connection_attributes"}),
    "aws_elastic_beanstalk_configuration_template": frozenset({"setting"}),
    "aws_elastic_beanstalk_environment": frozenset({"setting", "all_settings"}),
    "aws_gamelift_fleet": frozenset({"runtime_configuration"}),
    "aws_glue_dev_endpoint": frozenset({"arguments"}),
    "aws_glue_job": frozenset({"default_arguments", "non_overridable_arguments"}),
    "aws_glue_trigger": frozenset({"actions.arguments"}),
    "aws_lambda_function": frozenset({"environment"}),
    "aws_launch_configuration": frozenset({"user_data", "user_data_base64"}),
    "aws_mskconnect_connector": frozenset({"connector_configuration"}),
    "aws_mwaa_environment": frozenset({"airflow_configuration_options"}),
    "aws_opsworks_application": frozenset({"environment"}),
    "aws_pipes_pipe": frozenset({"enrichment_parameters", "target_parameters"}),
    "aws_redshiftdata_statement": frozenset({"sql", "parameters"}),
    "aws_sagemaker_model": frozenset({"container.environment", "primary_container.environment"}),
    "aws_ssm_association": frozenset({"parameters"}),
    "aws_ssm_maintenance_window_task": frozenset({"task_invocation_parameters"}),
}  # fmt: skip
"""Attributes that are no secrets by nature, and that people put secrets into. An attribute stands for all parts of it."""

_PAIR_VALUE: Final = r"[^;,&\s\"'`{}<>\[\]*?\\]{3,512}"
_SECRET_TEXT: Final = re.compile(
    rf"(?i:{NAME_IN_TEXT})"
    rf"(?:\\?[\"'][ \t]{{0,8}}:[ \t]{{0,8}}\\?[\"']|[ \t]{{0,64}}=[ \t]{{0,8}}\\?[\"']?)(?P<pair>{_PAIR_VALUE})"
    rf"|{URL}|{PRIVATE_KEY}|{KNOWN_KEY}"
)
"""Secrets inside a text, by their form: `password=…` and `"password": "…"`, and the forms of the vocabulary. A value with a wildcard is none,
and none but a private key has quotes, brackets or blanks in it, so that nobody can hide a part of a text by a mask that begins in another. The
search is linear in the length of the text.
"""
_SECRET_VALUE: Final = re.compile(_PAIR_VALUE)
_ARN: Final = re.compile(r"arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:\d*:[^\s\"]+")
"""A reference, which a member of a document may have under the name of a secret: `"credentials": "arn:aws:iam::…:role/api"`."""
_SIGN: Final = re.compile(r"[=@]|[\"'][ \t]{0,8}:|PRIVATE KEY-----|gh|glpat-|xox|_live_|AIza")
"""Every secret that the expression above finds contains one of these, and most texts contain none."""

_TASK_DEFINITION: Final = ("aws_ecs_task_definition", "container_definitions")
_OPEN_MEMBERS: Final = frozenset({
    "cpu", "credentialSpecs", "dependsOn", "disableNetworking", "dnsSearchDomains", "dnsServers", "dockerSecurityOptions", "environmentFiles",
    "essential", "extraHosts", "hostname", "image", "interactive", "links", "linuxParameters", "memory", "memoryReservation", "mountPoints",
    "name", "portMappings", "privileged", "pseudoTerminal", "readonlyRootFilesystem", "repositoryCredentials", "resourceRequirements",
    "restartPolicy", "secrets", "startTimeout", "stopTimeout", "systemControls", "ulimits", "user", "versionConsistency", "volumesFrom",
    "workingDirectory",
})  # fmt: skip
"""Members of a container definition that hold no secrets: `secrets` and the credentials are references. All others are masked."""
_OPEN_IN_LOGS: Final = frozenset({"logDriver", "secretOptions"})


_DIGIT: Final = re.compile(r"\d")


def is_secret(resource_type: str, attribute: str) -> bool:
    """Whether the attribute is a secret by nature: the provider marks it, or it has the name of one."""
    return _rule(resource_type, _without_indexes(attribute)) in ("secret", "name")


def may_hold_secret(resource_type: str, attribute: str) -> bool:
    """Whether people put secrets into the attribute, or into one that encloses it, although it is no secret by nature."""
    return _rule(resource_type, _without_indexes(attribute)) in ("often", "definitions")


def often_secret() -> Mapping[str, frozenset[str]]:
    """Resource type → its attributes that are no secrets by nature, and that people put secrets into."""
    return _OFTEN_SECRET


def masked(value: Json, *, resource_type: str, attribute: str, masker: Masker, recorded: Json = None) -> Json:
    """The value of an attribute, in the provider's form, with its secrets masked.

    What is masked in `recorded`, the value that the state has there, is a secret in the new value too.
    """
    return _masked_like(_masked(value, resource_type, _without_indexes(attribute), masker), recorded, masker)


def shows_secret(value: Json, *, resource_type: str, attribute: str) -> bool:
    """Whether the value may not be kept or written anywhere as it is: it holds a mask, or masking changes it."""
    return holds_mask(value) or masked(value, resource_type=resource_type, attribute=attribute, masker=PER_RUN) != value


def masked_text(text: str, masker: Masker) -> str:
    """The text with the secrets in it that have a known form replaced by `hmac_sha256:` and 16 digits; the rest stays readable.

    A JSON document is masked one string at a time, so that it keeps its structure.
    """
    if not _SIGN.search(text):
        return text
    if is_document(text):
        return with_strings(text, lambda name, string: _masked_string(name, string, masker))

    return _SECRET_TEXT.sub(lambda found: with_secret(found, masker.short(secret_in(found))), text)


def unmasked_documents(value: Json, shown: Json) -> Json:
    """The value that policies judge: `shown`, which is `value` with its secrets masked, with the JSON documents of `value` as they are.

    A text that only begins as a document counts, because AWS may read what Sentinel does not.
    """
    if isinstance(value, str) and isinstance(shown, str):
        return value if looks_like_document(value) else shown
    if isinstance(value, Mapping) and isinstance(shown, Mapping) and value.keys() == shown.keys():
        return {key: unmasked_documents(item, shown[key]) for key, item in value.items()}
    if is_list(value) and is_list(shown) and len(value) == len(shown):
        return [unmasked_documents(item, each) for item, each in zip(value, shown, strict=True)]
    return shown


def _masked_string(name: str, string: str, masker: Masker) -> str:
    if is_secret_name(name) and not _ARN.fullmatch(string) and (secret := _SECRET_VALUE.match(string)):
        return masker.short(secret[0]) + string[secret.end() :]
    return masked_text(string, masker)


def _masked(value: Json, resource_type: str, path: str, masker: Masker) -> Json:
    """As `masked`, without the recorded value; `path` has no indexes."""
    if value is None or is_masked(value):
        return value
    rule = _rule(resource_type, path)
    if rule == "definitions" and isinstance(value, str):
        return _masked_definitions(value, masker)
    if rule in ("secret", "often", "definitions") or (rule == "name" and _can_be_secret(value)):
        return masker.mask(value)
    if isinstance(value, str):
        return masked_text(value, masker)
    if type(value) in NUMBERS:
        return value
    if isinstance(value, Mapping):
        return {key: _masked(item, resource_type, f"{path}.{_step(key)}", masker) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_masked(item, resource_type, path, masker) for item in value]
    return value


def _masked_like(value: Json, recorded: Json, masker: Masker) -> Json:
    if value is None or not holds_mask(recorded):
        return value
    if is_masked(recorded):
        return masker.mask(value)
    if isinstance(value, Mapping) and isinstance(recorded, Mapping):
        return {key: _masked_like(item, recorded.get(key), masker) for key, item in value.items()}
    if isinstance(value, Sequence) and isinstance(recorded, Sequence) and not isinstance(value, str):
        others = [*recorded, *([None] * max(0, len(value) - len(recorded)))]
        return [_masked_like(item, other, masker) for item, other in zip(value, others, strict=False)]
    return value


def _masked_definitions(text: str, masker: Masker) -> Json:
    """The JSON text of container definitions with everything masked that may hold a secret; masked as a whole if it is not such JSON."""
    definitions = json.loads(text) if is_document(text) else None
    if not isinstance(definitions, list) or not all(isinstance(each, dict) for each in definitions):
        return masker.mask(text)
    shown = [{name: _masked_member(name, value, masker) for name, value in each.items()} for each in definitions]
    return json.dumps(shown, separators=(",", ":"), sort_keys=True)


def _masked_member(name: str, value: Json, masker: Masker) -> Json:
    if name in _OPEN_MEMBERS:
        return value
    if name == "logConfiguration" and isinstance(value, Mapping):
        return {key: item if key in _OPEN_IN_LOGS else masker.mask(item) for key, item in value.items()}
    if name == "environment" and isinstance(value, list):
        return [_masked_pair(pair, masker) for pair in value]
    return masker.mask(value)


def _masked_pair(pair: Json, masker: Masker) -> Json:
    if not isinstance(pair, Mapping):
        return masker.mask(pair)
    return {key: item if key == "name" else masker.mask(item) for key, item in pair.items()}


def _can_be_secret(value: Json) -> bool:
    """Whether a value under a secret's name can be the secret: a setting (`manage_password = true`) and a reference (an ARN) are not."""
    if isinstance(value, str):
        return value != "" and not value.startswith("arn:")
    return isinstance(value, (list, tuple))


@lru_cache(maxsize=65536)
def _rule(resource_type: str, path: str) -> str:
    """Why the attribute is masked: `secret` by the provider or the lists, `often`, `definitions`, `name`; empty if nothing says so."""
    attribute = AttributePath(path)
    marked = _sensitive().get(resource_type, frozenset()) | _SECRET_ATTRIBUTES.get(resource_type, frozenset())
    if _encloses(marked, attribute):
        return "secret"
    if (resource_type, attribute.top) == _TASK_DEFINITION:
        return "definitions"
    if _encloses(_OFTEN_SECRET.get(resource_type, frozenset()), attribute):
        return "often"
    if any(is_often_secret_name(step) for step in attribute.steps):
        return "often"
    return "name" if is_secret_name(attribute.last) else ""


def _encloses(listed: frozenset[str], path: AttributePath) -> bool:
    return bool(listed) and any(each in listed for each in path.enclosing)


@lru_cache(maxsize=4096)
def _without_indexes(attribute: str) -> AttributePath:
    """The path as the schema has it: without the indexes of blocks."""
    if _DIGIT.search(attribute) is None:
        return AttributePath(attribute)
    return AttributePath(".".join(step for step in attribute.split(".") if not step.isdecimal()) or attribute)


def _step(key: str) -> str:
    """A key of a map as one step of a path."""
    return str(key).replace(".", "_") or "_"


@lru_cache(maxsize=1)
def _sensitive() -> Mapping[str, frozenset[str]]:
    listed = json.loads((files(__package__) / _FILE).read_bytes())
    return {resource_type: frozenset(attributes) for resource_type, attributes in listed.items()}
