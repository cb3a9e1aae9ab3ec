"""The lines of a change."""

from gateway.core.records.decided import RecordedCall
from gateway.core.texts import visible
from gateway.notices.change_lines import LONGEST_BLOCK, call_lines, change_lines, code_text, without_links
from tests.kit.bodies import sample_part
from tests.kit.hold_records import recorded_effect as effect


def _call(**parameters: object) -> RecordedCall:
    return sample_part(RecordedCall, {"parameters": parameters})


def test_each_effect_has_a_line() -> None:
    made = change_lines([effect(), effect(action="delete"), effect(value={"a": "ü"}, sensitive=False)])
    where = "aws_sqs_queue.jobs.delay_seconds"
    assert made.text.splitlines() == [
        f"{where}: 0 → 9",
        f"delete {where}: This attribute goes, with its value.",
        f'{where}: 0 → {{"a": "ü"}}',
    ]
    assert made.whole


def test_a_deletion_says_what_goes() -> None:
    made = change_lines([effect(attribute="*", action="delete", value=None)])
    assert made.text.startswith(
        "delete aws_sqs_queue.jobs.*: This resource goes, with everything that is stored in it."
    )


def test_secrets_are_named_and_not_shown() -> None:
    made = change_lines([effect(value={"hmac_sha256": "d" * 64}, sensitive=True)])
    assert made.text.endswith("(secret) → (secret)")


def test_what_is_left_out_is_not_whole() -> None:
    many = change_lines([effect()] * 11)
    long = change_lines([effect(value="x" * 299)])
    wide = change_lines([effect("&" * 200, value=1)] * 10)
    assert [made.whole for made in (many, long, wide)] == [False, False, False]
    assert len(wide.text) == LONGEST_BLOCK


def test_nothing_in_a_line_ends_the_block_or_means_something() -> None:
    assert code_text(["a`b\n<!here>&"]) == "a'b &lt;!here&gt;&amp;"
    assert visible("a\u202eb\x1bc\nd") == "a\\u202eb\\x1bc\nd"


def test_the_call_is_shown_as_it_is_sent() -> None:
    made = call_lines(_call(commands=["rm -rf `x`"]))
    assert made.text.split("\n") == ["{", ' "commands": [', "  \"rm -rf 'x'\"", " ]", "}"]
    assert made.whole
    assert not call_lines(_call(commands=["x" * LONGEST_BLOCK])).whole


def test_words_of_others_place_no_link() -> None:
    assert without_links("a <!here> & <https://x|y>\r") == "a &lt;!here&gt; &amp; &lt;https://x|y&gt;\\r"
