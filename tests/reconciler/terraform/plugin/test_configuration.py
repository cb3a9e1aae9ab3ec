"""A provider is configured as the code says, or not at all."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.module import load_module
from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin import configuration as configuration_module
from reconciler.terraform.plugin.configuration import (
    BlockShape,
    ProviderName,
    configuration,
    conform,
    convert,
    dump,
    load,
    provider_name,
    read_shape,
    single_configuration,
)
from reconciler.terraform.plugin.messages import message

AWS = "registry.terraform.io/hashicorp/aws"
CODE = """
variable "region" {
  default = "eu-west-1"
}
provider "aws" {
  region = var.region
  assume_role {
    role_arn = "arn:aws:iam::123456789012:role/x"
  }
}
provider "aws" {
  alias  = "unknown"
  region = aws_instance.x.availability_zone
}
provider "aws" {
  alias  = "west"
  region = "us-west-2"
}
"""


def _configuration(tmp_path: Path, alias: str, **files: str) -> object:
    for name, text in {"main": CODE, **files}.items():
        (tmp_path / f"{name}.tf").write_text(text)
    return configuration(load_module(tmp_path), ProviderName(source=AWS, alias=alias))


def test_the_block_is_evaluated(tmp_path: Path) -> None:
    role = [{"role_arn": "arn:aws:iam::123456789012:role/x"}]
    assert _configuration(tmp_path, "") == {"region": "eu-west-1", "assume_role": role}


def test_an_alias_is_its_own_configuration(tmp_path: Path) -> None:
    assert _configuration(tmp_path, "west") == {"region": "us-west-2"}


def test_code_without_a_block_leaves_it_to_the_environment(tmp_path: Path) -> None:
    assert _configuration(tmp_path, "", main="") == {}


def test_what_is_not_known_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(PluginUnavailable, match="is not known"):
        _configuration(tmp_path, "unknown")
    with pytest.raises(PluginUnavailable, match=r"configures no provider aws\.east"):
        _configuration(tmp_path, "east")
    with pytest.raises(PluginUnavailable, match="is not known"):
        _configuration(tmp_path, "", override='provider "aws" {\n  region = aws_instance.x.id\n}\n')


def test_an_override_file_sets_arguments_and_all_blocks_of_a_type_of_its_own_configuration(tmp_path: Path) -> None:
    role = 'provider "aws" {\n  profile = "p"\n  assume_role {\n    role_arn = "arn:aws:iam::123456789012:role/y"\n  }\n}\n'
    west = 'provider "aws" {\n  alias  = "west"\n  region = "us-west-1"\n}\n'
    files = {"override": role, "z_override": west}
    changed = [{"role_arn": "arn:aws:iam::123456789012:role/y"}]
    assert _configuration(tmp_path, "", **files) == {"region": "eu-west-1", "profile": "p", "assume_role": changed}
    assert _configuration(tmp_path, "west") == {"region": "us-west-1"}


def test_an_override_file_alone_configures_the_default(tmp_path: Path) -> None:
    override = 'provider "aws" {\n  region = "x"\n}\n'
    assert _configuration(tmp_path, "", main="", override=override) == {"region": "x"}


def test_a_module_may_configure_its_own(tmp_path: Path) -> None:
    inner = tmp_path / "a"
    inner.mkdir()
    (inner / "main.tf").write_text('variable "r" {}\nprovider "aws" {\n  region = var.r\n}\n')
    (tmp_path / "main.tf").write_text('module "a" {\n  source = "./a"\n  r      = "eu-north-1"\n}\n')
    root = load_module(tmp_path)
    assert configuration(root, provider_name(f'module.a.provider["{AWS}"]')) == {"region": "eu-north-1"}
    with pytest.raises(PluginUnavailable, match=r"no module\.b"):
        configuration(root, provider_name(f'module.b.provider["{AWS}"]'))


def test_the_name_in_a_state_is_split() -> None:
    assert provider_name(f'provider["{AWS}"]') == ProviderName(source=AWS)
    assert provider_name(f'provider["{AWS}"].west') == ProviderName(source=AWS, alias="west")
    assert provider_name(f'module.a.module.b.provider["{AWS}"].x') == ProviderName(
        source=AWS, alias="x", module="module.a.module.b"
    )
    with pytest.raises(PluginUnavailable, match="names no provider"):
        provider_name("aws")


ONE = 'provider "aws" {\n  region = "eu-west-1"\n}\n'


def _settings(root: Path, **files: str) -> object:
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.tf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return single_configuration(root, root / ".terraform", AWS)


def test_its_settings_are_those_of_the_only_block(tmp_path: Path) -> None:
    random = 'provider "random" {}\n'
    asked = 'terraform {\n  required_providers {\n    aws = {\n      source = "hashicorp/aws"\n    }\n  }\n}\n'
    assert _settings(tmp_path, main=ONE, more=random, versions=asked) == {"region": "eu-west-1"}


def test_an_override_file_is_part_of_the_single_configuration(tmp_path: Path) -> None:
    override = 'provider "aws" {\n  region = "us-east-1"\n}\n'
    assert _settings(tmp_path, main=ONE, override=override) == {"region": "us-east-1"}


def test_without_a_block_there_are_none(tmp_path: Path) -> None:
    assert _settings(tmp_path, main="locals {\n  a = 1\n}\n") == {}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"main": ONE, "west": 'provider "aws" {\n  alias = "west"\n}\n'}, "alias"),
        ({"main": 'provider "aws" {\n  alias  = "west"\n  region = "us-west-2"\n}\n'}, "alias"),
        ({"main": ONE, "more": ONE}, "twice"),
        ({"main": 'module "a" {\n  source = "./a"\n}\n', "a__main": ONE}, "module a configures"),
        ({"main": ONE, ".terraform__modules__x__main": ONE}, "downloaded module configures"),
        ({"main": ONE, ".terraform__modules__x__main": "provider aws {}\n"}, "downloaded module configures"),
        ({"main": f"{ONE}provider aws {{}}\n"}, "twice"),
        (
            {"main": f'terraform {{\n  required_providers {{\n    cloud = {{ source = "{AWS}" }}\n  }}\n}}\n'},
            "another name",
        ),
        ({"main": 'provider "aws" {\n  region = aws_instance.a.id\n}\n'}, "not known"),
        ({"main": 'provider "aws" {\n  custom_ca_bundle = "/own.pem"\n}\n'}, "cannot be configured twice"),
    ],
)
def test_code_that_may_configure_it_more_than_once_is_refused(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    with pytest.raises(PluginUnavailable, match=reason):
        _settings(tmp_path, **files)


@pytest.mark.parametrize("text", ['"aws": {"alias": "west"}', '"aws": [{}, {}]', '"other": {"region": "eu-west-1"}'])
def test_what_json_code_configures_counts(tmp_path: Path, text: str) -> None:
    (tmp_path / "main.tf").write_text(ONE)
    asks = '"terraform": {"required_providers": {"other": {"source": "hashicorp/aws"}}}'
    (tmp_path / "more.tf.json").write_text(f'{{"provider": {{{text}}}{", " + asks if "other" in text else ""}}}')
    with pytest.raises(PluginUnavailable):
        single_configuration(tmp_path, tmp_path / ".terraform", AWS)


def test_one_configuration_in_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "main.tf.json").write_text('{"provider": {"aws": {"region": "eu-west-1"}}}')
    assert single_configuration(tmp_path, tmp_path / ".terraform", AWS) == {"region": "eu-west-1"}


@pytest.mark.parametrize("name", ["more.tofu", "more.tofu.json"])
def test_code_that_we_do_not_read_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "main.tf").write_text(ONE)
    (tmp_path / name).write_text('{"provider": {"aws": {"alias": "west"}}}')
    with pytest.raises((PluginUnavailable, CodeInvalid)):
        single_configuration(tmp_path, tmp_path / ".terraform", AWS)


def test_a_downloaded_module_that_we_do_not_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(ONE)
    downloaded = tmp_path / ".terraform" / "modules" / "x"
    downloaded.mkdir(parents=True)
    (downloaded / "main.tf.json").write_text('{"provider": {"aws": {"alias": "west"}}}')
    with pytest.raises(PluginUnavailable, match="downloaded module is not"):
        single_configuration(tmp_path, tmp_path / ".terraform", AWS)


@pytest.mark.parametrize(
    "text", ["a-" * 500_000, "\n" * 1_000_000, " " * 1_000_000, "a = {" * 200_000, 'a = { "' + '"x/' * 300_000]
)
def test_hostile_files_cost_linear_time(text: str) -> None:
    """With a quadratic search, each of these would take minutes to hours."""
    assert configuration_module._renamed(text.encode(), AWS) == {"aws"}
    assert configuration_module._PROVIDER.search(text.encode()) is None


ROLE = BlockShape(attributes={"role_arn": "string", "tags": ["map", "string"]})
SHAPE = BlockShape(
    attributes={"region": "string", "max_retries": "number", "ids": ["set", "string"]}, blocks={"assume_role": ROLE}
)


def test_what_is_not_set_is_null_or_no_block() -> None:
    assert conform({}, SHAPE) == {"region": None, "max_retries": None, "ids": None, "assume_role": []}


def test_values_are_converted_as_terraform_does() -> None:
    found = conform(
        {"region": "x", "max_retries": "3", "ids": [1], "assume_role": [{"role_arn": "a", "tags": {"n": True}}]}, SHAPE
    )
    assert found == {
        "region": "x", "max_retries": 3, "ids": ["1"], "assume_role": [{"role_arn": "a", "tags": {"n": "true"}}],
    }  # fmt: skip


def test_text_that_means_a_truth_value() -> None:
    assert (convert("true", "bool"), convert("false", "bool"), convert(True, "bool")) == (True, False, True)


@pytest.mark.parametrize("given", [{"colour": 1}, {"assume_role": "a"}, {"assume_role": ["a"]}, {"ids": 1}])
def test_what_does_not_fit_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(PluginUnavailable):
        conform(given, SHAPE)  # type: ignore[arg-type]  # wrong on purpose


def test_a_shape_survives_being_kept() -> None:
    assert load(dump(SHAPE)) == SHAPE


def test_a_schema_is_read() -> None:
    inner = message("Block", attributes=[message("Attribute", name="role_arn", type=b'"string"')])
    block = message("Block", attributes=[message("Attribute", name="ids", type=b'["set","string"]')])
    block.block_types.append(message("NestedBlock", type_name="assume_role", block=inner, nesting=2))
    assert read_shape(block) == BlockShape(
        attributes={"ids": ["set", "string"]}, blocks={"assume_role": BlockShape(attributes={"role_arn": "string"})}
    )
    block.block_types[0].nesting = 4
    with pytest.raises(PluginUnavailable, match="assume_role"):
        read_shape(block)
