"""The states of deliveries are words that records hold, so they never change."""

from gateway.model.delivery import DeliveryState


def test_the_states_are_those_in_records() -> None:
    assert [state.value for state in DeliveryState] == ["delivered", "retrying", "given_up"]
