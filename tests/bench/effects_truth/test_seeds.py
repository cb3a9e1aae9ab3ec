"""Seeds are plain Terraform with a second value beside the first."""

import re
from pathlib import Path

from tests.bench.effects_truth.root import write_modules, write_root
from tests.bench.effects_truth.seeds import SEEDS, Seed, parse_seed, read_module, read_seed, seed_names

_TEXT = """
resource "aws_sqs_queue" "one" {
  delay_seconds = 5 # then 10
  redrive_policy {
    count = 1 # then 2
  }
}

resource "aws_sqs_queue" "two" {
  tags = { a = "b" } # then null
}

resource "aws_sns_topic" "one" {
  name = "fixed"
}
"""


def seed() -> Seed:
    return parse_seed("example", _TEXT)


def test_a_change_belongs_to_the_resource_above_it() -> None:
    changes = [(change.address, change.attribute) for change in seed().changes]
    assert changes == [
        ("aws_sqs_queue.one", "delay_seconds"),
        ("aws_sqs_queue.one", "redrive_policy"),
        ("aws_sqs_queue.two", "tags"),
    ]


def test_a_round_changes_each_type_once() -> None:
    rounds = [[change.attribute for change in changes] for changes in seed().rounds()]
    assert rounds == [["delay_seconds"], ["redrive_policy"], ["tags"]]


def test_a_change_replaces_one_line() -> None:
    (first, *_) = seed().changes
    before, after = seed().text.splitlines(), seed().changed([first]).splitlines()
    assert [line for line in after if line not in before] == ["  delay_seconds = 10"]


def test_every_seed_has_resources_of_types_of_its_own_and_no_tabs() -> None:
    for name in seed_names():
        assert read_seed(name).addresses, name
        assert "\t" not in read_seed(name).text, name


def test_no_address_occurs_twice_in_a_file() -> None:
    for name in seed_names():
        addresses = read_seed(name).addresses
        assert len(addresses) == len(set(addresses)), name


def test_no_seed_holds_a_key() -> None:
    for path in SEEDS.glob("*.tf"):
        assert not re.search(r"PRIVATE KEY|AKIA", path.read_text()), path.name


def test_a_root_has_what_its_code_reads(tmp_path: Path) -> None:
    written = write_root(read_seed("elb"), tmp_path / "root").parent
    names = {path.name for path in written.iterdir()}
    assert {"main.tf", "provider.tf", "certificate.pem", "private_key.pem"} <= names


def test_a_seed_among_others_has_names_of_its_own_and_the_same_resources() -> None:
    for name in seed_names():
        alone, among = read_seed(name), read_module(name)
        assert (among.addresses, len(among.changes)) == (alone.addresses, len(alone.changes)), name
        assert not re.search(r'[^.\w]name\s*=\s*"seed"', among.text), name
    assert 'name          = "alias/seedkms"' in read_module("kms").text
    assert "aws_kms_key.seed" in read_module("kms").text


def test_several_seeds_are_modules_of_one_root(tmp_path: Path) -> None:
    paths = write_modules([read_module("sqs"), read_module("elb")], tmp_path / "root")
    assert {name: path.read_text() for name, path in paths.items()} == {
        name: read_module(name).text for name in ("sqs", "elb")
    }
    assert (tmp_path / "root" / "main.tf").read_text().count("module ") == len(paths)
    assert (tmp_path / "root" / "certificate.pem").exists()
