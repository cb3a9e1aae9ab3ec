"""Within one piece of work a file is parsed once, and a file with other bytes is another document."""

import asyncio
from pathlib import Path

import pytest

from gateway.errors import CodeInvalid
from gateway.terraform.config.module import load_module
from gateway.terraform.config.parsed import parsed, parsed_once

PATH = Path("main.tf")


def test_the_same_bytes_under_the_same_name_are_one_document() -> None:
    with parsed_once():
        first = parsed(PATH, b"a = 1\n")
        assert parsed(PATH, b"a = 1\n") is first
        assert parsed(PATH, b"a = 2\n") is not first
        assert parsed(Path("other.tf"), b"a = 1\n").path == Path("other.tf")
        with parsed_once():
            assert parsed(PATH, b"a = 1\n") is first
        assert parsed(PATH, b"a = 1\n") is first
    assert parsed(PATH, b"a = 1\n") is not first


def test_what_changed_on_disk_is_read_again(tmp_path: Path) -> None:
    with parsed_once():
        for value in (1, 2):
            (tmp_path / "main.tf").write_text(f"locals {{\n  a = {value}\n}}\n")
            assert load_module(tmp_path).local("a") == value


def test_code_that_does_not_parse_is_refused_each_time() -> None:
    with parsed_once():
        for _ in range(2):
            with pytest.raises(CodeInvalid):
                parsed(PATH, b"a = (")


async def test_threads_and_tasks_of_the_block_share_it() -> None:
    with parsed_once():
        first = parsed(PATH, b"a = 1\n")
        assert await asyncio.to_thread(parsed, PATH, b"a = 1\n") is first

    async def other() -> bool:
        with parsed_once():
            mine = parsed(PATH, b"a = 1\n")
            await asyncio.sleep(0)
            return mine is first

    assert list(await asyncio.gather(other(), other())) == [False, False]
