"""AWS's names in the provider's spelling."""

import pytest

from gateway.effects.spelling import folded, snake


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HealthCheckGracePeriod", "health_check_grace_period"),
        ("MultiAZ", "multi_az"),
        ("KMSMasterKeyId", "kms_master_key_id"),
        ("desiredCount", "desired_count"),
        ("OKActions", "ok_actions"),
        ("SSEAlgorithm", "sse_algorithm"),
    ],
)
def test_names_become_snake_case(name: str, words: str) -> None:
    assert snake(name) == words


def test_plurals_and_underscores_fold_away_but_short_words_and_double_s_stay() -> None:
    assert folded("step_adjustments") == folded("step_adjustment")
    assert folded("ok_actions") == folded("o_k_action")
    assert folded("dns_access") == "dnsaccess"
