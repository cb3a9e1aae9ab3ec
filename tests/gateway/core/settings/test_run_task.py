"""The settings of the run task."""

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.core.settings.run_task import RunTaskSettings


def test_it_is_off_by_default_and_shows_no_key() -> None:
    assert not RunTaskSettings().hmac_key.get_secret_value()
    settings = RunTaskSettings.model_validate({"hmac_key": "k" * 32, "key_id": "SNTL1", "hosts": ["tfe.example:8443"]})
    assert "kkk" not in repr(settings)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"hmac_key": "short", "key_id": "SNTL1"}, "at least 16 characters"),
        ({"hmac_key": "k" * 32}, "needs `key_id`"),
        ({"hosts": ["https://app.terraform.io"]}, "names such as app.terraform.io"),
        ({"hosts": ["*"]}, "names such as app.terraform.io"),
        ({"hosts": ["App.terraform.io"]}, "names such as app.terraform.io"),
    ],
)
def test_a_mistake_is_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        RunTaskSettings.model_validate(given)
